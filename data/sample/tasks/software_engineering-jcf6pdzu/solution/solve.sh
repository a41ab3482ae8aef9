#!/bin/bash
# Look at the tool, probe it, write the twin from what the probes say, compare the two.
set -eu
cd /home/agent
ls -l /opt/vendor/bin samples
cat /opt/vendor/share/railpulse.txt
head -n 4 samples/values.txt samples/values.answers
head -n 4 samples/frames.txt samples/frames.answers
/opt/vendor/bin/railpulse frame < samples/values.txt | diff - samples/values.answers
/opt/vendor/bin/railpulse parse < samples/frames.txt | diff - samples/frames.answers
/opt/vendor/bin/railpulse || echo "status $?"
python3 /solution/probe.py > /tmp/found.json
cat /tmp/found.json
mkdir -p twin
python3 /solution/assemble.py /tmp/found.json twin/railpulse.c
python3 /solution/facts.py /tmp/found.json > twin/protocol.txt
cat twin/protocol.txt
wc -c twin/railpulse.c
gcc -O2 -std=c11 -Wall -o /tmp/twin twin/railpulse.c
/tmp/twin frame < samples/values.txt > /tmp/answers || echo "status $?"
diff /tmp/answers samples/values.answers
/tmp/twin parse < samples/frames.txt > /tmp/answers || echo "status $?"
diff /tmp/answers samples/frames.answers
grep -v '[^0-9A-Fa-f]' samples/values.answers | sed 's/^...../&f/' > /tmp/odd || true
/tmp/twin parse < /tmp/odd > /tmp/answers || echo "status $?"
/opt/vendor/bin/railpulse parse < /tmp/odd | diff - /tmp/answers
/tmp/twin || echo "status $?"
rm -f /tmp/found.json /tmp/twin /tmp/answers /tmp/odd
