#!/bin/bash
# Brings the mail intake up from cold, also after a hard stop.
cd /home/agent/stack || exit 1
mkdir -p run log var/spool
launch() {
  python3 /srv/brightwater/"$1".py --config /home/agent/stack/"$2" >> log/"$1".log 2>&1 &
}
launch zones zones.json
sleep 0.2
launch mail mail.ini
launch boxes boxes.json
launch gate gate.conf
python3 /home/agent/stack/healthd.py >> log/healthd.log 2>&1 &
wait
