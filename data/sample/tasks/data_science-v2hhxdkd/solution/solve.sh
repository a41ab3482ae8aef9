#!/bin/bash
# Look at the sheets, read them, count, compare the groups.
set -eu
cd /home/agent/poll
cat LAYOUT.md
ls scans | head -n 5
file scans/scan_1614_2275.png
head -n 4 groups.csv
cut -d, -f 2 groups.csv | sort | uniq -c
ls scans | wc -l
python3 -c 'from PIL import Image; im = Image.open("scans/scan_1614_2275.png"); print(im.size, im.mode, im.getextrema())'
cut -d, -f 1 groups.csv | sort -n | sed -n '2p;$p'
python3 /solution/read.py
head -n 4 /home/agent/answers.csv
cut -d, -f 1 /home/agent/answers.csv | sort | uniq -d
grep -c X /home/agent/answers.csv || true
tail -n +2 /home/agent/answers.csv | cut -d, -f 1 | sort | diff - <(tail -n +2 groups.csv | cut -d, -f 1 | sort)
cut -d, -f 2 /home/agent/answers.csv | sort | uniq -c
grep -c ',,' /home/agent/answers.csv || true
python3 /solution/compare.py
cat /home/agent/compare.csv
