"""A stream of senders' feeds, each with its quirks, to be cleaned into one list."""

import base64
import json
import pprint
import random
import shlex
from dataclasses import replace

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.authors.procedural.feed_cleaning import rules as rule_sets
from envgen.authors.procedural.feed_cleaning import stream as streams
from envgen.authors.procedural.feed_cleaning.rules import ROLES, SURVIVORS, WIDTHS, Rules
from envgen.authors.procedural.feed_cleaning.stream import Stream
from envgen.authors.procedural.feed_cleaning.truth import Result, result
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

MATERIAL = Material(__file__)

# Whether a later record replaces the one that is kept, in the words of SQL and of jq.
SQL_WINS = {
    "latest": "excluded.date >= kept.date",
    "earliest": "excluded.date < kept.date",
    "last_line": "1",
    "first_line": "0",
    "highest": "excluded.amount > kept.amount",
    "priority": "excluded.rank <= kept.rank",
}
JQ_WINS = {
    "latest": "$new.date >= $old.date",
    "earliest": "$new.date < $old.date",
    "last_line": "true",
    "first_line": "false",
    "highest": "$new.amount > $old.amount",
    "priority": "$feeds[$new.feed].rank <= $feeds[$old.feed].rank",
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A visible stream, hidden ones, and the clean lists that belong to them."""
    rules = rule_sets.draw(rng, spec.language, spec.task_complexity == "complex")
    days = [streams.draw(rng, rules, size) for size in (45, 50, 55)]
    right = [result(rules, day) for day in days]
    values = _values(rules)
    path = f"{HOME}/feeds/{rules.stream}"
    return Composition(
        title=f"Clean the {rules.scenario.records} of {rules.stream}",
        instruction=MATERIAL.render("instruction.md.j2", who=introduced(spec.persona), **values),
        files=FileTree({path.lstrip("/"): days[0].data}),
        tests=_tests(rules, days, right),
        solution=_program(rules, f"clean{_ending(rules)}", "solve.sh.j2", values),
        wrong=_wrong(rules, days, right, values),
        valid={"other_tools": _valid(rules, values)},
        base="data_processing",
        initial=InitialState(
            present=(path,),
            absent=(f"{HOME}/{rules.program}",),
            tools=("gawk", "jq", "iconv", "sort", "python3"),
        ),
        secrets=_secrets(right),
    )


def _ending(rules: Rules) -> str:
    return ".sh" if rules.language == "bash" else ".py"


def _values(rules: Rules) -> dict[str, object]:
    """What the templates need besides the rules themselves."""
    label = rules.label
    header = rules.sep.join(label.get(column, column) for column in rules.columns)
    steps = [{"role": ROLES[n - 1], "reason": rules.reasons[n]} for n in rules.precedence]
    feeds = {feed.name: _feed_values(rules, n) for n, feed in enumerate(rules.feeds)}
    escaped = rules.sep.replace("\t", "\\t")
    return {
        "r": rules,
        "s": rules.scenario,
        "flaw": "",
        "roles": ROLES,
        "steps": steps,
        "widths": WIDTHS,
        "width": sum(WIDTHS.values()),
        "role_label": label,
        "key_example": "ABC"[: rules.scenario.letters] + "-" + "0123456"[: rules.scenario.digits],
        "column_words": ", ".join(f"`{label.get(c, c)}`" for c in rules.columns),
        "feeds_literal": pprint.pformat(feeds, width=96, sort_dicts=False),
        "feeds_json": json.dumps(feeds),
        "labels_literal": repr(label),
        "columns_literal": repr(rules.columns),
        "header_literal": repr(header),
        "header_quoted": "$" + shlex.quote(header.replace("\t", "\\t"))
        if "\t" in header
        else shlex.quote(header),
        "sep_literal": repr(rules.sep),
        "sep_json": json.dumps(rules.sep),
        "reject_sep_escaped": rules.reject_sep.replace("\t", "\\t"),
        "reject_sep_literal": repr(rules.reject_sep),
        "reject_sep_json": json.dumps(rules.reject_sep),
        "reject_sep_quoted": r"$'\t'" if rules.reject_sep == "\t" else f"'{rules.reject_sep}'",
        "reject_sep_shown": " " if rules.reject_sep == "\t" else rules.reject_sep,
        "awk_row": f' "{escaped}" '.join(_awk_cell(column) for column in rules.columns),
        "marker_pattern": shlex.quote(f"^{rules.marker}"),
        "feed_patterns": [shlex.quote(f"^{rules.marker}{feed.name}$") for feed in rules.feeds],
        "quiet_pattern": shlex.quote(f"^[{rules.quiet}]" if rules.quiet != "^" else r"^\^"),
        "wins_literal": repr(SQL_WINS[rules.survivor]),
        "checks_literal": [(n - 1, rules.reasons[n]) for n in rules.precedence],
        "sql_columns": ", ".join(_sql_cell(rules, column) for column in rules.columns),
        "jq_steps": ", ".join(json.dumps([s["role"], s["reason"]]) for s in steps),
        "jq_better": JQ_WINS[rules.survivor],
        "jq_columns": ", ".join(f".{column}" for column in rules.columns),
    }


def _feed_values(rules: Rules, nth: int) -> dict[str, object]:
    feed = rules.feeds[nth]
    codes = zip(feed.codes, rules.scenario.codes, strict=True)
    return {
        "rank": nth,
        "format": feed.format,
        "delimiter": feed.delimiter,
        "encoding": feed.encoding,
        "columns": dict(zip(ROLES, feed.columns, strict=True)),
        "layout": [[role, WIDTHS[role]] for role in feed.layout],
        "date": feed.date,
        "amount": feed.amount,
        "codes": {word.lower(): code for word, code in codes},
        "factor": feed.factor,
    }


def _awk_cell(column: str) -> str:
    return {"key": "k", "amount": "shown"}.get(column, f'kept[k, "{column}"]')


def _sql_cell(rules: Rules, column: str) -> str:
    if column != "amount" or rules.minor:
        return column
    sign = "CASE WHEN amount < 0 THEN '-' ELSE '' END"
    return f"{sign} || (abs(amount) / 100) || '.' || printf('%02d', abs(amount) % 100)"


def _program(
    rules: Rules, template: str, solve: str, values: dict[str, object], **more: object
) -> FileTree:
    known = values | more
    return FileTree(
        {
            "solve.sh": MATERIAL.render(solve, **known),
            rules.program: MATERIAL.render(f"{template}.j2", **known),
        }
    )


def _valid(rules: Rules, values: dict[str, object]) -> FileTree:
    folder = "bash" if rules.language == "bash" else "python"
    return _program(rules, f"valid/{folder}/clean{_ending(rules)}", "valid/solve.sh.j2", values)


def _wrong(
    rules: Rules, days: list[Stream], right: list[Result], values: dict[str, object]
) -> dict[str, FileTree]:
    """Programs that miss one rule, and two that never look at their input."""
    ending, solve = _ending(rules), "valid/solve.sh.j2"
    first = {
        "rejects": "".join(f"{line}\n" for line in right[0].rejects),
        "records": "".join(f"{line}\n" for line in right[0].records),
        "stats": "".join(f"{line}\n" for line in right[0].stats) if rules.complex else "",
    }
    literals = {f"{name}_literal": repr(text) for name, text in first.items()}
    trees = {
        "stub": _program(rules, f"wrong/stub{ending}", solve, values),
        "recorded": _program(rules, f"wrong/recorded{ending}", solve, values, **first, **literals),
        "encodings": _program(rules, f"clean{ending}", solve, values, flaw="encodings"),
    }
    if rules.language == "python":
        trees["slurp"] = _program(rules, f"clean{ending}", solve, values, flaw="slurp")
    for name, other in _other_rules(rules).items():
        if [result(other, day) for day in days] != right:
            trees[name] = _program(rules, f"clean{ending}", solve, _values(other))
    return trees


def _other_rules(rules: Rules) -> dict[str, Rules]:
    """Misread rules; whether they matter depends on the streams."""
    place = SURVIVORS.index(rules.survivor)
    return {
        "other_survivor": replace(rules, survivor=SURVIVORS[(place + 1) % len(SURVIVORS)]),
        "reasons_backwards": replace(rules, precedence=rules.precedence[::-1]),
    }


def _tests(rules: Rules, days: list[Stream], right: list[Result]) -> FileTree:
    # Streams as base64: their header lines stand in the image too and are no leak.
    runs = []
    for day, answer in zip(days, right, strict=True):
        outputs = {"records": answer.records, "rejects.txt": answer.rejects}
        if rules.complex:
            outputs["stats.txt"] = answer.stats
        runs.append({"stream": base64.b64encode(day.data).decode(), "outputs": outputs})
    truth = {
        "program": rules.program,
        "language": rules.language,
        "quiet": rules.quiet,
        "runs": runs,
    }
    return FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)})


def _secrets(right: list[Result]) -> tuple[str, ...]:
    lines = [line for answer in right for line in answer.records[1:] if len(line) > 40]
    return tuple(lines[:8])


FAMILY = Family(
    name="feed_cleaning",
    realises={
        "domain": frozenset({"data_processing"}),
        "skill_type": frozenset({"record_normalisation"}),
        "skills": frozenset(
            {
                "field_parsing",
                "deduplication",
                "encoding_repair",
                "date_normalisation",
                "stream_processing",
                "schema_mapping",
            }
        ),
        "language": frozenset({"python", "bash"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)
