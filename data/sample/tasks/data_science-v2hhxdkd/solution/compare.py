"""answers.csv to compare.csv."""

import csv
import math
import statistics

with open("/home/agent/answers.csv") as stream:
    answers = list(csv.DictReader(stream))
with open("/home/agent/poll/groups.csv") as stream:
    group = {row["sheet"]: row["group"] for row in csv.DictReader(stream)}
rows = []
for n in range(10):
    one, other = (
        [int(row[f"q{n + 1}"]) for row in answers if group[row["sheet"]] == name and row[f"q{n + 1}"] in "12345" and row[f"q{n + 1}"]]
        for name in ('trained', 'control')
    )
    means, variances = [statistics.fmean(v) for v in (one, other)], [statistics.variance(v) for v in (one, other)]
    gap = means[0] - means[1]
    error = math.sqrt(variances[0] / len(one) + variances[1] / len(other))
    pooled = math.sqrt(((len(one) - 1) * variances[0] + (len(other) - 1) * variances[1]) / (len(one) + len(other) - 2))
    rows.append([f"q{n + 1}", len(one), means[0], len(other), means[1], gap, gap - 1.96 * error, gap + 1.96 * error, gap / pooled if pooled else 0.0])
with open("/home/agent/compare.csv", "w") as stream:
    print("question,n_trained,mean_trained,n_control,mean_control,difference,low,high,d", file=stream)
    for row in rows:
        print(*(f"{v:.4f}" if isinstance(v, float) else v for v in row), sep=",", file=stream)
