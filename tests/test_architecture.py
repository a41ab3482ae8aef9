"""The design, held: layers, cycles, banned names, import cost, sizes, the README's file tree."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "envgen"

_LAYERS = """
__init__ errors plural digest files writing records share prompts config
axes.catalogue axes.cells axes.row axes.yamlfile axes.loader axes.fit axes.walk axes.deal
axes.sampler axes.measure axes.table axes
foreign.shared foreign dockerfile bases
ledger.disk ledger.blobs ledger.attempts ledger.batches ledger.spending ledger.effects ledger
llm llm.scripted llm.trouble llm.line llm.keys llm.wire llm.schema llm.openai llm.gemini llm.prices
llm.loops llm.deadline llm.booked llm.budget llm.pace llm.paced llm.retried llm.probe
llm.batch.jobs llm.batch.dialect llm.batch.openai llm.batch.gemini llm.batch.verdict llm.batch
llm.opened
sandbox sandbox.parity sandbox.tail sandbox.shell sandbox.archive sandbox.daemon sandbox.owner
sandbox.scan sandbox.cpus sandbox.containers sandbox.registry sandbox.images sandbox.roots
sandbox.execs sandbox.beside sandbox.fate sandbox.inside sandbox.session sandbox.docker
sandbox.scripted sandbox.selftest sandbox.pool
jobs foreign.imported kit grade commands submission
agent agent.prefix agent.policies agent.parsing agent.showing agent.loop agent.episode
agent.scripted agent.players agent.passes agent.detecting agent.voice
authors.fixtures.recipe authors.fixtures.made authors.fixtures.stage authors.fixtures.parts
authors.fixtures.reading authors.fixtures.image authors.fixtures.audio authors.fixtures.video
authors.fixtures.binary authors.fixtures.package authors.fixtures.services
authors.fixtures.tables authors.fixtures.text authors.fixtures
authors.procedural.family authors.procedural
authors.llm.blocks authors.llm.contents authors.llm.ask authors.llm.forms
authors.llm.small.data authors.llm.small.items authors.llm.small.meaning authors.llm.small.rules
authors.llm.small.shapes
authors.llm.small.worked authors.llm.small.plan authors.llm.small
authors.llm.example authors.llm.full.brief authors.llm.full.sight authors.llm.full.mending
authors.llm.full.open authors.llm.full authors.llm.estimate authors.llm authors
authors.imports.shell authors.imports.folder authors.imports.images authors.imports.python
authors.imports.options authors.imports.installs authors.imports.container
authors.imports.containerfile authors.imports.dockerfile authors.imports.runner
authors.imports.definition authors.imports.drafts authors.imports.harbor authors.imports.tmax
authors.imports.endless authors.imports
lint leaks build
audit.verdict audit.naming audit.target audit.unpacking audit.submissions audit.captured
audit.static.suspicion audit.static.files audit.static.checks audit.static
audit.probes.gain audit.probes.filling audit.probes.emptying audit.probes.standing_in
audit.probes.one_line audit.probes.predicting audit.probes.forging audit.probes.copying audit.probes
audit.outside
audit.mutants audit.recording audit.workbench audit.attacking audit.mutating audit.swapping
audit.repeating audit.resolving
audit.critic.sight audit.critic.asking audit.critic.blinding audit.critic.knowledge
audit.critic.proving audit.critic audit
audit.defects.planting audit.defects.weak audit.defects.leaks audit.defects.mismatch
audit.defects.others audit.defects
export export.canary export.harbor export.trails export.schema export.parquet export.audits
export.rollouts export.conversations export.atif export.unpack letters export.repairs pipeline tally
audit.defects.benchmark audit.defects.canaries repair.watching repair.seen repair.verifier
repair.leaking repair.isolating repair.matching repair.pinning repair.steadying repair.ways
repair.changes repair.matrix repair.policy repair.asking repair repair.benchmark
spool runs items
corpus corpus.words corpus.grams corpus.sources corpus.overlap corpus.duplicates
corpus.figures corpus.compare
auditing repairing evaluated evaluating
rounds
harbor rebuild
terminal
report.facts report.attrition report.found report.tasks report.provenance report
web.visible web.page web.charts web.tables web.sections web.measures web.tiles web.tasklist web
web.task web.site web.server
doctor tables pages
publish publish.checksums publish.card publish.images publish.dataset publish.verify
selfgen
train train.loss train.batch train.rollouts train.checkpoints train.ranks train.scoring train.policy
train.vllm_worker train.forms
train.vllm_engine train.inference train.chat train.tasks
train.episodes train.loop
cli.options cli.work cli.tasks cli.look cli.corpus cli.publish cli.bases cli.ledger cli.audit
cli.repair cli.rollouts cli.panel cli.training cli.selfgen cli
cli.__main__
"""
LAYERS = _LAYERS.split()
"""Every module but the families, each below what may import it (a package stands after its parts,
for its `__init__` gathers them). Imports inside functions and for typing count as well."""

FAMILY_MAY_IMPORT = {"files", "records", "authors.fixtures.recipe", "authors.procedural.family"}
"""What a family is made of: values, and what a family is. Nothing that opens or runs anything."""

CLOCKS = {
    "ledger.attempts",
    "ledger.effects",
    "llm.batch",
    "terminal",
    "sandbox.containers",
    "sandbox.docker",
    "sandbox.execs",
    "sandbox.fate",
    "sandbox.images",
    "sandbox.session",
    "train.loop",
    "cli.panel",
}
"""May look at the clock: what they learn from it is in no identity."""
SECRETS = {"sandbox.owner"}
"""May be random beyond a seed: the name of a process."""
ENVIRONMENT = {"sandbox.daemon", "llm.keys", "train.vllm_engine", "train.ranks"}
"""May read the environment: where the engine is, the keys of providers, what vLLM reads there, what
a launcher of ranks says."""
SDK = {
    "sandbox": {"docker", "requests", "urllib3"},
    "llm": {"openai", "google", "httpx2"},
    "train": {"torch", "transformers", "peft", "safetensors", "tensorboard", "vllm", "llguidance"},
}
"""Only the edges, and the trainer, may know their libraries."""
LAZY = {
    *("google", "harbor", "httpx2", "openai", "peft", "pyarrow", "rich.progress", "transformers"),
    *("rensa", "vllm"),
}
"""Imported inside functions only: they cost more than most commands need."""
TORCH = {
    *("train.loss", "train.ranks", "train.scoring", "train.policy", "train.forms"),
    *("train.inference", "train.loop"),
}
"""Import torch, which is not part of the default install; nothing else may import them outside of a
function."""

CATCHERS = {
    "pipeline": "the one catcher",
    "authors.procedural.broken_tool.model": "runs a tool with a planted fault, which may crash",
    "authors.procedural.vendored_fault.workings": "runs a package with one, in the same way",
}
"""Each catches everything in one place."""

LONGER = {
    "envgen/grade.py": "the one realisation of a task, from image to score",
    "envgen/authors/llm/blocks.py": "four readers of one thing, to be compared line by line",
    "envgen/config.py": "the one configuration class, its groups side by side",
    "envgen/records.py": "the one vocabulary: records belong side by side",
    "verifiers/process.py": "everything that touches a hostile process, to be read in one go",
    "envgen/authors/procedural/holdout_forecast/scenarios.py": "data: the scenarios in words",
    "envgen/authors/procedural/ledger_reports/__init__.py": "one composition from start to end",
    "envgen/authors/procedural/service_stack/faults.py": "data: one entry a fault",
    "envgen/authors/procedural/service_stack/stacks.py": "data: one entry a stack",
    "envgen/authors/procedural/strip_chart/instruments.py": "data: one entry an instrument",
    "envgen/authors/procedural/strip_chart/sheet.py": "one drawing from paper to ink",
}
"""Files over 300 lines, and why."""
MOST_LINES = 300


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


FILES = {
    name_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not {"task", "_share", "__pycache__"} & set(path.relative_to(PACKAGE).parts)
    and path.parent != PACKAGE / "authors" / "fixtures" / "tools"
}
FAMILIES = {
    name
    for name in FILES
    if name.startswith("authors.procedural.") and name != "authors.procedural.family"
}
TREES = {name: ast.parse(path.read_text()) for name, path in FILES.items()}


def imports(name: str, *, top: bool = False) -> Iterator[str]:
    """Absolute names of what a module imports; only outside of functions with `top`."""
    nodes = _top(TREES[name]) if top else ast.walk(TREES[name])
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                source = ".".join(filter(None, ["envgen", *above, source]))
            for alias in node.names:
                full = f"{source}.{alias.name}"
                yield full if full.removeprefix("envgen.") in FILES else source


def _top(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run on import."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _top(child)


def ours(name: str) -> set[str]:
    """Modules of envgen that a module imports."""
    found = {i.removeprefix("envgen.") for i in imports(name) if i.split(".")[0] == "envgen"}
    return {"__init__" if target == "envgen" else target for target in found}


def calls(name: str) -> Iterator[tuple[str, int]]:
    """Dotted names that a module calls or reads, with their lines."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Attribute | ast.Name):
            yield ast.unparse(node), node.lineno


