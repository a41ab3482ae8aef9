#!/bin/bash
# The whole hand-over in one Python program.
set -eu
python3 /solution/recover.py /solution/rules.json
