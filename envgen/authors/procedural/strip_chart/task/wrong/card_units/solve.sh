# Read well, but left in the units of the card.
set -eu
python3 /solution/digitise.py --card-units
python3 /solution/derive.py || true
