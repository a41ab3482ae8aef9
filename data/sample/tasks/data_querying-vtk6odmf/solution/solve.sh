#!/bin/bash
# Look at the ledger, write the program, try it on the ledger and on odd arguments.
set -euo pipefail
ls -l data
head -n 6 data/workshop-741.sql
work=$(mktemp -d)
sqlite3 "$work/ledger.db" < data/workshop-741.sql
sqlite3 "$work/ledger.db" .schema
sqlite3 "$work/ledger.db" 'SELECT stage, count(*) FROM jobs GROUP BY 1'
sqlite3 "$work/ledger.db" 'SELECT DISTINCT borough FROM workshops'
cp /solution/report.sh figures
chmod 755 figures
bash -n figures
./figures "$work/ledger.db" Riverside 2022-07 > "$work/first"
head -n 20 "$work/first"
sqlite3 "$work/ledger.db" 'SELECT count(*) FROM jobs'
rm -r "$work"