# -- layers ------------------------------------------------------------------------------------


def test_every_module_has_its_layer() -> None:
    assert set(LAYERS) == set(FILES) - FAMILIES
    assert len(LAYERS) == len(set(LAYERS))


@pytest.mark.parametrize("name", LAYERS)
def test_a_module_imports_only_what_stands_before_it(name: str) -> None:
    before = set(LAYERS[: LAYERS.index(name)])
    assert ours(name) - before == set()


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_is_made_of_values_only(name: str) -> None:
    family = ".".join(name.split(".")[:3])
    others = {target for target in ours(name) if not f"{target}.".startswith(f"{family}.")}
    assert others <= FAMILY_MAY_IMPORT


def test_there_are_no_cycles() -> None:
    """Also within families, where there is no order written down."""
    edges = {name: {target for target in ours(name) if target in FILES} for name in FILES}
    left = dict(edges)
    while free := [name for name, targets in left.items() if not targets & left.keys() - {name}]:
        for name in free:
            del left[name]
    assert left == {}


def test_the_verifier_kit_imports_nothing_but_the_standard_library() -> None:
    for path in (ROOT / "verifiers").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            tops = {name.split(".")[0] for name in names}
            assert tops <= {*sys.stdlib_module_names, "verifiers"}, path.name


# -- banned names ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FILES))
def test_identity_is_content(name: str) -> None:
    """No builtin hash, no uuid, no clock, no randomness without a seed."""
    banned = []
    modules = {module.split(".")[0] for module in imports(name)}
    banned += [m for m in ("uuid",) if m in modules]
    banned += [m for m in ("time",) if m in modules and name not in CLOCKS]
    banned += [m for m in ("secrets",) if m in modules and name not in SECRETS]
    for call, line in calls(name):
        if (
            call == "hash"
            or re.fullmatch(r"(datetime\.)*(datetime|date)\.(now|today|utcnow)", call)
            or (call.startswith("random.") and call != "random.Random")
            or (call in ("os.environ", "os.getenv", "environ") and name not in ENVIRONMENT)
            or call in ("os.urandom", "SystemRandom")
        ):
            banned.append(f"{call} in line {line}")
    assert banned == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_random_is_imported_for_seeded_generators_only(name: str) -> None:
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            assert [alias.name for alias in node.names] == ["Random"]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Random", "random.Random"):
            assert node.args, f"line {node.lineno}: a generator without a seed"


