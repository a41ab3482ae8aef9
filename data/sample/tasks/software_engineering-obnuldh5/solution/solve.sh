#!/bin/bash
# Look at the tool, probe it, write the twin from what the probes say, compare the two.
set -eu
cd /home/agent
ls -l /opt/vendor/bin samples
cat /opt/vendor/share/gatelog.txt
head -n 4 samples/values.txt samples/values.answers
head -n 4 samples/frames.txt samples/frames.answers
/opt/vendor/bin/gatelog pack < samples/values.txt | diff - samples/values.answers
/opt/vendor/bin/gatelog unpack < samples/frames.txt | diff - samples/frames.answers
/opt/vendor/bin/gatelog || echo "status $?"
python3 /solution/probe.py > /tmp/found.json
cat /tmp/found.json
mkdir -p twin
python3 /solution/assemble.py /tmp/found.json twin/gatelog.c
python3 /solution/facts.py /tmp/found.json > twin/protocol.txt
cat twin/protocol.txt
wc -c twin/gatelog.c
gcc -O2 -std=c11 -Wall -o /tmp/twin twin/gatelog.c
/tmp/twin pack < samples/values.txt > /tmp/answers || echo "status $?"
diff /tmp/answers samples/values.answers
/tmp/twin unpack < samples/frames.txt > /tmp/answers || echo "status $?"
diff /tmp/answers samples/frames.answers
grep -v '[^0-9A-Fa-f]' samples/values.answers | sed 's/^...../&f/' > /tmp/odd || true
/tmp/twin unpack < /tmp/odd > /tmp/answers || echo "status $?"
/opt/vendor/bin/gatelog unpack < /tmp/odd | diff - /tmp/answers
/tmp/twin || echo "status $?"
rm -f /tmp/found.json /tmp/twin /tmp/answers /tmp/odd
