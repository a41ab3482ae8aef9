#!/bin/bash
# Take the failing jobs out of the log, mend the source, compare, and shrink a failing input.
set -eu
cd /home/agent/roomtool
cat README.md
cat ISSUE.md
grep ' ! ' logs/night.log
cp roomtool.c /tmp/original.c
gcc -O2 -std=c11 -o /tmp/original /tmp/original.c
sed -n 's/^[0-9:]* job-67 < \?//p' logs/night.log > /tmp/job-67.in
/tmp/original < /tmp/job-67.in
python3 /solution/edit.py roomtool.c /solution/fix-1.json
gcc -O2 -std=c11 -o /tmp/mended roomtool.c
/tmp/mended < /tmp/job-67.in
for input in samples/*.in; do /tmp/mended < "$input" | diff - "${input%.in}.out"; done
python3 /solution/shrink.py /tmp/job-67.in '/tmp/original' '/tmp/mended' > repro.in
rm -f /tmp/original* /tmp/mended /tmp/job-67.in
