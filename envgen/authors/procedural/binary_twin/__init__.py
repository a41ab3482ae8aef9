"""A vendor's stripped binary whose sources are lost: write a program that does the same."""

import json
import pprint
import random
from collections.abc import Mapping
from pathlib import Path

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.binary_twin import codec, devices, payloads, probes
from envgen.authors.procedural.binary_twin.payloads import Params
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

MATERIAL = Material(__file__)
MARKS = {",": "commas", ";": "semicolons", " ": "single spaces"}
PACKAGE = "envgen.authors.procedural.binary_twin"
ORACLE = ("payloads.py", "codec.py", "probes.py")


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One device, one tool; the twin is a Python or a C program."""
    device, params = devices.draw(rng)
    samples = _samples(params, rng)
    tool, ending = params["tool"], {"python": "py", "c": "c"}[spec.language]
    words = {
        "spec": spec, "who": introduced(spec.persona),
        "device": device, "p": params, "opening": rng.randrange(3),
        "mark": MARKS[params["separator"]], "series": device.series[0],
        "source": f"{tool}.{ending}",
        "example": [samples[f"values.{end}"].split("\n")[0] for end in ("txt", "answers")],
        "run": "python3 /tmp/twin" if ending == "py" else "/tmp/twin",
    }  # fmt: skip
    facts = _facts(params)
    vendor = _vendor(params)
    binary, manual = f"/opt/vendor/bin/{tool}", f"/opt/vendor/share/{tool}.txt"
    truth = {"source": f"twin/{tool}.{ending}", "params": params, "facts": facts,
             "key": f"twin-{rng.getrandbits(96):024x}"}  # fmt: skip
    return Composition(
        title=f"A program in place of {tool}, whose sources are lost",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({
            manual[1:]: MATERIAL.render("manual.txt.j2", **words),
            **{f"home/agent/samples/{name}": text for name, text in samples.items()},
        }),
        recipes=(_recipe(tool, vendor),),
        tests=FileTree({
            "check.py": MATERIAL.text("check.py"),
            **{name: _shipped(name) for name in ORACLE},
            "truth.json": json.dumps(truth, indent=1) + "\n",
        }),
        solution=_reference(words),
        wrong=_wrong(words, facts, samples, vendor),
        valid={"other_source": _given(words, _other(words, params, vendor), _lines(facts))},
        base="software_engineering",
        initial=InitialState(
            present=(binary, manual, "/home/agent/samples/values.txt",
                     "/home/agent/samples/frames.answers"),
            absent=(f"/home/agent/twin/{tool}.{ending}", "/home/agent/twin/protocol.txt"),
            tools=("python3",) if ending == "py" else ("gcc", "python3", "objdump"),
        ),
        hide=(binary,),
        secrets=(str(truth["key"]),),
        limits=Limits(agent_seconds=1200, verify_seconds=300),
    )  # fmt: skip


def _shipped(name: str) -> str:
    """A module of ours as it stands beside the tests, where there is no package."""
    text = (Path(__file__).parent / name).read_text()
    return text.replace(f"from {PACKAGE} import", "import").replace(f"from {PACKAGE}.", "from ")


def _samples(params: Params, rng: random.Random) -> dict[str, str]:
    """Archived lines of both directions, a few of them damaged, with the tool's answers."""
    values = [probes.readings(params, rng) for _ in range(14)]
    values[5], values[11] = (probes.bad_readings(params, rng) for _ in range(2))
    frames = [probes.frame(params, rng) for _ in range(14)]
    frames[3], frames[8], frames[12] = (probes.bad_frame(params, rng) for _ in range(3))
    texts = {"values": "\n".join(values) + "\n", "frames": "\n".join(frames) + "\n"}
    return {
        "values.txt": texts["values"],
        "values.answers": codec.run(params, "encode", texts["values"])[0],
        "frames.txt": texts["frames"],
        "frames.answers": codec.run(params, "decode", texts["frames"])[0],
    }


def _facts(params: Params) -> dict[str, str]:
    counter = params["counter"]
    facts = {
        "counter": f"{counter[0]},{counter[1] - 1}" if counter else "none",
        "check_bytes": str(params["check"]["bytes"]),
    }
    if params["kind"] == "fields":
        names = [params["fields"][place]["name"] for place in params["order"]]
        return facts | {"order": ",".join(names)}
    longest = min(params["run_min"] + params["run_codes"] - 1, params["most"] - 1)
    return facts | {"longest_repeat": str(longest), "largest_step": str(params["step_max"])}


def _vendor(params: Params) -> str:
    sync = bytes.fromhex(params["sync"])
    return MATERIAL.render(
        "vendor.c.j2",
        p=params,
        sync_bytes=", ".join(map(hex, sync)),
        overhead=codec.overhead(params),
        payload_bytes=payloads.payload_size(params) if params["kind"] == "fields" else 0,
    )


