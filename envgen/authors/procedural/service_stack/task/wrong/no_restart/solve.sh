# All is mended, but every start begins with an empty store or spool.
set -eu
sed '/^# Try it/,$d' /solution/reference.sh > /tmp/mend.sh
bash /tmp/mend.sh
cd {{ home }}
sed -i 's/^mkdir -p/rm -rf run log var; mkdir -p/' start.sh
