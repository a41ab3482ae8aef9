#!/bin/bash
# Read the sheet, ask the loader, have a copy of it tell its lines, then mend those.
set -euo pipefail
export LC_ALL=C
ls -R pumpctl
cat /opt/pumpctl/loader.py
python3 /opt/pumpctl/loader.py show
tesseract pumpctl/sheet.png /tmp/sheet --psm 6
tr '[:upper:]' '[:lower:]' < /tmp/sheet.txt | sed -nE 's/^([a-z]+)[:;.]? +([a-z0-9]+) *$/\1,\2/p' | sort > /tmp/meant
test "$(wc -l < /tmp/meant)" -eq 12
sed -E 's|settings\[key\] = value|settings[key] = f"{value},{path.resolve().relative_to(FOLDER)},{number}"|; s|^    print.*|    print(f"{key},{settings[key]}")|' /opt/pumpctl/loader.py > /tmp/telling.py
python3 /tmp/telling.py show | sort > /tmp/found
join -t, /tmp/meant /tmp/found | awk -F, -v OFS=, '$2 != $3 { print $1, $4, $5, $2, $3 }' | sed '1i key,file,line,meant,effective' > drift.csv
cat drift.csv
sed 1d drift.csv | while IFS=, read -r key file line meant effective; do sed -i "${line}s/.*/$key = $meant/" "pumpctl/$file"; done
python3 /opt/pumpctl/loader.py show | tr = , | sort | join -t, - /tmp/meant | awk -F, '$2 != $3 { print; bad = 1 } END { exit bad }'
rm /tmp/sheet.txt /tmp/meant /tmp/found /tmp/telling.py
