set -euo pipefail
cd /home/agent/sheet
cat card.txt
file chart.png
# The crosses are where the card says, and the inks have the colours it names.
python3 -c 'from PIL import Image; im = Image.open("chart.png"); print(im.size, im.mode, len(im.getcolors(1 << 20)))'
python3 -c 'from PIL import Image; print(Image.open("chart.png").convert("RGB").getpixel((127, 561)))'
python3 -c 'from PIL import Image; print(Image.open("chart.png").convert("RGB").getpixel((1245, 572)))'
python3 -c 'from PIL import Image; print(Image.open("chart.png").convert("RGB").getpixel((1250, 128)))'
python3 -c 'from PIL import Image; print(Image.open("chart.png").convert("RGB").getpixel((132, 117)))'
python3 /solution/digitise.py
head -n 5 /home/agent/trace.csv
wc -l < /home/agent/trace.csv
python3 /solution/derive.py
cat /home/agent/derived.json
