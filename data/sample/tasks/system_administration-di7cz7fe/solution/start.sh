#!/bin/bash
# Brings the telemetry board up from cold, also after a hard stop.
cd /home/agent/stack || exit 1
mkdir -p run log var/store
launch() {
  python3 /srv/wolfram/"$1".py --config /home/agent/stack/"$2" >> log/"$1".log 2>&1 &
}
launch store store.ini
sleep 0.2
launch meter meter.ini
launch board board.json
launch gate gate.conf
python3 /home/agent/stack/healthd.py >> log/healthd.log 2>&1 &
wait
