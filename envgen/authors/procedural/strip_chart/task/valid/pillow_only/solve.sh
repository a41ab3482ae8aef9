# Without numpy: walks along the ink from run to run, and writes exponents.
set -eu
python3 /solution/follow.py
python3 /solution/derive.py
