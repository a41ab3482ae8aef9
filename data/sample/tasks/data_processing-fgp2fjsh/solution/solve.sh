#!/bin/bash
# Look at the film, measure the lamps in every frame, and make the tables from that.
set -euo pipefail
ls -l camera
cat camera/card.txt
cat camera/stations.csv
ffprobe -v error -show_entries stream=width,height,r_frame_rate,nb_frames -of csv=p=0 camera/cam2.mp4
ffmpeg -nostdin -v error -ss 3 -i camera/cam2.mp4 -frames:v 1 /tmp/still.png
python3 /solution/lamps.py /solution/settings.json camera/cam2.mp4 > /tmp/lamps.csv
head -n 3 /tmp/lamps.csv
python3 /solution/tables.py /solution/settings.json /tmp/lamps.csv
cat sessions.csv set_aside.csv missing.csv
wc -l ./*.csv
rm /tmp/still.png /tmp/lamps.csv
