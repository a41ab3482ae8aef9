#!/bin/bash
set -eu
python3 /solution/close.py /solution/rules.json
