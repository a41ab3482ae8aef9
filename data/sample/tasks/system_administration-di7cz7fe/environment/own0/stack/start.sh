#!/bin/bash
# Starts the telemetry board.
cd /home/agent/stack
python3 /srv/wolfram/board.py --config /home/agent/stack/board.json >> log/board.log 2>&1 &
python3 /srv/wolfram/store.py --config /home/agent/stack/store.ini >> log/store.log 2>&1 &
sleep 0.3
python3 /srv/wolfram/gate.py --config /home/agent/stack/gate.conf >> log/gate.log 2>&1 &
wait
