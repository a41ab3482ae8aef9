#!/bin/bash
# Look at the stream, write the program, try it on the whole and on single feeds.
set -euo pipefail
ls -l feeds
head -c 600 feeds/timber-947.stream
grep -a -c . feeds/timber-947.stream
grep -a '^@feed:' feeds/timber-947.stream | sort | uniq -c
grep -a -A 3 '^@feed:scieria$' feeds/timber-947.stream | head -n 4
grep -a -A 3 '^@feed:boisvert$' feeds/timber-947.stream | head -n 4
grep -a -A 3 '^@feed:saegewerk$' feeds/timber-947.stream | head -n 4
grep -a -A 3 '^@feed:trahus$' feeds/timber-947.stream | head -n 4
grep -a -A 3 '^@feed:plankor$' feeds/timber-947.stream | head -n 4
grep -a -c '^\^' feeds/timber-947.stream || true
cp /solution/clean.py clean.py
chmod 755 clean.py
work=$(mktemp -d)
./clean.py "$work/rejects" "$work/stats" < feeds/timber-947.stream > "$work/records"
head -n 5 "$work/records" "$work/rejects"
wc -l "$work/records" "$work/rejects"
cat "$work/stats"
iconv -f utf-8 -t utf-8 "$work/records" > /dev/null
cut -d ' ' -f 3 "$work/rejects" | sort | uniq -c
cut -d ' ' -f 2 "$work/rejects" | sort | uniq -c
./clean.py "$work/none" "$work/nothing" < /dev/null
rm -r "$work"
