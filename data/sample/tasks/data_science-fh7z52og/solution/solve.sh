set -euo pipefail
cd /home/agent
# Look at the extract before touching it.
ls -l /srv/clinic_walkins
cat /srv/clinic_walkins/NOTES.md
head -n 4 /srv/clinic_walkins/train.csv /srv/clinic_walkins/holdout.csv
cut -d, -f3 /srv/clinic_walkins/train.csv | sort | uniq -c
cut -d, -f4 /srv/clinic_walkins/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cut -d, -f5 /srv/clinic_walkins/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cut -d, -f6 /srv/clinic_walkins/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
cat /srv/clinic_walkins/clinics.csv
cut -d, -f2 /srv/clinic_walkins/calendar.csv | sort | uniq -c
# Train, then predict with the very program that is handed over.
cp /solution/clean.py /solution/settings.json /solution/predict.py .
python3 predict.py fit
cat cleaning.json validation.json
python3 predict.py < /srv/clinic_walkins/holdout.csv > predictions.csv
# Every row has its prediction, and a few odd rows do not upset the program.
test "$(wc -l < predictions.csv)" -eq "$(wc -l < /srv/clinic_walkins/holdout.csv)"
head -n 6 /srv/clinic_walkins/holdout.csv | python3 predict.py
awk -F, 'NR > 1 { n++; s += $2 } END { print n, s / n }' predictions.csv
chmod 644 clean.py settings.json predict.py model.json
ls -l