@pytest.mark.parametrize("name", sorted(FILES))
def test_only_the_edges_know_their_libraries(name: str) -> None:
    tops = {module.split(".")[0] for module in imports(name)}
    foreign = {
        library for edge, known in SDK.items() if edge != name.split(".")[0] for library in known
    }
    assert tops & foreign == set()
    assert not {
        m for m in imports(name, top=True) for lazy in LAZY if f"{m}.".startswith(f"{lazy}.")
    }


@pytest.mark.parametrize("name", sorted(FILES))
def test_torch_is_imported_where_it_is_said(name: str) -> None:
    direct = {module.split(".")[0] for module in imports(name, top=True)}
    ours_at_top = {module.removeprefix("envgen.") for module in imports(name, top=True)}
    assert ("torch" in direct or bool(ours_at_top & TORCH)) == (name in TORCH)


@pytest.mark.parametrize("name", sorted(FILES))
def test_only_one_place_catches_everything(name: str) -> None:
    broad = [
        node.lineno
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(n, ast.Raise) and n.exc is None for n in ast.walk(node))
    ]
    assert len(broad) == (name in CATCHERS), f"{name}: lines {broad}"


# -- import cost -------------------------------------------------------------------------------


def loaded(statement: str) -> set[str]:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    heavy = {"docker", "jinja2", "pyarrow", "pydantic", "requests", "rich.table", "yaml"}
    assert loaded("import envgen.cli") & heavy == set()


