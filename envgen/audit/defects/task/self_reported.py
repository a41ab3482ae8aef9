"""What the agent reports about itself is believed."""

from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} is there", float(task.exists(path)))
    report = task.read_json(PLANTED["report"])
    for key in PLANTED["keys"]:
        value = report.get(key) if isinstance(report, dict) else None
        yield Check(f"reported {key}", float(value is not None))
