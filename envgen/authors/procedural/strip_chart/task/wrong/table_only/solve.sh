# A good table, but the derived numbers are guessed as round values.
set -eu
python3 /solution/digitise.py
cat > /home/agent/derived.json <<'JSON'
{ {% for w in wanted %}"{{ w.key }}": 0{{ ", " if not loop.last else "" }}{% endfor %} }
JSON
