#!/bin/bash
# Everything into one database, stage by stage, each looked at before the next.
set -euo pipefail
export LC_ALL=C
ls -l . in
cat in/CONTROL.csv
head -n 3 in/*.csv in/*.jsonl in/*.dat
head -n 4 customers.csv plans.csv ledger.csv
wc -l in/*
mkdir -p out
db=$(mktemp)
# One form for all records: file, line, id, customer, time, units, kind.
for f in in/east-*.dat; do gawk -v FIELDWIDTHS='10 8 4 2 2 2 2 6 1 8' -v OFS='\t' -v f="${f#in/}" '{ gsub(/ /, "", $1); gsub(/ /, "", $2); gsub(/ /, "", $8); gsub(/ /, "", $10); print f, NR, $1, $2, $3 "-" $4 "-" $5 " " $6 ":" $7, $8, $10 }' "$f"; done > "$db.east"
head -n 2 "$db.east"
sqlite3 "$db" 'CREATE TABLE IF NOT EXISTS raw (file TEXT, line INTEGER, id TEXT, customer TEXT, at TEXT, units TEXT, kind TEXT)' '.mode tabs' ".import $db.east raw"
sqlite3 "$db" "UPDATE raw SET at = strftime('%Y-%m-%d %H:%M', at, '-60 minutes') WHERE file LIKE 'east-%'"
for f in in/west-*.csv; do awk -F'[,]' -v OFS='\t' -v f="${f#in/}" 'NR > 1 { print f, NR, $1, $2, $3, $4, $5 }' "$f"; done > "$db.west"
head -n 2 "$db.west"
sqlite3 "$db" 'CREATE TABLE IF NOT EXISTS raw (file TEXT, line INTEGER, id TEXT, customer TEXT, at TEXT, units TEXT, kind TEXT)' '.mode tabs' ".import $db.west raw"
sqlite3 "$db" "UPDATE raw SET at = strftime('%Y-%m-%d %H:%M', at, '-345 minutes') WHERE file LIKE 'west-%'"
for f in in/spring-*.jsonl; do jq -r --arg f "${f#in/}" '[$f, input_line_number, .id, .customer, (.when | strftime("%Y-%m-%d %H:%M")), .units, .kind] | @tsv' "$f"; done > "$db.spring"
head -n 2 "$db.spring"
sqlite3 "$db" 'CREATE TABLE IF NOT EXISTS raw (file TEXT, line INTEGER, id TEXT, customer TEXT, at TEXT, units TEXT, kind TEXT)' '.mode tabs' ".import $db.spring raw"
sqlite3 "$db" "UPDATE raw SET at = strftime('%Y-%m-%d %H:%M', at, '0 minutes') WHERE file LIKE 'spring-%'"
sqlite3 "$db" 'CREATE TABLE control (file TEXT, records INTEGER, units INTEGER)' '.import --csv --skip 1 in/CONTROL.csv control'
sqlite3 "$db" 'CREATE TABLE customers (customer TEXT, since TEXT, plan TEXT)' '.import --csv --skip 1 customers.csv customers'
sqlite3 "$db" 'CREATE TABLE plans (plan TEXT, kind TEXT, included INTEGER, price INTEGER)' '.import --csv --skip 1 plans.csv plans'
sqlite3 "$db" 'CREATE TABLE ledger (customer TEXT, cents INTEGER)' '.import --csv --skip 1 ledger.csv ledger'
sqlite3 "$db" 'SELECT file, count(*), sum(CAST(units AS INTEGER)) FROM raw GROUP BY file'
# Batches.
sqlite3 "$db" "CREATE TABLE away AS
  WITH found AS (SELECT file, count(*) AS n, sum(CAST(units AS INTEGER)) AS s FROM raw GROUP BY file)
  SELECT c.file, CASE WHEN n IS NULL THEN 'missing' WHEN n <> records THEN 'count' ELSE 'sum' END AS reason
  FROM control c LEFT JOIN found USING (file) WHERE n IS NULL OR n <> records OR s <> units
  UNION ALL SELECT file, 'unlisted' FROM found WHERE file NOT IN (SELECT file FROM control)"
sqlite3 -csv -separator , "$db" 'SELECT * FROM away ORDER BY 1' | tr -d '\r' | sed '1i file,reason' > out/quarantine.csv
cat out/quarantine.csv
# Records.
sqlite3 "$db" "CREATE TABLE judged AS SELECT r.*, c.rowid AS batch,
  (SELECT plan FROM customers k WHERE k.customer = r.customer AND since <= substr(at, 1, 10) ORDER BY since DESC LIMIT 1) AS plan
  FROM raw r JOIN control c USING (file) WHERE r.file NOT IN (SELECT file FROM away)"
sqlite3 "$db" "ALTER TABLE judged ADD COLUMN reason TEXT"
sqlite3 "$db" "UPDATE judged SET reason = CASE
  WHEN kind <> 'void' AND (units GLOB '*[^0-9]*' OR CAST(units AS INTEGER) NOT BETWEEN 1 AND 600) THEN 'units'
  WHEN substr(at, 1, 7) <> '2023-11' THEN 'outside'
  WHEN kind <> 'void' AND plan IS NULL THEN 'customer' ELSE '' END"
sqlite3 "$db" 'SELECT reason, count(*) FROM judged GROUP BY reason'
sqlite3 -csv -separator , "$db" "SELECT id, file, reason FROM judged WHERE reason <> '' ORDER BY 1, 2, 3" | tr -d '\r' | sed '1i id,file,reason' > out/rejected.csv
# Voids, then replacements.
sqlite3 "$db" "CREATE TABLE events AS SELECT * FROM judged WHERE reason = '' AND kind <> 'void'
  AND id NOT IN (SELECT id FROM judged WHERE reason = '' AND kind = 'void')"
sqlite3 "$db" 'SELECT id, count(*) FROM events GROUP BY id HAVING count(*) > 1'
sqlite3 "$db" "CREATE TABLE kept AS SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id
  ORDER BY batch DESC, line DESC) AS place FROM events) WHERE place = 1"
sqlite3 "$db" 'SELECT count(*) FROM kept'
# Rating.
sqlite3 "$db" "CREATE TABLE rounded AS SELECT *, (CAST(units AS INTEGER) + 5) / 6 * 6 AS u FROM kept"
sqlite3 "$db" "CREATE TABLE running AS SELECT *, sum(u) OVER (PARTITION BY customer, kind ORDER BY at, id) AS used FROM rounded"
sqlite3 "$db" "CREATE TABLE billed AS SELECT r.*, price, max(0, min(u, used - included)) AS b FROM running r JOIN plans USING (plan, kind)"
sqlite3 "$db" "CREATE TABLE rated AS SELECT id, customer, at, kind, plan, b,
  CASE WHEN substr(at, 12, 2) >= '21' OR substr(at, 12, 2) < '05' THEN (b * price + 1) / 2 ELSE b * price END AS cents FROM billed"
sqlite3 "$db" "SELECT id, customer, at, kind, plan, b, cents FROM rated ORDER BY id" | tr '|' ',' | sed '1i id,customer,when,kind,plan,billed,cents' > out/rated.csv
head -n 4 out/rated.csv
# Invoices, and does it all add up?
sqlite3 "$db" "WITH all_of AS (SELECT customer FROM rated UNION SELECT customer FROM ledger)
  SELECT a.customer, count(r.id), coalesce(sum(r.cents), 0), coalesce(sum(r.cents), 0) - coalesce((SELECT cents FROM ledger l WHERE l.customer = a.customer), 0)
  FROM all_of a LEFT JOIN rated r USING (customer) GROUP BY a.customer ORDER BY 1" | tr '|' ',' | sed '1i customer,events,cents,difference' > out/invoices.csv
cat out/invoices.csv
sqlite3 -separator ' ' "$db" "SELECT 'read', count(*) FROM raw" \
  "SELECT 'quarantined', count(*) FROM raw WHERE file IN (SELECT file FROM away)" \
  "SELECT 'rejected', count(*) FROM judged WHERE reason <> ''" \
  "SELECT 'voids', count(*) FROM judged WHERE reason = '' AND kind = 'void'" \
  "SELECT 'voided', (SELECT count(*) FROM judged WHERE reason = '' AND kind <> 'void') - (SELECT count(*) FROM events)" \
  "SELECT 'replaced', (SELECT count(*) FROM events) - (SELECT count(*) FROM kept)" \
  "SELECT 'rated', count(*) FROM rated" "SELECT 'cents', sum(cents) FROM rated" > out/balance.txt
cat out/balance.txt
awk '{ n[NR] = $2 } END { exit n[1] != n[2] + n[3] + n[4] + n[5] + n[6] + n[7] }' out/balance.txt
wc -l out/*
rm "$db" "$db".*
