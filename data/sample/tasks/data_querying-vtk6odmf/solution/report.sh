#!/bin/bash
# usage: figures DATABASE BOROUGH MONTH
set -euo pipefail
database=$1
region=$2 first=$3

# The period as [low, high), and values as SQL literals.
low=$first-01 high=$(date -u -d "$first-01 +1 month" +%F)
quote="'"
literal() { printf "'%s'" "${1//$quote/$quote$quote}"; }
low=$(literal "$low") high=$(literal "$high") region=$(literal "$region")

section() { # HEADING COLUMNS, query on standard input
  local rows
  rows=$(sqlite3 -batch -noheader -separator ';' "$database")
  echo "$1"
  echo "${rows:-(no rows)}"
}

section '== borough sheet ==' 'code;name;jobs;hours;money' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM jobs e
  LEFT JOIN (SELECT job_id, sum(cents) AS cents FROM cost_lines GROUP BY job_id) m
    ON m.job_id = e.id
  WHERE e.accepted_on >= $low AND e.accepted_on < $high AND 1
)
SELECT p.code, p.name, count(ev.id), coalesce(sum(ev.hours), 0), coalesce(sum(ev.money), 0)
FROM workshops p LEFT JOIN ev ON ev.workshop_id = p.id
WHERE p.borough = $region
GROUP BY p.id
ORDER BY count(ev.id) DESC, p.code;
SQL
section '== top clients ==' 'rank;name;hours' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM jobs e
  LEFT JOIN (SELECT job_id, sum(cents) AS cents FROM cost_lines GROUP BY job_id) m
    ON m.job_id = e.id
  WHERE e.accepted_on >= $low AND e.accepted_on < $high AND 1
),
totals AS (
  SELECT c.name, sum(ev.hours) AS total
  FROM ev JOIN clients c ON c.id = ev.client_id
  GROUP BY c.id
),
ranked AS (SELECT dense_rank() OVER (ORDER BY total DESC) AS place, name, total FROM totals)
SELECT place, name, total
FROM ranked WHERE place <= 4 ORDER BY place, name;
SQL
section '== jobs by stage ==' 'code;bench;handed-back;scrapped;dropped;all' <<SQL
WITH ev AS (
  SELECT e.*, coalesce(m.cents, 0) AS money
  FROM jobs e
  LEFT JOIN (SELECT job_id, sum(cents) AS cents FROM cost_lines GROUP BY job_id) m
    ON m.job_id = e.id
  WHERE e.accepted_on >= $low AND e.accepted_on < $high AND 1
),
lines AS (
  SELECT 0 AS last, p.code, ev.stage AS state FROM ev JOIN workshops p ON p.id = ev.workshop_id
  UNION ALL
  SELECT 1, 'all', stage FROM ev
)
SELECT code, sum(state = 'bench'), sum(state = 'handed-back'), sum(state = 'scrapped'), sum(state = 'dropped'), count(*)
FROM lines GROUP BY last, code ORDER BY last, code;
SQL
