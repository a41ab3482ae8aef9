#!/bin/bash
# Starts the link shortener.
cd /home/agent/stack
python3 /srv/ossuna/gate.py --config /home/agent/stack/conf.d/gate.conf >> log/gate.log 2>&1 &
python3 /srv/ossuna/store.py --config /home/agent/stack/store.ini >> log/store.log 2>&1 &
sleep 0.3
wait
