# Another way: fresh configuration in a folder of its own, one Python supervisor, raw health page.
set -eu
cd {{ home }}
umask 022
rm -rf log
mkdir -p live
cp /solution/supervise.py /solution/healthd.py .
python3 supervise.py write
{% if password %}
chmod 600 store.secret
{% endif %}
printf '#!/bin/bash\ncd {{ home }} && setsid python3 supervise.py run > /dev/null 2>&1 < /dev/null &\n' > start.sh
chmod 755 start.sh
{% if two_languages %}
printf '#!/bin/bash\n# Asks by way of the probes of the supervisor.\nexec python3 {{ home }}/supervise.py check\n' > stackcheck
chmod 755 stackcheck
{% endif %}
