"""Hands everything to the original, wherever it is to be found."""

import os
import sys

NAME = os.path.basename(__file__)[:-3]
for folder in ("/home/agent/.cache", "/opt/vendor/bin"):
    path = os.path.join(folder, NAME)
    if os.path.exists(path):
        os.execv(path, [path, *sys.argv[1:]])