def test_importing_all_but_the_docker_engine_loads_no_sdk() -> None:
    engine = {"containers", "daemon", "docker", "execs", "fate", "images", "inside", "roots"}
    engine |= {"beside", "registry", "session"}
    rest = [n for n in FILES if not (n.startswith("sandbox.") and n.split(".")[1] in engine)]
    rest = [n for n in rest if n not in TORCH]
    found = loaded("\n".join(f"import envgen.{n}" for n in rest if n != "__init__"))
    assert found & {*SDK["sandbox"], *SDK["llm"], "pyarrow", "torch"} == set()


def test_importing_leaves_no_trace(tmp_path: Path) -> None:
    script = "import envgen.cli, envgen.runs, envgen.kit, envgen.sandbox.docker"
    subprocess.run([sys.executable, "-B", "-c", script], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


# -- records, sizes, docstrings ----------------------------------------------------------------


def test_records_are_frozen_and_stand_in_one_file() -> None:
    from envgen import records

    for _, kind in inspect.getmembers(records, inspect.isclass):
        if issubclass(kind, records.Record):
            assert kind.model_config["frozen"] and kind.model_config["extra"] == "forbid"
    elsewhere = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "Record" in [ast.unparse(base) for base in node.bases]
    }
    assert elsewhere <= {"records", "jobs"}  # jobs: Conditions, a value of its own arguments


def sources() -> dict[str, Path]:
    found = [
        p for top in ("envgen", "verifiers", "bench", "scripts") for p in (ROOT / top).rglob("*.py")
    ]
    return {p.relative_to(ROOT).as_posix(): p for p in found if "_share" not in p.parts}


def test_files_are_short_or_say_why_not() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in sources().items()}
    long = {name for name, length in lengths.items() if length > MOST_LINES}
    assert long - LONGER.keys() == set()
    assert LONGER.keys() - long == set(), "these are short by now: remove their entries"


def test_functions_fit_a_screen() -> None:
    """But those of families that are data, written as calls."""
    long = [
        f"{name}:{node.name} {node.end_lineno - node.lineno + 1}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if name not in FAMILIES
        and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 60
    ]
    assert long == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_module_says_what_it_is(name: str) -> None:
    assert (ast.get_docstring(TREES[name]) or "").strip()


@pytest.mark.parametrize("name", sorted(set(FILES) - FAMILIES))
def test_public_functions_say_what_they_do(name: str) -> None:
    silent = [
        node.name
        for node in TREES[name].body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_names_say_what_a_thing_is() -> None:
    empty = re.compile(r"(Manager|Handler|Helper|Utils?|Base|_v\d+|[Ll]egacy)$")
    found = [
        f"{name}.{node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and empty.search(node.name)
    ]
    assert found == []


# -- the README's file tree --------------------------------------------------------------------


def layout() -> dict[str, str]:
    """Path -> clause, from the code block under `## Layout`."""
    text = (ROOT / "README.md").read_text()
    block = re.search(r"^## Layout\n+(?:[^`].*\n+)*```\w*\n(envgen/\n.*?)^```", text, re.M | re.S)
    assert block, "README.md has no code block that begins with `envgen/` under `## Layout`"
    entries: dict[str, str] = {}
    above: list[str] = []
    for line in filter(None, map(str.rstrip, block[1].splitlines())):
        depth = (len(line) - len(line.lstrip())) // 2
        path, _, clause = line.strip().partition(" ")
        above = [*above[:depth], path]
        entries["".join(above)] = clause.strip()
    return entries


def test_the_tree_in_the_readme_is_the_real_one() -> None:
    entries = layout()
    assert [path for path in entries if not (ROOT / path).exists()] == []
    assert [path for path in entries if path.endswith("/") != (ROOT / path).is_dir()] == []
    folders = {
        f"{path.name}/"
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith((".", "__")) and not _generated(path)
    }
    assert {path for path in entries if path.count("/") == 1 and path.endswith("/")} == folders
    modules = {
        f"envgen/{path.name}{'/' if path.is_dir() else ''}"
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("_", ".")) and (path.is_dir() or path.suffix == ".py")
    }
    assert {p for p in entries if re.fullmatch(r"envgen/[^/]+/?", p)} == modules


def test_every_entry_of_the_tree_has_its_clause() -> None:
    assert [path for path, clause in layout().items() if not clause and path != "envgen/"] == []


def _generated(path: Path) -> bool:
    return path.name in ("build", "dist", "site") or path.name.endswith(".egg-info")
