set -eu
cd /home/agent/stack
# What is here, and what does the manual say?
ls -lR .
cat /srv/wolfram/README.md
tail -n 20 start.sh log/*.log
cat store.ini || ls -l store.ini
cat store.secret || ls -l store.secret
cat meter.ini || ls -l meter.ini
cat board.json || ls -l board.json
cat gate.conf || ls -l gate.conf
# Every setting as the list asks; the tool drops keys that the manual does not know.
rm -f gate.conf
python3 /solution/edit.py store.ini 'server.bind=127.0.0.1' 'server.port=8070' 'server.password_file=/home/agent/stack/store.secret' 'server.pid_file=/home/agent/stack/run/store.pid' 'server.on_stale_pid=replace' 'storage.folder=/home/agent/stack/var/store' 'storage.sync=always' 'limits.max_value_bytes=4096'
chmod 600 store.secret
python3 /solution/edit.py meter.ini 'input.udp_bind=127.0.0.1' 'input.udp_port=7889' 'input.accept_prefix=meadow.' 'input.max_datagram=882' 'query.bind=127.0.0.1' 'query.port=7658' 'store.store_host=127.0.0.1' 'store.store_port=8070' 'store.store_password_file=/home/agent/stack/store.secret' 'store.store_wait_seconds=10' 'store.key_prefix=meadow:'
python3 /solution/edit.py board.json 'bind="127.0.0.1"' 'port=8624' 'meter_host="127.0.0.1"' 'meter_port=7658' 'alarms=[{"name": "meadow.retries", "above": 828}, {"name": "meadow.errors", "above": 686}, {"name": "meadow.queue", "above": 838}]'
printf '%s\n' 'listen 0.0.0.0 8058' 'site harbour-38' 'max_body 8192' 'timeout 3' 'upstream board 127.0.0.1 8624' 'upstream health 127.0.0.1 9117' 'route www.harbour.example / board' 'route www.harbour.example /healthz health' 'route * /healthz health' 'route ops.falcon.example /v1 board strip' > gate.conf
# One start script that stands repetition, and the health page.
cp /solution/start.sh /solution/healthd.py .
chmod 755 start.sh
rm -rf log run var
# Try it, cold.
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:8058/healthz
ss -lntu
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.harbour.example' http://127.0.0.1:8058/ping
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: ops.falcon.example' http://127.0.0.1:8058/v1/ping
printf 'meadow.try:5|c' | nc -u -w 1 127.0.0.1 7889
curl -sS -m 4 -H 'Host: www.harbour.example' http://127.0.0.1:8058/metrics/meadow.try
# A hard stop, and up again without a broom.
pkill -9 -f '/home/agent/stack/' || true
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:9117/healthz
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: nobody.example' http://127.0.0.1:8058/ping
head -c 8193 /dev/zero | curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.harbour.example' --data-binary @- http://127.0.0.1:8058/x
ls -l run var/*
# Nothing of the trial stays, neither processes nor data.
tail -n 3 log/*.log
pkill -9 -f '/home/agent/stack/' || true
rm -rf log run var
