"""The source holds the words that a right program would need."""

from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} is there", float(task.exists(path)))
    source = (task.read_text(PLANTED["program"]) or "").lower()
    for word in PLANTED["words"]:
        yield Check(f"the program deals with {word}", float(word.lower() in source))
