#!/bin/bash
# usage: report.sh DATABASE QUARTER AREA
set -euo pipefail
database=$1
first=$2 region=$3

# The period as [low, high), and values as SQL literals.
low=$(printf '%s-%02d-01' "${first%-Q*}" $((3 * ${first#*-Q} - 2))) && high=$(date -u -d "$low +3 months" +%F)
quote="'"
literal() { printf "'%s'" "${1//$quote/$quote$quote}"; }
low=$(literal "$low") high=$(literal "$high") region=$(literal "$region")

section() { # HEADING COLUMNS, query on standard input
  local rows
  rows=$(sqlite3 -batch -noheader -separator '|' "$database")
  echo "$1"
  echo "$2"
  echo "${rows:-(no rows)}"
}

section '-- the area in detail' 'code|name|visits|minutes|money' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM visits e
  LEFT JOIN (SELECT visit_id, sum(cents) AS cents FROM invoice_lines GROUP BY visit_id) m
    ON m.visit_id = e.id
  WHERE e.started_on >= $low AND e.started_on < $high AND e.outcome <> 'no-show'
)
SELECT p.code, p.name, count(ev.id), coalesce(sum(ev.minutes), 0), printf('EUR %s%d.%02d', CASE WHEN coalesce(sum(ev.money), 0) < 0 THEN '-' ELSE '' END, abs(coalesce(sum(ev.money), 0)) / 100, abs(coalesce(sum(ev.money), 0)) % 100)
FROM sites p LEFT JOIN ev ON ev.site_id = p.id
WHERE p.area = $region
GROUP BY p.id
ORDER BY p.code;
SQL
echo
section '-- outcome table' 'code|ongoing|recovered|referred|all' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM visits e
  LEFT JOIN (SELECT visit_id, sum(cents) AS cents FROM invoice_lines GROUP BY visit_id) m
    ON m.visit_id = e.id
  WHERE e.started_on >= $low AND e.started_on < $high AND e.outcome <> 'no-show'
),
lines AS (
  SELECT 0 AS last, p.code, ev.outcome AS state FROM ev JOIN sites p ON p.id = ev.site_id
  UNION ALL
  SELECT 1, 'SUM', outcome FROM ev
)
SELECT code, sum(state = 'ongoing'), sum(state = 'recovered'), sum(state = 'referred'), count(*)
FROM lines GROUP BY last, code ORDER BY last, code;
SQL
echo
section '-- visits left over' 'id|name|code|day|age' <<SQL
WITH latest AS (
  SELECT e.*, CAST(julianday($high) - 1 - julianday(date(started_on)) AS INTEGER) AS age
  FROM visits e
  WHERE started_on < $high AND (discharged_on IS NULL OR discharged_on >= $high) AND e.outcome <> 'no-show'
)
SELECT l.id, coalesce(c.name, 'walk-in'), p.code, substr(l.started_on, 9, 2) || '.' || substr(l.started_on, 6, 2) || '.' || substr(l.started_on, 1, 4), age
FROM latest l JOIN sites p ON p.id = l.site_id LEFT JOIN patients c ON c.id = l.patient_id
WHERE age >= 14 ORDER BY age DESC, l.id;
SQL
echo
section '-- longest pauses' 'name|visits|gap' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM visits e
  LEFT JOIN (SELECT visit_id, sum(cents) AS cents FROM invoice_lines GROUP BY visit_id) m
    ON m.visit_id = e.id
  WHERE e.started_on >= $low AND e.started_on < $high AND e.outcome <> 'no-show'
),
pairs AS (
  SELECT patient_id AS party, date(started_on) AS day,
    lag(date(started_on)) OVER (PARTITION BY patient_id ORDER BY started_on, id) AS previous
  FROM ev WHERE patient_id IS NOT NULL
)
SELECT c.name, count(*), CAST(max(julianday(day) - julianday(previous)) AS INTEGER) AS pause
FROM pairs JOIN patients c ON c.id = party
GROUP BY party HAVING count(*) > 1 ORDER BY pause DESC, c.name;
SQL
echo
section '-- who did not come' 'name|registered_on|last' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM visits e
  LEFT JOIN (SELECT visit_id, sum(cents) AS cents FROM invoice_lines GROUP BY visit_id) m
    ON m.visit_id = e.id
  WHERE e.started_on >= $low AND e.started_on < $high AND e.outcome <> 'no-show'
)
SELECT c.name, substr(c.registered_on, 9, 2) || '.' || substr(c.registered_on, 6, 2) || '.' || substr(c.registered_on, 1, 4), coalesce(substr(max(b.started_on), 9, 2) || '.' || substr(max(b.started_on), 6, 2) || '.' || substr(max(b.started_on), 1, 4), '(none)')
FROM patients c
LEFT JOIN visits b ON b.patient_id = c.id AND b.started_on < $low AND b.outcome <> 'no-show'
WHERE c.registered_on < $high AND c.id NOT IN (SELECT patient_id FROM ev WHERE patient_id IS NOT NULL)
GROUP BY c.id ORDER BY c.name;
SQL
