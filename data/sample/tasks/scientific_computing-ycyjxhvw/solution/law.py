"""law.py: the constant behind all runs, and what it foretells."""

import csv
import json

import numpy as np

with open("/home/agent/film/runs.csv") as stream:
    rows = list(csv.DictReader(stream))
s, m = (np.array([float(row[c]) for row in rows]) for c in ("length_cm", "period_s"))
ahead = 174.8
constant = np.mean(4 * np.pi**2 * s / 100 / m**2)
foretold = 2 * np.pi * np.sqrt(ahead / 100 / constant)
with open("/home/agent/film/law.json", "w") as out:
    json.dump({"g_m_s2": round(float(constant), 5), "foretold": round(float(foretold), 4)}, out)
