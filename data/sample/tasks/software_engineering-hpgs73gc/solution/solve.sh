#!/bin/bash
# Read what both versions promise, write the old interface, find what the new one breaks, mend it.
set -eu
cd /home/agent/app
cat VERSION1.md
cat vendor/CHANGES.md
cat vendor/handrail.py
head -n 5 calls.jsonl
wc -l calls.jsonl
cut -d '"' -f 2 calls.jsonl | sort | uniq -c
grep -n '^def' vendor/handrail.py
cp vendor/handrail.py /tmp/before.py
cp /solution/old.py old.py
python3 /solution/replay.py
python3 /solution/mend.py vendor/handrail.py
python3 /solution/replay.py
diff /tmp/before.py vendor/handrail.py || true
python3 -m py_compile vendor/handrail.py
python3 -c 'import sys; sys.path.insert(0, "vendor"); import handrail; print(handrail.align.__doc__)'
python3 -c 'import sys; sys.path.insert(0, "vendor"); import handrail; print(handrail.lines_of.__doc__)'
python3 -c 'import sys; sys.path.insert(0, "vendor"); import handrail; print(handrail.rounded.__doc__)'
rm /tmp/before.py
rm -rf __pycache__ vendor/__pycache__
