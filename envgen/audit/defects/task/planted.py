"""What the planted checks know about their task."""

import json
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.json")) as _file:
    PLANTED = json.load(_file)
