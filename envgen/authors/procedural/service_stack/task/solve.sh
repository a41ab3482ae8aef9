set -eu
cd {{ home }}
# What is here, and what does the manual say?
ls -lR .
cat {{ vendor }}/README.md
tail -n 20 start.sh log/*.log
{% if intricate %}
{% for path in found.documents %}
cat {{ path }} || ls -l {{ path }}
{% endfor %}
{% else %}
tail -n +1 {{ found.documents | join(" ") }} || true
{% endif %}
# Every setting as the list asks; the tool drops keys that the manual does not know.
{% set lists = documents.items() | selectattr("1.kind", "equalto", "lines") | map(attribute=0) | reject("equalto", "store.secret") | list %}
rm -f {{ lists | join(" ") }}
{% for path, document in documents.items() %}
{% if path == "store.secret" %}
chmod 600 store.secret
{% elif document.kind == "lines" %}
printf '%s\n'{% for line in document.data %} '{{ line }}'{% endfor %} > {{ path }}
{% if document.mode != 0o644 %}
chmod {{ "%o" | format(document.mode) }} {{ path }}
{% endif %}
{% else %}
python3 /solution/edit.py {{ path }}{% for word in document.words() %} '{{ word }}'{% endfor %}

{% endif %}
{% endfor %}
# One start script that stands repetition, and the health page.
cp /solution/start.sh /solution/healthd.py {% if two_languages %}/solution/stackcheck {% endif %}.
chmod 755 start.sh{{ " stackcheck" if two_languages else "" }}
rm -rf log run var
# Try it, cold.
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:{{ f.gate }}/healthz
{% if two_languages %}
./stackcheck
{% endif %}
{% if intricate %}
ss -lntu
{% endif %}
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: {{ f.host }}' http://127.0.0.1:{{ f.gate }}/ping
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: {{ f.host2 }}' http://127.0.0.1:{{ f.gate }}{{ f.prefix2 }}/ping
{% if kind == "links" %}
curl -sS -m 4 -H 'Host: {{ f.host }}' -d '{"url": "https://example.org/", "code": "try"}' http://127.0.0.1:{{ f.gate }}/links
curl -sS -m 4 -o /dev/null -w '%{http_code} %{redirect_url}\n' -H 'Host: {{ f.host }}' http://127.0.0.1:{{ f.gate }}/r/try
{% elif kind == "jobs" %}
curl -sS -m 4 -H 'Host: {{ f.host }}' -d '{"operation": "{{ f.new_operation }}", "text": "b a"}' http://127.0.0.1:{{ f.gate }}/jobs
{% elif kind == "mail" %}
printf 'EHLO t\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<{{ f.alias2 }}@{{ f.domain2 }}>\r\nDATA\r\nSubject: try\r\n\r\nx\r\n.\r\nQUIT\r\n' | nc -q 2 -w 3 127.0.0.1 {{ f.smtp }}
curl -sS -m 4 -H 'Host: {{ f.host }}' -H 'Authorization: Bearer {{ f.tokens[f.alias2_to] }}' http://127.0.0.1:{{ f.gate }}/boxes/{{ f.alias2_to }}
{% else %}
printf '{{ f.accept_prefix }}try:5|c' | nc -u -w 1 127.0.0.1 {{ f.udp }}
curl -sS -m 4 -H 'Host: {{ f.host }}' http://127.0.0.1:{{ f.gate }}/metrics/{{ f.accept_prefix }}try
{% endif %}
{% if intricate %}
# A hard stop, and up again without a broom.
pkill -9 -f '{{ home }}/' || true
setsid ./start.sh > /dev/null 2>&1 < /dev/null &
curl -sS --retry 20 --retry-all-errors --retry-delay 1 -m 4 http://127.0.0.1:{{ f.health }}/healthz
curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: nobody.example' http://127.0.0.1:{{ f.gate }}/ping
head -c {{ f.max_body + 1 }} /dev/zero | curl -sS -m 4 -o /dev/null -w '%{http_code}\n' -H 'Host: {{ f.host }}' --data-binary @- http://127.0.0.1:{{ f.gate }}/x
ls -l run var/*
{% endif %}
# Nothing of the trial stays, neither processes nor data.
tail -n 3 log/*.log
pkill -9 -f '{{ home }}/' || true
rm -rf log run var
