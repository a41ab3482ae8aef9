set -eu
cd /home/agent/stack
# What is here, and what does the manual say?
ls -lR .
cat /srv/ossuna/README.md
tail -n 20 start.sh log/*.log
cat store.ini || ls -l store.ini
cat store.secret || ls -l store.secret
cat links.json || ls -l links.json
cat gate.conf || ls -l gate.conf
# Every setting as the list asks; the tool drops keys that the manual does not know.
rm -f gate.conf
python3 /solution/edit.py store.ini 'server.bind=127.0.0.1' 'server.port=7841' 'server.password_file=/home/agent/stack/store.secret' 'server.pid_file=/home/agent/stack/run/store.pid' 'server.on_stale_pid=replace' 'storage.folder=/home/agent/stack/var/store' 'storage.sync=always' 'limits.max_value_bytes=4096'
chmod 600 store.secret
python3 /solution/edit.py links.json 'bind="127.0.0.1"' 'port=8744' 'store_host="127.0.0.1"' 'store_port=7841' 'store_password_file="/home/agent/stack/store.secret"' 'store_wait_seconds=10' 'key_prefix="birch:"' 'ttl_seconds=3600' 'max_url_bytes=512' 'schemes=["https", "http", "ftp", "tel"]'
printf '%s\n' 'listen 0.0.0.0 9562' 'site pepper-12' 'max_body 12000' 'timeout 3' 'upstream links 127.0.0.1 8744' 'upstream health 127.0.0.1 7857' 'route www.pepper.example / links' 'route www.pepper.example /healthz health' 'route * /healthz health' 'route desk.harbour.example /v1 links strip' > gate.conf
# One start script that stands repetition, and the health page.
cp /solution/start.sh /solution/healthd.py /solution/stackcheck .
chmod 755 start.sh stackcheck
rm -rf log run var
# Try it, cold.
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:9562/healthz
./stackcheck
ss -lntu
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.pepper.example' http://127.0.0.1:9562/ping
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: desk.harbour.example' http://127.0.0.1:9562/v1/ping
curl -sS -m 4 -H 'Host: www.pepper.example' -d '{"url": "https://example.org/", "code": "try"}' http://127.0.0.1:9562/links
curl -sS -m 4 -o /dev/null -w '%{http_code} %{redirect_url}\n' -H 'Host: www.pepper.example' http://127.0.0.1:9562/r/try
# A hard stop, and up again without a broom.
pkill -9 -f '/home/agent/stack/' || true
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:7857/healthz
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: nobody.example' http://127.0.0.1:9562/ping
head -c 12001 /dev/zero | curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.pepper.example' --data-binary @- http://127.0.0.1:9562/x
ls -l run var/*
# Nothing of the trial stays, neither processes nor data.
tail -n 3 log/*.log
pkill -9 -f '/home/agent/stack/' || true
rm -rf log run var
