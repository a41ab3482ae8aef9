#!/bin/bash
# Take the failing jobs out of the log, mend the source, compare, and shrink a failing input.
set -eu
cd /home/agent/centsafe
cat README.md
cat ISSUE.md
grep ' ! ' logs/nightly.log
cp centsafe.c /tmp/original.c
gcc -O2 -std=c11 -o /tmp/original /tmp/original.c
sed -n 's/^[0-9:]* job-16 < \?//p' logs/nightly.log > /tmp/job-16.in
/tmp/original < /tmp/job-16.in
python3 /solution/edit.py centsafe.c /solution/fix-1.json
gcc -O2 -std=c11 -o /tmp/mended centsafe.c
/tmp/mended < /tmp/job-16.in
for input in samples/*.in; do /tmp/mended < "$input" | diff - "${input%.in}.out"; done
python3 /solution/shrink.py /tmp/job-16.in '/tmp/original' '/tmp/mended' > repro.in
rm -f /tmp/original* /tmp/mended /tmp/job-16.in
