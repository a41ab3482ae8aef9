#!/bin/bash
# Read the rules, write both programs, see that they agree with the example and with one another.
set -eu
cd /home/agent/pumps
cat SIGNING.md
cat keys.csv example.txt
openssl version
grep -c . keys.csv
sed -n '/^$/,$p' example.txt | od -c | tail -n 3
cp /solution/sign.sh /solution/verify.py .
sed '/^X-Proof: /d' example.txt > /tmp/plain.txt
secret=$(grep '^k375a,' keys.csv | cut -d, -f 2)
bash sign.sh k375a "$secret" 1749932804 57440ae6cd05 < /tmp/plain.txt > /tmp/signed.txt
cmp /tmp/signed.txt example.txt
jq -Rs '{at: 1749932804, request: .}' -c /tmp/signed.txt > /tmp/line.json
python3 verify.py < /tmp/line.json
cat /tmp/line.json /tmp/line.json | python3 verify.py
sed 's/ts=[0-9]*/ts=1/' /tmp/line.json | python3 verify.py
sed 's/nonce=/nonce=0/' /tmp/line.json | python3 verify.py
sed 's/k375a/nokey/' /tmp/line.json | python3 verify.py
python3 verify.py < /dev/null
rm /tmp/plain.txt /tmp/signed.txt /tmp/line.json
