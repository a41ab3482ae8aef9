#!/bin/bash
# Look at the ledger, write the program, try it on the ledger and on odd arguments.
set -euo pipefail
ls -l data
head -n 6 data/clinic-935.sql
work=$(mktemp -d)
sqlite3 "$work/ledger.db" < data/clinic-935.sql
sqlite3 "$work/ledger.db" .schema
sqlite3 "$work/ledger.db" 'SELECT outcome, count(*) FROM visits GROUP BY 1'
sqlite3 "$work/ledger.db" 'SELECT DISTINCT area FROM sites'
cp /solution/report.sh report.sh
chmod 755 report.sh
bash -n report.sh
./report.sh "$work/ledger.db" 2022-Q2 'Outer Ring' > "$work/first"
head -n 20 "$work/first"
sqlite3 "$work/ledger.db" 'SELECT count(*) FROM visits'
rm -r "$work"
