#!/bin/bash
# Look at the films, follow the ball through each, measure, and put it together.
set -eu
cd /home/agent/film
cat notes.txt
ls -l
file take6.avi
python3 /solution/track.py /home/agent/film/take6.avi
sed -n '1p;$p' /tmp/take6.track
wc -l < /tmp/take6.track
python3 /solution/fit.py /tmp/take6.track > /tmp/take6.value
cat /tmp/take6.value
file run9.avi
python3 /solution/track.py /home/agent/film/run9.avi
sed -n '1p;$p' /tmp/run9.track
wc -l < /tmp/run9.track
python3 /solution/fit.py /tmp/run9.track > /tmp/run9.value
cat /tmp/run9.value
file take3.avi
python3 /solution/track.py /home/agent/film/take3.avi
sed -n '1p;$p' /tmp/take3.track
wc -l < /tmp/take3.track
python3 /solution/fit.py /tmp/take3.track > /tmp/take3.value
cat /tmp/take3.value
file run3.avi
python3 /solution/track.py /home/agent/film/run3.avi
sed -n '1p;$p' /tmp/run3.track
wc -l < /tmp/run3.track
python3 /solution/fit.py /tmp/run3.track > /tmp/run3.value
cat /tmp/run3.value
file take7.avi
python3 /solution/track.py /home/agent/film/take7.avi
sed -n '1p;$p' /tmp/take7.track
wc -l < /tmp/take7.track
python3 /solution/fit.py /tmp/take7.track > /tmp/take7.value
cat /tmp/take7.value
echo film,t_s,x_mm,y_mm > track.csv
sed 's/^[0-9]*/take6/' /tmp/take6.track >> track.csv
sed 's/^[0-9]*/run9/' /tmp/run9.track >> track.csv
sed 's/^[0-9]*/take3/' /tmp/take3.track >> track.csv
sed 's/^[0-9]*/run3/' /tmp/run3.track >> track.csv
sed 's/^[0-9]*/take7/' /tmp/take7.track >> track.csv
echo film,length_cm,period_s > runs.csv
echo take6,71.9,$(cat /tmp/take6.value) >> runs.csv
echo run9,119.8,$(cat /tmp/run9.value) >> runs.csv
echo take3,142.5,$(cat /tmp/take3.value) >> runs.csv
echo run3,45.1,$(cat /tmp/run3.value) >> runs.csv
echo take7,96.6,$(cat /tmp/take7.value) >> runs.csv
cat runs.csv
python3 /solution/law.py
cat law.json
