#!/bin/bash
# See it go wrong, find the line, mend it, and keep a test.
set -eu
cd sprinkler
cat TICKET.md
ls -l vendor/cronline
cat main.py vendor/cronline/__init__.py
cat vendor/cronline/calendar.py
cp -r vendor/cronline /tmp/before
printf '%s\n' 'next 2000-01-28 07:59 | 1,44 * 28-31 feb 6-7' 'next 2025-02-01 14:29 | 29 14 29/3 * 5-7' | python3 main.py
python3 /solution/edit.py vendor/cronline /solution/fix-1.json
diff -r -x __pycache__ /tmp/before vendor/cronline || true
printf '%s\n' 'next 2000-01-28 07:59 | 1,44 * 28-31 feb 6-7' 'next 2025-02-01 14:29 | 29 14 29/3 * 5-7' | python3 main.py
mkdir tests
cp /solution/test_vendored.py tests/test_vendored.py
python3 tests/test_vendored.py
rm -rf /tmp/before vendor/cronline/__pycache__
