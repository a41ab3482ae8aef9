#!/bin/bash
# The alternative program, whose rules.json here leaves a step out or gets a rule wrong.
set -eu
python3 /solution/recover.py /solution/rules.json
