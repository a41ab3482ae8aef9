set -euo pipefail
cd /home/agent
# Look at the extract before touching it.
ls -l {{ root }}
cat {{ root }}/NOTES.md
head -n 4 {{ root }}/train.csv {{ root }}/holdout.csv
cut -d, -f{{ columns.index(s.entity) + 1 }} {{ root }}/train.csv | sort | uniq -c
{% for d in drivers %}
cut -d, -f{{ columns.index(d.column) + 1 }} {{ root }}/train.csv | sort | uniq -c | sort -rn | sed -n 1,5p
{% endfor %}
cat {{ root }}/{{ s.entity }}s.csv
cut -d, -f2 {{ root }}/calendar.csv | sort | uniq -c
# Train, then predict with the very program that is handed over.
cp /solution/clean.py /solution/settings.json /solution/predict.py .
python3 predict.py fit
cat cleaning.json validation.json
python3 predict.py < {{ root }}/holdout.csv > predictions.csv
# Every row has its prediction, and a few odd rows do not upset the program.
test "$(wc -l < predictions.csv)" -eq "$(wc -l < {{ root }}/holdout.csv)"
head -n 6 {{ root }}/holdout.csv | python3 predict.py
awk -F, 'NR > 1 { n++; s += $2 } END { print n, s / n }' predictions.csv
chmod 644 clean.py settings.json predict.py model.json
ls -l
