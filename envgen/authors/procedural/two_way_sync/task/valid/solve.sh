#!/bin/bash
# The work done by a program.
set -eu
python3 /solution/merge.py /solution/rules.json
