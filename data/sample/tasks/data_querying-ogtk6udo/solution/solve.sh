#!/bin/bash
# Read the schema and the plans, write the queries anew, compare rows and count steps.
set -euo pipefail
ls -l slow
grep 'CREATE TABLE' reports.sql
sqlite3 /tmp/try.db < reports.sql
cat slow/*.sql
for query in slow/*.sql; do (echo 'EXPLAIN QUERY PLAN'; cat "$query") | sqlite3 /tmp/try.db; done
mkdir fast
cp /solution/fast/*.sql fast/
sqlite3 /tmp/try.db < fast/indexes.sql
for query in overview month running; do cmp <(sqlite3 /tmp/try.db < slow/$query.sql) <(sqlite3 /tmp/try.db < fast/$query.sql); done
cp slow/*.sql /tmp && cp reports.sql /tmp/data.sql && cp fast/indexes.sql /tmp/indexes.sql
(cd /tmp && : > indexes.sql && python3 -I /solution/steps.py 999999999 data indexes overview month running | grep -o '"steps": [0-9]*')
cp fast/*.sql /tmp
(cd /tmp && python3 -I /solution/steps.py 999999999 data indexes overview month running | grep -o '"steps": [0-9]*')
rm /tmp/*.sql /tmp/try.db
