#!/bin/bash
set -eu
python3 /solution/listen.py /solution/rules.json
