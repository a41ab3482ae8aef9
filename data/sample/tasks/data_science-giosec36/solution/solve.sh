set -euo pipefail
cd /home/agent
# Look at the extract before touching it.
ls -l /srv/warehouse_picks
cat /srv/warehouse_picks/NOTES.md
head -n 4 /srv/warehouse_picks/train.csv /srv/warehouse_picks/holdout.csv
cut -d, -f4 /srv/warehouse_picks/train.csv | sort | uniq -c
cut -d, -f5 /srv/warehouse_picks/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cut -d, -f6 /srv/warehouse_picks/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cut -d, -f7 /srv/warehouse_picks/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cat /srv/warehouse_picks/halls.csv
cut -d, -f2 /srv/warehouse_picks/calendar.csv | sort | uniq -c
# Train, then predict with the very program that is handed over.
cp /solution/clean.py /solution/settings.json /solution/predict.py .
python3 predict.py fit
cat cleaning.json validation.json
python3 predict.py < /srv/warehouse_picks/holdout.csv > predictions.csv
# Every row has its prediction, and a few odd rows do not upset the program.
test "$(wc -l < predictions.csv)" -eq "$(wc -l < /srv/warehouse_picks/holdout.csv)"
head -n 6 /srv/warehouse_picks/holdout.csv | python3 predict.py
awk -F, 'NR > 1 { n++; s += $2 } END { print n, s / n }' predictions.csv
chmod 644 clean.py settings.json predict.py model.json
ls -l
