"""A program that answers fixed questions to any database of one schema, in an exact layout."""

import base64
import datetime
import json
import random
import shlex
from dataclasses import dataclass, replace

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.authors.procedural.ledger_reports import ledger as ledgers
from envgen.authors.procedural.ledger_reports import rules as rule_sets
from envgen.authors.procedural.ledger_reports.ledger import Ledger, Query
from envgen.authors.procedural.ledger_reports.rules import Rules
from envgen.authors.procedural.ledger_reports.truth import Answers
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

MATERIAL = Material(__file__)
SEP_WORDS = {
    "|": "one vertical bar (`|`)",
    "\t": "one tab",
    ";": "one semicolon",
    " / ": "space, slash, space (` / `)",
}


@dataclass(frozen=True)
class Run:
    """One execution of the program: which database, which arguments."""

    dump: int
    query: Query


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A given database, hidden ones, and the right report for each run."""
    rules = rule_sets.draw(rng, spec.language)
    regions = ledgers.regions_of(rng)
    books = [ledgers.draw(rng, rules, regions, size) for size in (90, 70, 110, 0)]
    runs = _runs(rng, rules, regions)
    values = _values(rules, runs[0])
    answers = [Answers(rules, books[run.dump], run.query).sections() for run in runs]
    sections = [_with_header(rules, a) for a in answers]
    return Composition(
        title=f"Report on {rules.scenario.events} of {rules.database}",
        instruction=MATERIAL.render("instruction.md.j2", who=introduced(spec.persona), **values),
        files=FileTree({_dump_path(rules).lstrip("/"): ledgers.dump(rules, books[0])}),
        tests=_tests(rules, books, runs, sections),
        solution=_solution(values),
        wrong=_wrong(rules, values, sections[0]) | _flawed(rules, values, books, runs, answers),
        valid={"plain": _valid(rules, values)},
        base="data_querying",
        initial=InitialState(
            present=(_dump_path(rules),),
            absent=(f"{HOME}/{rules.program}",),
            tools=("sqlite3", "awk", "python3"),
            commands=(("sqlite3", ":memory:", f".read {_dump_path(rules)}"),),
        ),
        secrets=_secrets(sections),
    )


def _dump_path(rules: Rules) -> str:
    return f"{HOME}/data/{rules.database}.sql"


def _runs(rng: random.Random, rules: Rules, regions: tuple[str, ...]) -> list[Run]:
    """The given database once, hidden ones five times; an apostrophe, a stranger, no events."""
    starts = [1, 4, 7, 10] if rules.period == "quarter" else list(range(1, 9))
    months = [rng.choice(starts) for _ in range(6)]
    asked = [(0, regions[1]), (1, regions[0]), (1, "x' OR '1'='1"), (2, regions[0])]
    asked += [(2, regions[2]), (3, regions[0])]
    return [
        Run(dump, ledgers.query(rules, month, region))
        for (dump, region), month in zip(asked, months, strict=True)
    ]


def _with_header(rules: Rules, sections: list[list[str]]) -> list[list[str]]:
    if not rules.header:
        return sections
    heads = [rules.sep.join(_columns(rules, q)) for q in rules.questions]
    return [[head, *rows] for head, rows in zip(heads, sections, strict=True)]


def _columns(rules: Rules, question: str) -> list[str]:
    s = rules.scenario
    shown = s.states[:3] if rules.ignores else s.states
    return {
        "region": ["code", "name", s.events, s.qty, "money"],
        "top": ["rank", "name", "money" if rules.measure == "money" else s.qty],
        "running": [
            *([s.region] if rules.running_by_region else []),
            "day" if rules.period == "month" else "month",
            *("number", "sum", "running"),
        ],
        "gaps": ["name", s.events, "gap"],
        "best": [s.region, "code", s.events],
        "open": ["id", "name", "code", "day", "age"],
        "share": [s.segment, "amount", "percent"],
        "states": ["code", *shown, "all"],
        "silent": ["name", s.joined, "last"],
        "kinds": [s.kind, "number", "sum", "average"],
    }[question]


def _heading(rules: Rules, place: int) -> str:
    return rules.heading_style.format(rules.headings[place].replace("_", " "))


def _quoted(text: str) -> str:
    return r"$'\t'" if text == "\t" else shlex.quote(text)


def _values(rules: Rules, example: Run) -> dict[str, object]:
    """What the templates need."""
    region_word = rules.scenario.region.upper()
    period = {
        "month": "MONTH",
        "quarter": "QUARTER",
        "range": "FIRST LAST",
        "until": "FROM UNTIL",
    }[rules.period]
    arguments = f"{region_word} {period}" if rules.region_first else f"{period} {region_word}"
    values: dict[str, object] = {
        "r": rules,
        "s": rules.scenario,
        "unit": 10 if rules.period == "month" else 7,
        "shown_states": rules.scenario.states[: 3 if rules.ignores else 4],
        "region_word": region_word,
        "arguments": arguments,
        "two_days": rules.period in ("range", "until"),
        "sep_quoted": _quoted(rules.sep),
        "sep_words": SEP_WORDS[rules.sep],
        "example": " ".join(shlex.quote(word) for word in example.query.argv),
        "shows_days": _shows_days(rules),
    }
    values["questions"] = [_question(rules, place, values) for place in range(len(rules.questions))]
    return values


def _shows_days(rules: Rules) -> bool:
    dated = {"open", "silent"} | ({"running"} if rules.period == "month" else set())
    return bool(dated & set(rules.questions))


def _question(rules: Rules, place: int, values: dict[str, object]) -> dict[str, object]:
    name, columns = rules.questions[place], _columns(rules, rules.questions[place])
    line = rules.sep.join(columns)
    return {
        "name": name,
        "heading": _heading(rules, place),
        "columns": columns,
        "columns_line": line,
        "columns_awk": line.replace("\t", "\\t"),
        "heading_quoted": shlex.quote(_heading(rules, place)),
        "columns_quoted": "$" + shlex.quote(line.replace("\t", "\\t"))
        if "\t" in line
        else shlex.quote(line),
        "sql": _window_sql(name, values),
        "plain": _plain_sql(name, values),
    }


def _window_sql(name: str, values: dict[str, object], low: str = "$low") -> str:
    known = values | {"q": name, "low": low, "high": "$high", "region": "$region"}
    return MATERIAL.render("sql/window.sql.j2", **known)


def _plain_sql(name: str, values: dict[str, object]) -> str:
    known = values | {"q": name, "low": "", "high": "", "region": ""}
    return MATERIAL.render("sql/plain.sql.j2", **known)


def _solution(values: dict[str, object], *, low: str = "$low", quoting: bool = True) -> FileTree:
    questions: list[dict[str, object]] = values["questions"]  # type: ignore[assignment]
    questions = [q | {"sql": _window_sql(str(q["name"]), values, low)} for q in questions]
    known = values | {"questions": questions, "quoting": quoting}
    return FileTree(
        {
            "solve.sh": MATERIAL.render("solve.sh.j2", **values),
            "report.sh": MATERIAL.render("report.sh.j2", **known),
        }
    )


def _valid(rules: Rules, values: dict[str, object]) -> FileTree:
    """In the task's own language: a Bash script, or a Python program with bound parameters."""
    questions: list[dict[str, object]] = values["questions"]  # type: ignore[assignment]
    setup = _plain_sql("setup", values)
    if rules.language == "bash":
        names = ("solve.sh", "report.sh")
        extra: dict[str, object] = {"setup": setup}
    else:
        names = ("solve.sh", "report.py")
        extra = {
            "python_setup": repr(setup),
            "python_questions": json.dumps([_statements(q) for q in questions], indent=4),
            "python_sep": repr(rules.sep),
            "python_empty": repr(rules.empty),
        }
    folder = "valid/bash" if rules.language == "bash" else "valid/python"
    render = MATERIAL.render
    return FileTree({n: render(f"{folder}/{n}.j2", **(values | extra)) for n in names})


