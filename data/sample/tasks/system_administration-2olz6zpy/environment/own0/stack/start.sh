#!/bin/bash
# Starts the mail intake.
set -e
cd /home/agent/stack
mkdir run log var/spool
python3 /srv/brightwater/zones.py --config /home/agent/stack/zones.json >> log/zones.log 2>&1 &
python3 /srv/brightwater/mail.py --config /home/agent/stack/mail.ini >> log/mail.log 2>&1 &
python3 /srv/brightwater/boxes.py --config /home/agent/stack/boxes.json >> log/boxes.log 2>&1 &
python3 /srv/brightwater/gate.py --config /home/agent/stack/gate.conf >> log/gate.log 2>&1 &
wait
