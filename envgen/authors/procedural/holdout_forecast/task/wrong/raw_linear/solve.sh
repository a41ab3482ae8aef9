# Least squares on the columns as they stand, with indicators for the words; no cleaning.
set -eu
cd /home/agent
cp /solution/clean.py /solution/settings.json .
cp /solution/predict.py books.py
python3 books.py fit
cp /solution/linear.py predict.py
python3 predict.py < {{ root }}/holdout.csv > predictions.csv
