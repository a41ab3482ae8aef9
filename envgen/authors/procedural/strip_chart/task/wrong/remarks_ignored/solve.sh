# The remarks about clock, range and pens are not heeded.
set -eu
python3 /solution/digitise.py --no-remarks
python3 /solution/derive.py || true
