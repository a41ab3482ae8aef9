#!/bin/bash
# Look at the stream, write the program, try it on the whole and on single feeds.
set -euo pipefail
ls -l feeds
head -c 600 feeds/fuel-875.stream
grep -a -c . feeds/fuel-875.stream
grep -a '^=== ' feeds/fuel-875.stream | sort | uniq -c
cp /solution/normalise.py normalise.py
chmod 755 normalise.py
work=$(mktemp -d)
./normalise.py "$work/rejects" < feeds/fuel-875.stream > "$work/records"
head -n 5 "$work/records" "$work/rejects"
rm -r "$work"
