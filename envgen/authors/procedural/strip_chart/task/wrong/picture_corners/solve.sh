# The edges of the picture are taken for the edges of the paper.
set -eu
python3 /solution/digitise.py --corners
python3 /solution/derive.py || true
