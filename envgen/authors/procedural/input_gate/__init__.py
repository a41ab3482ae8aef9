"""A filter in front of a service: one policy, one answer per record, judged on hidden corpora."""

import json
import pprint
import random
import shlex
from collections.abc import Mapping
from dataclasses import asdict

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.authors.procedural.input_gate import scenarios, traffic
from envgen.authors.procedural.input_gate.traffic import Review, Source
from envgen.files import FileTree
from envgen.records import InitialState, TaskSpec

MATERIAL = Material(__file__)
WRONG = ("accept_all", "refuse_all", "seen_only", "no_decoding", "one_rule_less", "no_report")
HIDDEN_EACH = 44
REVIEW_EACH = 9
ANSWERS = (("ALLOW", "DENY"), ("pass", "stop"), ("accept", "reject"), ("ok", "bad"), ("0", "1"))


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One service with three rules (moderate) or five (complex), for Python or Bash."""
    scenario = rng.choice(list(scenarios.SCENARIOS))
    rules = scenarios.draw_rules(rng, scenario, 3 if spec.task_complexity == "moderate" else 5)
    source = traffic.draw_source(rng, scenario, scenarios.draw_policy(rng), rules)
    review = traffic.draw_review(rng, source, REVIEW_EACH)
    corpora = traffic.draw_corpora(rng, source, HIDDEN_EACH, set(review.lines))
    ending = "py" if spec.language == "python" else "sh"
    words = {
        "spec": spec, "who": introduced(spec.persona),
        "scenario": scenario, "source": source, "p": source.policy,
        "answers": rng.choice(ANSWERS), "opening": rng.randrange(3), "ending": ending,
        "stem": f"{scenario.name}_gate", "gate": f"gate/{scenario.name}_gate.{ending}",
        "tool": "python3" if ending == "py" else "bash", "example": _example(rng, source),
    }  # fmt: skip
    settings = _settings(source, words["answers"])
    policy = f"home/agent/triage/POLICY-{scenario.name}.md"
    return Composition(
        title=f"Input filter for {scenario.service}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({
            "home/agent/triage/review.log": review.text,
            policy: MATERIAL.render("policy.md.j2", **words),
        }),
        tests=FileTree({"check.py": MATERIAL.text("check.py"),
                        "truth.json": _truth(words, review, corpora)}),
        solution=_solution(words, settings, "gate"),
        wrong={name: _wrong(words, settings, name) for name in WRONG},
        valid={"other_way": _solution(words, settings, "valid/other_way/gate")},
        base="security",
        initial=InitialState(
            present=("/home/agent/triage/review.log", f"/{policy}"),
            absent=(f"/home/agent/{words['gate']}", "/home/agent/report/old_filter.csv"),
            tools=("python3",) if ending == "py" else ("bash", "awk", "sed", "grep", "jq"),
        ),
        secrets=(corpora[rules[0]]["malicious"][0],),
    )  # fmt: skip


def _example(rng: random.Random, source: Source) -> str:
    return traffic.draw_record(rng, source, source.rules[0], traffic.GOOD, suspicious=0)


def _truth(words: Mapping[str, object], review: Review, corpora: Mapping[str, object]) -> str:
    rows = [f"{rule},{review.bad[rule]},{review.missed[rule]}" for rule in sorted(review.bad)]
    report = ["class,records,wrong", *rows, f"benign,{review.benign},{review.alarms}"]
    truth = {
        "gate": words["gate"],
        "tool": words["tool"],
        "answers": words["answers"],
        "report": report,
        "corpora": corpora,
    }
    return json.dumps(truth, indent=0) + "\n"


# -- the programs -----------------------------------------------------------------------------


def _settings(source: Source, answers: object) -> dict[str, object]:
    policy = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(source.policy).items()}
    return {
        **policy,
        "rules": {rule: list(names) for rule, names in source.fields.items()},
        "format": source.form,
        "columns": source.columns,
        "answers": answers,
    }


def _program(name: str, ending: str, settings: Mapping[str, object]) -> str:
    """The text of a program with the drawn policy written into it."""
    text = MATERIAL.text(f"{name}.{ending}")
    if ending == "sh":
        return f"#!/bin/bash\n{_shell_settings(settings)}\n{text.removeprefix('#!/bin/bash')}"
    shown = pprint.pformat(dict(settings), width=96)
    empty = "SETTINGS: Dict[str, Any] = {}"
    assert empty in text or "SETTINGS" not in text
    return text.replace(empty, f"SETTINGS: Dict[str, Any] = {shown}")


def _shell_settings(settings: Mapping[str, object]) -> str:
    lines = []
    for name, value in settings.items():
        if name == "rules" and isinstance(value, dict):
            lines.append(f"RULES={shlex.quote(' '.join(value))}")
            pairs = " ".join(f"[{rule}]={shlex.quote(' '.join(f))}" for rule, f in value.items())
            lines.append(f"declare -A FIELDS_OF=({pairs})")
        elif name == "columns" and isinstance(value, list):
            lines.append(f"COLUMNS=({' '.join(value)})")
        elif name == "answers" and isinstance(value, tuple):
            lines += [f"ACCEPT={value[0]}", f"REFUSE={value[1]}"]
        else:
            lines.append(f"{name.upper()}={shlex.quote(_shell_value(value))}")
    return "\n".join(lines)


def _shell_value(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def _solution(
    words: Mapping[str, object], settings: Mapping[str, object], program: str
) -> FileTree:
    ending = str(words["ending"])
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        f"gate.{ending}": _program(program, ending, settings),
    })  # fmt: skip


# -- known to be wrong ------------------------------------------------------------------------


def _wrong(words: Mapping[str, object], settings: Mapping[str, object], name: str) -> FileTree:
    ending = str(words["ending"])
    changed = dict(settings)
    rules = dict(changed["rules"]) if isinstance(changed["rules"], dict) else {}
    if name == "one_rule_less":
        rules.pop(sorted(rules)[0])
    if name == "no_decoding":  # judges every value as it stands
        changed.update(rounds=0, fold=False)
    changed["rules"] = rules
    special = f"wrong/{name}/gate"
    own = (MATERIAL.folder / f"{special}.{ending}").is_file()
    program = _program(special if own else "gate", ending, changed)
    solve = MATERIAL.render("solve.sh.j2", **words)
    if name == "no_report":
        solve = MATERIAL.render("wrong/no_report/solve.sh.j2", **words)
    return FileTree({"solve.sh": solve, f"gate.{ending}": program})


FAMILY = Family(
    name="input_gate",
    realises={
        "domain": frozenset({"security"}),
        "skill_type": frozenset({"input_validation"}),
        "skills": frozenset({
            "path_canonicalisation", "pattern_matching", "allow_list_design",
            "encoding_awareness", "log_triage", "detector_tuning",
        }),
        "language": frozenset({"python", "bash"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"adversarial_corpus"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
