set -eu
cd /home/agent/stack
# What is here, and what does the manual say?
ls -lR .
cat /srv/brightwater/README.md
tail -n 20 start.sh log/*.log
cat zones.json || ls -l zones.json
cat zones/saffron.zone || ls -l zones/saffron.zone
cat mail.ini || ls -l mail.ini
cat boxes || ls -l boxes
cat aliases || ls -l aliases
cat tokens || ls -l tokens
cat boxes.json || ls -l boxes.json
cat gate.conf || ls -l gate.conf
# Every setting as the list asks; the tool drops keys that the manual does not know.
rm -f zones/saffron.zone zones/thistle.zone boxes aliases tokens gate.conf
python3 /solution/edit.py zones.json 'bind="127.0.0.1"' 'port=9311' 'zone_folder="/home/agent/stack/zones"'
printf '%s\n' '$origin saffron.example.' '$ttl 120' '@ MX 10 mx.saffron.example.' 'mx A 10.157.170.181' '@ TXT site=cedar-33' 'smtp CNAME mx.saffron.example.' > zones/saffron.zone
printf '%s\n' '$origin thistle.test.' '$ttl 120' '@ MX 20 mx.saffron.example.' > zones/thistle.zone
python3 /solution/edit.py mail.ini 'smtp.bind=127.0.0.1' 'smtp.port=8909' 'smtp.hostname=mx.saffron.example' 'smtp.max_message_bytes=7644' 'resolver.resolver_host=127.0.0.1' 'resolver.resolver_port=9311' 'delivery.spool=/home/agent/stack/var/spool' 'delivery.boxes_file=/home/agent/stack/boxes' 'delivery.aliases_file=/home/agent/stack/aliases'
printf '%s\n' 'lena' 'oskar' 'pavel' > boxes
printf '%s\n' 'postmaster: lena' 'jobs: pavel' > aliases
printf '%s\n' 'lena bjgnxcgrzpcntd' 'oskar wvrmxdwqgwnwwc' 'pavel nvnzpxjzgxqnvd' > tokens
chmod 600 tokens
python3 /solution/edit.py boxes.json 'bind="127.0.0.1"' 'port=8518' 'spool="/home/agent/stack/var/spool"' 'tokens_file="/home/agent/stack/tokens"' 'page_size=6'
printf '%s\n' 'listen 0.0.0.0 8894' 'site cedar-33' 'max_body 12000' 'timeout 3' 'upstream boxes 127.0.0.1 8518' 'upstream health 127.0.0.1 7300' 'route www.cedar.example / boxes' 'route www.cedar.example /healthz health' 'route * /healthz health' 'route api.orchard.example /direct boxes strip' > gate.conf
# One start script that stands repetition, and the health page.
cp /solution/start.sh /solution/healthd.py /solution/stackcheck .
chmod 755 start.sh stackcheck
rm -rf log run var
# Try it, cold.
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:8894/healthz
./stackcheck
ss -lntu
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.cedar.example' http://127.0.0.1:8894/ping
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: api.orchard.example' http://127.0.0.1:8894/direct/ping
printf 'EHLO t\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<jobs@thistle.test>\r\nDATA\r\nSubject: try\r\n\r\nx\r\n.\r\nQUIT\r\n' | nc -q 2 -w 3 127.0.0.1 8909
curl -sS -m 4 -H 'Host: www.cedar.example' -H 'Authorization: Bearer nvnzpxjzgxqnvd' http://127.0.0.1:8894/boxes/pavel
# A hard stop, and up again without a broom.
pkill -9 -f '/home/agent/stack/' || true
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:7300/healthz
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: nobody.example' http://127.0.0.1:8894/ping
head -c 12001 /dev/zero | curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: www.cedar.example' --data-binary @- http://127.0.0.1:8894/x
ls -l run var/*
# Nothing of the trial stays, neither processes nor data.
tail -n 3 log/*.log
pkill -9 -f '/home/agent/stack/' || true
rm -rf log run var
