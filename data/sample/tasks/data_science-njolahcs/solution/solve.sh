#!/bin/bash
# Read the notes, look at the data, learn, and label the new clips.
set -eu
cd /home/agent/fans-77
cat NOTES.md
head -n 4 labels.csv new/clips.csv
cut -d, -f 3 labels.csv | sort | uniq -c
cut -d, -f 2 labels.csv | sort -n | sed -n '2p;$p'
file train/$(sed -n 2p labels.csv | cut -d, -f 1)
cp /solution/classify.py ../classify.py
# How well does it do on what is known? Then the new ones.
tail -n +2 labels.csv | cut -d, -f 1,2 | sed '1i file,rpm' > train/clips.csv
python3 ../classify.py train > /tmp/fitted.csv
tail -n +2 labels.csv | cut -d, -f 3 | paste -d, <(tail -n +2 /tmp/fitted.csv) - | cut -d, -f 2,3 | sort | uniq -c
rm train/clips.csv
python3 ../classify.py new > ../predictions.csv
cut -d, -f 2 ../predictions.csv | sort | uniq -c