def _statements(question: dict[str, object]) -> list[object]:
    parts = [part.strip() for part in str(question["plain"]).split(";") if part.strip()]
    return [question["heading"], question["columns_line"], parts]


def _wrong(rules: Rules, values: dict[str, object], first: list[list[str]]) -> dict[str, FileTree]:
    empty = _with_header(rules, [[rules.empty] for _ in rules.questions])
    fixed = {
        "stub": ("headings_only", _whole(rules, empty)),
        "recorded": ("recorded", _whole(rules, first)),
    }
    solve = MATERIAL.render("valid/bash/solve.sh.j2", **values)
    trees = {
        name: FileTree(
            {
                "solve.sh": solve,
                "report.sh": MATERIAL.render(f"wrong/{name}/report.sh.j2", **{key: text}),
            }
        )
        for name, (key, text) in fixed.items()
    }
    return trees | {"unquoted": _solution(values, quoting=False)}


def _flawed(
    rules: Rules,
    values: dict[str, object],
    books: list[Ledger],
    runs: list[Run],
    right: list[list[list[str]]],
) -> dict[str, FileTree]:
    """Programs that miss one rule, where the rule happens to matter for what is asked."""
    trees = {}
    later = [replace(run.query, low=_next_day(run.query.low)) for run in runs]
    if right != [
        Answers(rules, books[run.dump], query).sections()
        for run, query in zip(runs, later, strict=True)
    ]:
        trees["first_day_lost"] = _solution(values, low="date($low, '+1 day')")
    if rules.ignores:
        all_count = replace(rules, ignores=False)
        trees["void_counted"] = _solution(_values(all_count, runs[0]))
    return trees


def _next_day(day: str) -> str:
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=1)).isoformat()


def _whole(rules: Rules, sections: list[list[str]]) -> str:
    parts = ["\n".join([_heading(rules, n), *rows]) for n, rows in enumerate(sections)]
    return ("\n\n" if rules.blank_between else "\n").join(parts) + "\n"


def _tests(
    rules: Rules, books: list[Ledger], runs: list[Run], sections: list[list[list[str]]]
) -> FileTree:
    # Dumps as base64: their CREATE lines stand in the image too and are no leak.
    dumps = [base64.b64encode(ledgers.dump(rules, book).encode()).decode() for book in books]
    truth = {
        "program": rules.program,
        "language": rules.language,
        "headings": [_heading(rules, place) for place in range(len(rules.questions))],
        "header_lines": int(rules.header),
        "blank_between": rules.blank_between,
        "dumps": dumps,
        "runs": [
            {"dump": run.dump, "argv": list(run.query.argv), "sections": rows}
            for run, rows in zip(runs, sections, strict=True)
        ],
    }
    return FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)})


def _secrets(sections: list[list[list[str]]]) -> tuple[str, ...]:
    rows = [row for run in sections for section in run for row in section[1:]]
    return tuple(sorted({row for row in rows if len(row) > 24})[:8])


FAMILY = Family(
    name="ledger_reports",
    realises={
        "domain": frozenset({"data_querying"}),
        "skill_type": frozenset({"query_construction"}),
        "skills": frozenset(
            {
                "sql_joins",
                "sql_aggregation",
                "window_queries",
                "date_filtering",
                "report_formatting",
                "parameterised_queries",
            }
        ),
        "language": frozenset({"any", "bash"}),
        "task_complexity": frozenset({"moderate"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)
