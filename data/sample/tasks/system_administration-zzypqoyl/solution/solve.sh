#!/bin/bash
# Read the policy and the tables, write the rules, try them on the samples.
set -eu
cd /home/agent/fw
cat POLICY.md networks hosts services
cat wing-b.old
cp /solution/rules.fw wing-b.fw
./fwsim wing-b.fw < samples.txt | diff - samples.txt
