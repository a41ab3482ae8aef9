set -euo pipefail
cd /home/agent/sheet
cat card.txt
file chart.png
# The crosses are where the card says, and the inks have the colours it names.
python3 -c 'from PIL import Image; im = Image.open("chart.png"); print(im.size, im.mode, len(im.getcolors(1 << 20)))'
{% for c in crosses %}
python3 -c 'from PIL import Image; print(Image.open("chart.png").convert("RGB").getpixel(({{ c.px | round | int }}, {{ c.py | round | int }})))'
{% endfor %}
python3 /solution/digitise.py
head -n 5 /home/agent/trace.csv
wc -l < /home/agent/trace.csv
{% if pens | length > 1 %}
# Look for outliers of either pen: steps from row to row, largest first.
{% for p in pens %}
awk -F, 'NR > 2 { d = $({{ loop.index }} + 1) - p; print (d < 0 ? -d : d), $1 } { p = $({{ loop.index }} + 1) }' /home/agent/trace.csv | sort -rg | sed -n 1,5p
cut -d, -f{{ loop.index + 1 }} /home/agent/trace.csv | sed 1d | sort -g | sed -n '1p;$p'
{% endfor %}
# What are the remarks of the card worth?
cp /home/agent/trace.csv /tmp/with.csv
python3 /solution/digitise.py --no-remarks
paste -d, /tmp/with.csv /home/agent/trace.csv | sed -n '2p;50p;100p;150p'
mv /tmp/with.csv /home/agent/trace.csv
{% endif %}
python3 /solution/derive.py
cat /home/agent/derived.json
