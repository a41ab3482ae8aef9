#!/bin/bash
# Read the policy, write the filter from it, try it on the reviewed log, then report on the old one.
set -eu
cd /home/agent/triage
cat POLICY-packmirror.md
head -n 5 review.log
mkdir -p ../gate ../report
cp /solution/gate.py ../gate/packmirror_gate.py
grep -v '^#' review.log | cut -f 4- > /tmp/records
python3 ../gate/packmirror_gate.py < /tmp/records > /tmp/answers
grep -v '^#' review.log | cut -f 3 | paste - /tmp/answers | sort | uniq -c
echo class,records,wrong > ../report/old_filter.csv
grep -v '^#' review.log | awk -F '\t' '$3 != "ok" && $3 != "?" { n[$3]++; w[$3] += $2 == "pass" } END { for (c in n) print c "," n[c] "," w[c] }' | LC_ALL=C sort >> ../report/old_filter.csv
grep -v '^#' review.log | awk -F '\t' '$3 == "ok" { n++; w += $2 == "stop" } END { print "benign," n "," w + 0 }' >> ../report/old_filter.csv
cat ../report/old_filter.csv
rm -f /tmp/records /tmp/answers
