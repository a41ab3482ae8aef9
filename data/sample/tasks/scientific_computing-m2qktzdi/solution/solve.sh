#!/bin/bash
# Read the source, write the model anew, compare with the old run, run the new sets.
set -eu
cd /home/agent/reactor
ls -l
cat README.md
cat model.cpp
head -n 3 new_sets.csv
cat old_run.csv
wc -l old_sets.csv new_sets.csv
grep -n 'dt\|DT' model.cpp
grep -n ' if ' model.cpp || true
cut -d, -f 1 new_sets.csv | sort | uniq -d
cat /solution/model.py /solution/end.py > ../model.py
python3 ../model.py < old_sets.csv > /tmp/again.csv
diff /tmp/again.csv old_run.csv | head -n 4
python3 ../model.py < new_sets.csv > ../results.csv
head -n 3 ../results.csv
wc -l < ../results.csv
grep -c nan ../results.csv || true
cut -d, -f 2 ../results.csv | sort -g | sed -n '2p;$p'
tail -n +2 new_sets.csv | cut -d, -f 1 | diff - <(tail -n +2 ../results.csv | cut -d, -f 1)
