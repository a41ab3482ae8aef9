#!/bin/bash
# Look at the tables, write the service, ask it everything once, and while rows change.
set -euo pipefail
head -n 4 graph.sql
sqlite3 /tmp/try.db < graph.sql
sqlite3 /tmp/try.db 'SELECT state, count(*) FROM routes GROUP BY state'
cp /solution/answer.py answer.py
python3 answer.py /tmp/try.db 8638 > /tmp/service.log 2>&1 &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 5 http://127.0.0.1:8638/cycles
sqlite3 /tmp/try.db 'SELECT count(*) FROM houses'
sqlite3 /tmp/try.db 'SELECT house FROM houses LIMIT 5'
name=$(sqlite3 /tmp/try.db 'SELECT house FROM houses WHERE id = 2')
curl -sS -G http://127.0.0.1:8638/near --data-urlencode "name=$name" -d steps=2
curl -sS -G http://127.0.0.1:8638/path --data-urlencode "from=$name" --data-urlencode "to=$name"
curl -sS -G http://127.0.0.1:8638/search --data-urlencode 'q=%'
curl -sS -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8638/below/nobody
curl -sS -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8638/search
curl -sS http://127.0.0.1:8638/above/$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$name")
curl -sS -G http://127.0.0.1:8638/search --data-urlencode 'q=_' -d country=A
curl -sS -X POST -d '{"from": "x", "to": "y", "cost": 0}' http://127.0.0.1:8638/links
sqlite3 /tmp/try.db "SELECT count(*) FROM routes WHERE state = 'agreed'"
curl -sS -G http://127.0.0.1:8638/near --data-urlencode "name=$name" -d steps=x
cat /tmp/service.log
kill %1
rm /tmp/try.db /tmp/service.log