def _recipe(tool: str, vendor: str) -> Recipe:
    return Recipe(
        base="tools",
        files=FileTree({"main.c": vendor}),
        command=("gcc", "-O2", "-std=c11", "-static", "-s", "-Wl,--build-id=none",
                 "-o", f"/out/{tool}", "main.c"),
        target="opt/vendor/bin",
        modes={tool: 0o755},
    )  # fmt: skip


# -- solutions --------------------------------------------------------------------------------


def _reference(words: Mapping[str, object]) -> FileTree:
    params = words["p"]
    assert isinstance(params, dict)
    known = {key: params[key] for key in ("commands", "separator", "error", "words", "upper")}
    known["binary"] = f"/opt/vendor/bin/{params['tool']}"
    if params["kind"] == "fields":
        known["fields"] = [{k: f[k] for k in ("name", "low", "high")} for f in params["fields"]]
    else:
        known.update({key: params[key] for key in ("low", "high", "most")})
    told = f"KNOWN: Dict[str, Any] = {pprint.pformat(known, width=96)}"
    names = [f"twin_{params['kind']}.py", "twin_main.py.part"]
    if str(words["source"]).endswith(".c"):
        names = ["twin_check.c", f"twin_{params['kind']}.c", "twin_main.c"]
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "facts.py": MATERIAL.text("facts.py"),
        **{name: MATERIAL.text(name) for name in names},
        **{name: MATERIAL.text(name).replace("KNOWN: Dict[str, Any] = {}", told)
           for name in ("probe.py", "assemble.py")},
    })  # fmt: skip


def _other(words: Mapping[str, object], params: Params, vendor: str) -> str:
    """The original in the twin's language: the C source, or the oracle as a program."""
    if str(words["source"]).endswith(".c"):
        return vendor
    text = _shipped("payloads.py").replace("import re\n", "import re\nimport sys\n", 1)
    _, closed, rest = _shipped("codec.py").partition(")\n\n\n")
    assert closed
    text += f"\n\n{rest}"
    shown = pprint.pformat(params, width=96)
    return f"{text}\n\nPARAMS: Params = {shown}\n{MATERIAL.text('valid_main.py.part')}"


def _lines(facts: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in facts.items()]


def _given(
    words: Mapping[str, object], program: str, facts: list[str], *, stow: bool = False
) -> FileTree:
    return FileTree({
        "solve.sh": MATERIAL.render("given.sh.j2", **words, facts=facts, stow=stow),
        str(words["source"]): program,
    })  # fmt: skip


def _wrong(
    words: Mapping[str, object], facts: dict[str, str], samples: Mapping[str, str], vendor: str
) -> dict[str, FileTree]:
    params = words["p"]
    assert isinstance(params, dict)
    ending = str(words["source"]).rpartition(".")[2]
    said = _lines(facts)
    right = _other(words, params, vendor)
    bent = {**params, "scramble": {**params["scramble"], "seed": params["scramble"]["seed"] ^ 1}}
    archive = []
    for name in ("values", "frames"):
        lines, answers = (samples[f"{name}.{end}"].split("\n")[:-1] for end in ("txt", "answers"))
        lines = [line for line in lines if line]  # the tool passes over empty ones
        archive += [
            [json.dumps(text) for text in pair] for pair in zip(lines, answers, strict=True)
        ]
    wrapper = "wrong/wrapper/main.py" if ending == "py" else "wrong/wrapper/main.c.j2"
    return {
        "wrapper": _given(words, MATERIAL.render(wrapper, **words), said, stow=True),
        "archive": _given(
            words,
            MATERIAL.render(f"wrong/archive/main.{ending}.j2", archive=archive, **words),
            said,
        ),
        "wrong_key": _given(words, _other(words, bent, _vendor(bent)), said),
        "believes_all_frames": _given(words, _careless(right, ending), said),
        "no_findings": _given(words, right, []),
    }


def _careless(program: str, ending: str) -> str:
    """A twin that decodes without looking at the check field."""
    old, new = ("return CHECK;", ";") if ending == "c" else ('raise Fault("check")', "pass")
    assert old in program
    return program.replace(old, new)


FAMILY = Family(
    name="binary_twin",
    realises={
        "domain": frozenset({"software_engineering"}),
        "skill_type": frozenset({"reverse_engineering"}),
        "skills": frozenset({
            "black_box_probing", "byte_level_reasoning", "checksum_design", "spec_recovery",
            "cli_design", "differential_testing",
        }),
        "language": frozenset({"python", "c"}),
        "task_complexity": frozenset({"complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"fuzz_equivalence"}),
        "fixture": frozenset({"stripped_binary"}),
    },
    compose=compose,
)  # fmt: skip
