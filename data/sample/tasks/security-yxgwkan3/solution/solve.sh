#!/bin/bash
# Read the policy, write the filter from it, try it on the reviewed log, then report on the old one.
set -eu
cd /home/agent/triage
cat POLICY-ticketbox.md
head -n 5 review.log
wc -l review.log
grep -c '^#' review.log || true
grep -v '^#' review.log | cut -f 3 | sort | uniq -c
grep -v '^#' review.log | cut -f 2,3 | sort | uniq -c
grep -v '^#' review.log | awk -F '\t' '$2 == "pass" && $3 != "ok" && $3 != "?"' | head -n 20
grep -v '^#' review.log | awk -F '\t' '$2 == "stop" && $3 == "ok"' | head -n 20
mkdir -p ../gate ../report
cp /solution/gate.sh ../gate/ticketbox_gate.sh
grep -v '^#' review.log | cut -f 4- > /tmp/records
bash ../gate/ticketbox_gate.sh < /tmp/records > /tmp/answers
grep -v '^#' review.log | cut -f 3 | paste - /tmp/answers | sort | uniq -c
grep -v '^#' review.log | cut -f 3 | paste - /tmp/answers > /tmp/compared
awk -F '\t' '$1 == "ok" && $2 == "1"' /tmp/compared
awk -F '\t' '$1 != "ok" && $1 != "?" && $2 == "0"' /tmp/compared
echo class,records,wrong > ../report/old_filter.csv
grep -v '^#' review.log | awk -F '\t' '$3 != "ok" && $3 != "?" { n[$3]++; w[$3] += $2 == "pass" } END { for (c in n) print c "," n[c] "," w[c] }' | LC_ALL=C sort >> ../report/old_filter.csv
grep -v '^#' review.log | awk -F '\t' '$3 == "ok" { n++; w += $2 == "stop" } END { print "benign," n "," w + 0 }' >> ../report/old_filter.csv
cat ../report/old_filter.csv
rm -f /tmp/records /tmp/answers /tmp/compared
