"""Axes and sampler: the promised numbers, the properties, and what bad axis files are told."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from shutil import copytree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envgen import axes
from envgen.axes import cells, fit, measure
from envgen.digest import digest
from envgen.errors import Misconfigured
from envgen.share import share

N = 15_000
CATALOGUE = axes.load()
DOMAINS = CATALOGUE.names("domain")
ROW_SEED_7 = {
    "seed": 7,
    "index": 0,
    "domain": "file_operations",
    "skill_type": "archives",
    "skills": ("bulk_renaming", "directory_layout", "duplicate_detection", "newline_repair"),
    "persona": "court clerk preparing numbered exhibits from mixed submissions",
    "language": "c",
    "task_complexity": "complex",
    "command_complexity": "bash_code_services",
    "verifier": "multi_protocol",
    "fixture": "multi_service",
}


quick = settings(max_examples=15, suppress_health_check=[HealthCheck.differing_executors])


def signature(row: axes.Row) -> tuple[object, ...]:
    return tuple(
        frozenset(row.skills) if axis == "skills" else getattr(row, axis) for axis in axes.AXES
    )


@pytest.fixture(scope="module")
def rows() -> list[axes.Row]:
    return list(axes.sample(CATALOGUE, 0, N))


# -- the catalogue -----------------------------------------------------------------------------


def test_catalogue_has_the_designed_shape() -> None:
    assert set(DOMAINS) == {
        "security",
        "software_engineering",
        "file_operations",
        "data_querying",
        "data_science",
        "debugging",
        "scientific_computing",
        "data_processing",
        "system_administration",
    }
    for domain in DOMAINS:
        assert 4 <= len(CATALOGUE.skill_type[domain]) <= 7
        skills = CATALOGUE.names("skills", domain)
        assert 20 <= len(skills) <= 40
        assert len(set(skills)) == len(skills)
        assert all(len(group) >= 4 for group in CATALOGUE.skills[domain].values())
        assert 6 <= len(CATALOGUE.persona[domain]) <= 18
    assert [CATALOGUE.command_range(name) for name in CATALOGUE.names("task_complexity")] == [
        (3, 8),
        (8, 15),
        (15, 30),
        (30, 60),
    ]
    assert {v.name: v.weight for v in CATALOGUE.flat["language"]} == {
        "python": 0.35,
        "c": 0.15,
        "bash": 0.15,
        "cpp": 0.10,
        "rust": 0.07,
        "go": 0.07,
        "multi": 0.06,
        "any": 0.05,
    }
    sizes = {axis: len(CATALOGUE.names(axis)) for axis in ("command_complexity", "verifier")}
    assert sizes == {"command_complexity": 3, "verifier": 5}
    assert len(CATALOGUE.names("fixture")) == 7


def test_every_value_has_words_of_its_own() -> None:
    texts = [v.text for axis in CATALOGUE.flat for v in CATALOGUE.values(axis)]
    for domain in DOMAINS:
        for axis in ("skill_type", "skills", "persona"):
            texts += [v.text for v in CATALOGUE.values(axis, domain)]
    assert len(texts) == 9 + 49 + 254 + 90 + 8 + 4 + 3 + 5 + 7
    assert [text for text, count in Counter(texts).items() if count > 1] == []
    assert CATALOGUE.text("fixture", "audio").startswith("Recordings")
    assert CATALOGUE.text(
        "persona", "maintainer replacing a tool whose sources were lost", "software_engineering"
    ) == ("maintainer replacing a tool whose sources were lost")


def test_every_rule_matters_and_has_a_reason() -> None:
    grid = cells.grid_of(CATALOGUE)
    for rule in CATALOGUE.rules:
        fewer = axes.Catalogue(
            **{
                **{name: getattr(CATALOGUE, name) for name in CATALOGUE.__dataclass_fields__},
                "rules": tuple(other for other in CATALOGUE.rules if other is not rule),
            }
        )
        assert cells.grid_of(fewer).allowed != grid.allowed, rule.reason
        assert rule.reason.endswith(".")


def test_catalogue_digest_follows_the_words(tmp_path: Path) -> None:
    folder = tmp_path / "axes"
    copytree(share("axes"), folder)
    assert axes.load(folder).digest == CATALOGUE.digest
    file = folder / "fixture.yaml"
    file.write_text(file.read_text().replace("Recordings", "Sounds"))
    assert axes.load(folder).digest != CATALOGUE.digest


# -- the promised numbers ----------------------------------------------------------------------


def test_balance_of_15000(rows: list[axes.Row]) -> None:
    found = axes.balance(rows, CATALOGUE)
    assert list(found)[:9] == list(axes.AXES)
    for axis in ("domain", "task_complexity", "command_complexity", "verifier", "fixture"):
        assert found[axis].score >= 0.995, axis
    assert found["skill_type"].score >= 0.98
    assert found["skills"].score >= 0.98
    assert found["persona"].score >= 0.995
    assert found["language"].score == pytest.approx(0.8013, abs=0.002)
    for a, b in axes.PAIRS:
        assert found[f"{a}/{b}"].score >= 0.99 * found[f"{a}/{b}"].reachable
    assert found["verifier/fixture"].seen == 33
    assert found["domain/verifier"].seen == 45
    assert found["skills"].seen == found["skills"].values == 254


def test_language_shares_of_15000(rows: list[axes.Row]) -> None:
    counts = Counter(row.language for row in rows)
    for value in CATALOGUE.flat["language"]:
        assert counts[value.name] / N == pytest.approx(value.weight, abs=0.002)


def test_signatures_and_slugs_are_distinct(rows: list[axes.Row]) -> None:
    assert len({signature(row) for row in rows}) == N
    assert len({row.slug for row in rows}) == N


def test_skills_lean_on_the_skill_type(rows: list[axes.Row]) -> None:
    for row in rows:
        own = {value.name for value in CATALOGUE.skills[row.domain][row.skill_type]}
        assert len(row.skills) == len(set(row.skills)) in (3, 4, 5)
        assert len(own & set(row.skills)) >= 2
        assert set(row.skills) <= set(CATALOGUE.names("skills", row.domain))
    sizes = Counter(len(row.skills) for row in rows)
    assert {size: round(count / N, 2) for size, count in sizes.items()} == {
        3: 0.33,
        4: 0.33,
        5: 0.33,
    }


@pytest.mark.parametrize("seed", [1, 2, 2**63 - 1])
def test_every_prefix_is_balanced(seed: int) -> None:
    rows = list(axes.sample(CATALOGUE, seed, 1000))
    assert len({row.domain for row in rows[:9]}) == 9
    hundred, thousand = (axes.balance(rows[:k], CATALOGUE) for k in (100, 1000))
    for axis in ("domain", "task_complexity", "command_complexity", "verifier", "fixture"):
        assert hundred[axis].score >= 0.995, axis
        assert thousand[axis].score >= 0.999, axis
    assert hundred["skill_type"].score >= 0.95
    for a, b in axes.PAIRS:
        assert thousand[f"{a}/{b}"].score >= 0.99 * thousand[f"{a}/{b}"].reachable
    counts = Counter(row.language for row in rows)
    for value in CATALOGUE.flat["language"]:
        assert counts[value.name] / 1000 == pytest.approx(value.weight, abs=0.01)


def test_reachable_optimum_by_hand() -> None:
    best = measure.reachable(CATALOGUE)
    assert best["domain/verifier"] == pytest.approx(1.0)
    assert best["task_complexity/verifier"] == pytest.approx(1.0)
    # Two of 35 pairs are ruled out: (metric, stripped binary) and (fuzz, services). The other 33
    # cannot be equal, since every verifier keeps its fifth and every fixture its seventh.
    assert 0.93 < best["verifier/fixture"] < 33 / 35


def test_reachable_optimum_is_attained_by_the_fitted_distribution() -> None:
    """The bound that `reachable` gives is the pair entropy of the distribution sampled from."""
    plan = fit.plan_of(CATALOGUE, "balanced", None)
    share_of: Counter[tuple[int, int]] = Counter()
    for domain, weight, _ in plan.domains:
        for skill_type, part, _ in plan.skill_types[domain]:
            for verifier, of_verifier, node in plan.roots[domain, skill_type]:
                for fixture, of_fixture, _ in node:
                    share_of[verifier, fixture] += weight * part * of_verifier * of_fixture
    attained = measure._score(share_of.values(), 35)
    assert attained == pytest.approx(measure.reachable(CATALOGUE)["verifier/fixture"], rel=1e-4)


def test_balance_of_nothing_and_of_one_value() -> None:
    assert axes.balance([], CATALOGUE)["domain"].score == 0.0
    row = next(axes.sample(CATALOGUE, 0, 1))
    assert axes.balance([row], CATALOGUE)["domain"] == (pytest.approx(1 / 9), 1.0, 9, 1)


def test_tmax_preset_follows_the_released_shares() -> None:
    rows = list(axes.sample(CATALOGUE, 0, 5000, preset="tmax-v1"))
    weights = CATALOGUE.presets["tmax-v1"].weights
    assert set(weights) == {"task_complexity", "verifier", "fixture"}
    for axis, shares in weights.items():
        counts = Counter(getattr(row, axis) for row in rows)
        for name, wanted in shares.items():
            assert counts[name] / 5000 == pytest.approx(wanted, abs=0.002), (axis, name)
    assert axes.balance(rows, CATALOGUE, preset="tmax-v1")["verifier"].score == pytest.approx(
        0.62, abs=0.01
    )


# -- properties --------------------------------------------------------------------------------


def test_first_spec_is_this_one() -> None:
    row = next(axes.sample(CATALOGUE, 7, 1))
    assert {k: v for k, v in row._asdict().items() if k not in ("catalogue", "slug")} == ROW_SEED_7
    # The slug covers the catalogue, so it is pinned under a fixed one.
    assert axes.slug_of(row._replace(catalogue="sha256:0")) == "file_operations-5bschcbv"
    assert row.slug == axes.slug_of(row)


SAME = """
from envgen import axes
from envgen.digest import digest
blocks = [
    {"domain": {"security", "debugging"}, "language": {"python", "c", "any"}},
    {"domain": {"debugging"}, "verifier": {"exact_text", "multi_protocol"}},
]
catalogue = axes.load()
for support in (None, blocks):
    print(digest(list(axes.sample(catalogue, 3, 300, support=support))))
"""


def test_same_specs_in_any_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SAME],
            env={"PYTHONHASHSEED": hash_seed},
            cwd=Path(axes.__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "4242", "random")
    }
    whole, supported = outputs.pop().split()
    assert not outputs
    assert whole == digest(list(axes.sample(CATALOGUE, 3, 300)))
    assert supported != whole


@quick
@given(seed=st.integers(0, 2**63 - 1), n=st.integers(0, 300), k=st.integers(0, 300))
def test_prefixes_and_slices_agree(seed: int, n: int, k: int) -> None:
    n, k = max(n, k), min(n, k)
    whole = list(axes.sample(CATALOGUE, seed, n))
    assert list(axes.sample(CATALOGUE, seed, k)) == whole[:k]
    assert list(axes.sample(CATALOGUE, seed, n - k, start=k)) == whole[k:]
    assert [row.index for row in whole] == list(range(n))


def test_seeds_and_presets_differ() -> None:
    drawn = [
        tuple(signature(row) for row in axes.sample(CATALOGUE, seed, 20, preset=preset))
        for seed in (0, 1)
        for preset in ("balanced", "tmax-v1")
    ]
    assert len(set(drawn)) == 4


def violated(row: axes.Row) -> list[str]:
    return [
        rule.reason
        for rule in CATALOGUE.rules
        if getattr(row, rule.axis) in rule.barred
        and all(getattr(row, axis) in names for axis, names in rule.when)
    ]


@quick
@given(seed=st.integers(0, 2**63 - 1), preset=st.sampled_from(["balanced", "tmax-v1"]))
def test_the_table_is_never_violated(seed: int, preset: str) -> None:
    rows = list(axes.sample(CATALOGUE, seed, 400, preset=preset))
    assert [reason for row in rows for reason in violated(row)] == []
    assert len({signature(row) for row in rows}) == 400


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, set[str]]:
    domain = draw(st.sampled_from(DOMAINS))
    skill_type = draw(st.sampled_from(CATALOGUE.names("skill_type", domain)))
    own = sorted(value.name for value in CATALOGUE.skills[domain][skill_type])
    others = sorted(set(CATALOGUE.names("skills", domain)) - set(own))
    block = {
        "domain": {domain},
        "skill_type": {skill_type},
        "skills": draw(st.sets(st.sampled_from(own), min_size=3))
        | draw(st.sets(st.sampled_from(others), max_size=3)),
    }
    for axis in cells.CORE:
        if draw(st.booleans()):
            block[axis] = draw(st.sets(st.sampled_from(CATALOGUE.names(axis)), min_size=1))
    return block


def inside(row: axes.Row, block: dict[str, set[str]]) -> bool:
    return all(
        set(row.skills) <= names if axis == "skills" else getattr(row, axis) in names
        for axis, names in block.items()
    )


@settings(max_examples=20)
@given(support=st.lists(blocks(), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_support_is_honoured(support: list[dict[str, set[str]]], seed: int) -> None:
    try:
        plan = fit.plan_of(CATALOGUE, "balanced", support)
    except Misconfigured as error:
        assert "allows no spec" in str(error)
        return
    most = min(200, cells.capacity(list(plan.groups.values())))
    rows = list(axes.sample(CATALOGUE, seed, most, support=support))
    assert len({signature(row) for row in rows}) == most
    for row in rows:
        assert any(inside(row, block) for block in support)
        assert violated(row) == []
        own = {value.name for value in CATALOGUE.skills[row.domain][row.skill_type]}
        assert len(own & set(row.skills)) >= 2
    domains = {name for block in support for name in block["domain"]}
    assert len({row.domain for row in rows[: len(domains)]}) == min(len(domains), most)


def family(domain: str, skill_type: str, **values: set[str]) -> dict[str, set[str]]:
    skills = {value.name for value in CATALOGUE.skills[domain][skill_type]}
    return {"domain": {domain}, "skill_type": {skill_type}, "skills": skills, **values}


NINE = [
    family("security", "input_validation", verifier={"adversarial_corpus"}),
    family("software_engineering", "reverse_engineering", verifier={"fuzz_equivalence"}),
    family("file_operations", "archives", command_complexity={"bash"}, verifier={"exact_text"}),
    family("data_querying", "query_construction", verifier={"exact_text"}),
    family("data_science", "predictive_modelling", verifier={"metric_threshold"}),
    family("debugging", "fault_localisation", fixture={"vendored_package"}),
    family("scientific_computing", "signal_recovery", fixture={"image"}),
    family("data_processing", "record_normalisation", language={"python", "any"}),
    family("system_administration", "service_configuration", fixture={"multi_service"}),
]


def test_one_block_per_domain_keeps_domains_exact_and_the_rest_close() -> None:
    rows = list(axes.sample(CATALOGUE, 0, 900, support=NINE))
    assert set(Counter(row.domain for row in rows).values()) == {100}
    found = axes.balance(rows, CATALOGUE, support=NINE)
    assert found["skill_type"].seen == 9
    assert found["skill_type"].score == pytest.approx(found["skill_type"].reachable)
    assert found["task_complexity"].score >= 0.99
    assert found["verifier"].seen == 5


def test_twelve_specs_of_nine_families_hit_every_verifier() -> None:
    rows = list(axes.sample(CATALOGUE, 0, 12, support=NINE))
    assert len({row.domain for row in rows}) == 9
    assert len({row.verifier for row in rows}) >= 4


TINY = {
    "domain": {"security"},
    "skill_type": {"input_validation"},
    "skills": {"path_canonicalisation", "pattern_matching", "log_triage", "detector_tuning"},
    "persona": {
        "application security reviewer with one day left before a launch",
        "malware analyst looking at a sample nobody has named yet",
    },
    "verifier": {"exact_text"},
    "fixture": {"text_only"},
    "task_complexity": {"short", "moderate"},
    "command_complexity": {"bash"},
    "language": {"bash"},
}
LAP = {
    **TINY,
    "skills": {"pattern_matching", "log_triage", "detector_tuning", "sandbox_profiles"},
    "persona": {"malware analyst looking at a sample nobody has named yet"},
}


@pytest.mark.parametrize(
    ("support", "most"),
    [
        # Four skills give 4 + 1 sets, times two personas and two complexities.
        pytest.param([TINY], 20, id="one block"),
        # The second gives 1 + 3 + 1 sets, one persona, two complexities; one set is in both.
        pytest.param([TINY, LAP], 20 + 10 - 2, id="overlapping blocks"),
        pytest.param([TINY, TINY], 20, id="same block twice"),
    ],
)
def test_every_signature_is_given_out_and_not_one_more(
    support: list[dict[str, set[str]]], most: int
) -> None:
    for seed in range(5):
        rows = list(axes.sample(CATALOGUE, seed, most, support=support))
        assert len({signature(row) for row in rows}) == most
    with pytest.raises(Misconfigured, match=f"{most + 1} specs .* only {most} distinct "):
        axes.sample(CATALOGUE, 0, most + 1, support=support)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param({"preset": "even"}, "preset 'even'.*known: balanced", id="preset"),
        pytest.param({"seed": -1}, "seed -1", id="seed"),
        pytest.param({"n": -1}, "negative", id="n"),
        pytest.param({"support": []}, "allows no spec", id="empty support"),
        pytest.param({"support": [{"domain": ["cooking"]}]}, "domain 'cooking'", id="domain"),
        pytest.param({"support": [{"colour": ["red"]}]}, "axis 'colour'", id="axis"),
        pytest.param(
            {"support": [{"domain": ["security"], "skills": ["sql_joins"]}]},
            "skills 'sql_joins'",
            id="skill of another domain",
        ),
        pytest.param(
            {"support": [{}, {"verifier": ["multi_protocol"], "language": ["bash"]}]},
            "block 2 .* no spec",
            id="ruled out",
        ),
        pytest.param(
            {"support": [{**TINY, "skills": {"log_triage", "unpacking", "disassembly_reading"}}]},
            "two of its own skills",
            id="too few own skills",
        ),
    ],
)
def test_impossible_requests_are_refused_at_once(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        axes.sample(CATALOGUE, **{"seed": 0, "n": 1, **arguments})  # type: ignore[arg-type]


# -- Parquet -----------------------------------------------------------------------------------


def test_specs_survive_parquet(tmp_path: Path, rows: list[axes.Row]) -> None:
    path = tmp_path / "specs.parquet"
    assert axes.write_specs(path, iter(rows[:300])) == 300
    assert axes.read_specs(path) == [axes.spec_of(row) for row in rows[:300]]
    assert pq.read_schema(path).names == [
        "seed",
        "index",
        "slug",
        "domain",
        "skill_type",
        "skills",
        "persona",
        "language",
        "task_complexity",
        "command_complexity",
        "verifier",
        "fixture",
        "catalogue",
    ]
    assert pq.read_schema(path).field("skills").type.value_type == pa.string()
    assert [p.name for p in tmp_path.iterdir()] == ["specs.parquet"]
    assert axes.write_specs(path, []) == 0
    assert axes.read_specs(path) == []


def test_row_and_record_have_one_shape_and_one_name(rows: list[axes.Row]) -> None:
    spec = axes.spec_of(rows[0])
    assert set(type(spec).model_fields) == set(axes.Row._fields)
    assert spec.slug == axes.slug_of(spec) == axes.slug_of(rows[0])


def test_a_failing_source_leaves_the_old_file(tmp_path: Path, rows: list[axes.Row]) -> None:
    path = tmp_path / "specs.parquet"
    axes.write_specs(path, rows[:3])

    def broken() -> object:
        yield rows[0]
        raise RuntimeError("source died")

    with pytest.raises(RuntimeError):
        axes.write_specs(path, broken())  # type: ignore[arg-type]
    assert len(axes.read_specs(path)) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["specs.parquet"]


def test_unwritable_and_unreadable_specs_are_refused(tmp_path: Path, rows: list[axes.Row]) -> None:
    with pytest.raises(Misconfigured, match="cannot be written"):
        axes.write_specs(tmp_path / "no" / "specs.parquet", rows[:1])
    path = tmp_path / "specs.parquet"
    with pytest.raises(Misconfigured, match="does not exist"):
        axes.read_specs(path)
    for content in (b"", b"PAR1", b"PAR1" + bytes(64) + b"PAR1", "säge".encode()):
        path.write_bytes(content)
        with pytest.raises(Misconfigured, match=r"specs\.parquet"):
            axes.read_specs(path)
    pq.write_table(pa.table({"seed": [1]}), path)
    with pytest.raises(Misconfigured, match="does not hold specs"):
        axes.read_specs(path)
    axes.write_specs(path, [rows[0], rows[1]._replace(verifier="exact_textt")])
    with pytest.raises(Misconfigured, match="row 1 was changed"):
        axes.read_specs(path)


# -- bad axis files ----------------------------------------------------------------------------

BAD = [
    # file, text replaced, by what, line, key, reason
    ("verifier", "axis: verifier", "axis: fixture", 2, "axis", "must be verifier"),
    ("verifier", "axis: verifier", "axes: verifier", 2, "document.axes", "not a known key"),
    ("verifier", "text: A measured", "txt: A measured", 7, "values.txt", "not a known key"),
    ("verifier", "name: exact_text\n    text", "name: exact_text\n    name", 5, "name", "twice"),
    ("verifier", "name: exact_text", "name: metric_threshold", 6, "metric_threshold", "twice"),
    ("verifier", "name: exact_text", "name: yes", 4, "values.name", "must be text"),
    ("verifier", "name: exact_text", "name: ../exact", 4, "values.name '../exact'", "letters"),
    ("verifier", "name: exact_text", "name: Exact", 4, "values.name 'Exact'", "lower-case"),
    ("verifier", "name: exact_text", "name: exäct", 4, "values.name 'exäct'", "letters"),
    ("verifier", "The final state is", '"\\e[31mThe"  #', 5, "exact_text.text", "control"),
    ("verifier", "text: The final", "text: [The final", 6, "document", "not YAML"),
    ("verifier", "name: exact_text", "name: &a exact_text", 4, "anchor a", "not allowed"),
    ("verifier", "name: exact_text", "name: *a", 4, "anchor a", "not allowed"),
    ("verifier", "name: exact_text", "name: !!python/name:os.system x", 4, "tag", "not allowed"),
    ("verifier", "text: The final", "text: [[[[[[[[[]]]]]]]]] #", 5, "document", "deeper"),
    ("verifier", "# How a result", "a: 1\n---\n#", 2, "document", "second"),
    ("verifier", "values:\n", "values: []\nx:\n", 4, "document.x", "not a known key"),
    ("domain", "name: security", "name: safety", 4, "values.security", "not in domain.yaml"),
    ("skill_type", "  security:", "  safety:", 4, "values.safety", "not in domain.yaml"),
    ("skill_type", "name: input_validation", "name: input", 6, "input_validation", "skill_type"),
    ("skills", "name: log_triage", "name: disassembly_reading", 31, "disassembly_reading", "twice"),
    ("persona", "  data_science:", "  data_sci:", 48, "values.data_sci", "not in domain.yaml"),
    ("language", "weight: 0.35", "weight: 0.36", 5, "values, weight", "add up to 1.01"),
    ("language", "weight: 0.35", "weight: -0.35", 7, "python.weight", "zero or more"),
    ("language", "weight: 0.35", "weight: .nan", 7, "python.weight", "number"),
    ("language", "weight: 0.35", "weight: true", 7, "python.weight", "must be a number"),
    ("language", "weight: 0.35", "weight: 0", 7, "python.weight", "above 0"),
    ("language", "    weight: 0.35\n", "", 5, "values.weight", "missing"),
    ("task_complexity", "min_commands: 3", "min_commands: 9", 7, "short.max_commands", "below"),
    ("task_complexity", "min_commands: 3", "min_commands: 0", 6, "short.min_commands", "one or"),
    ("task_complexity", "min_commands: 3", "min_commands: 2.5", 6, "min_commands", "whole"),
    (
        "compatibility",
        "[bash, any, python]",
        "[bash, any, perl]",
        14,
        "language.perl",
        "language.y",
    ),
    ("compatibility", "[bash, any, python]", "[bash, bash]", 14, "only.language.bash", "twice"),
    ("compatibility", "only: {language:", "only: {persona:", 14, "only.persona", "not an axis"),
    ("compatibility", "only: {language:", "just: {language:", 14, "rules.1.just", "known key"),
    ("compatibility", "not: {verifier: [fuzz", "reason: {verifier: [fuzz", 20, "reason", "twice"),
    ("compatibility", "[bash, any, python]}", "[any], fixture: [image]}", 14, "only", "one axis"),
    ("compatibility", "only: {language", "only: {command_complexity", 14, "command_complexity", ""),
    ("presets", "short: 0.2454", "short: 0.3", 17, "tmax-v1.weights.task_complexity", "add up"),
    ("presets", "short: 0.2454", "brief: 0.2454", 17, "task_complexity.brief", "not in"),
    ("presets", "name: balanced", "name: even", 6, "presets.balanced", "default"),
    ("presets", "name: tmax-v1", "name: balanced", 9, "presets.balanced", "twice"),
    ("presets", "      verifier:", "      skills:", 21, "weights.skills", "cannot be weighted"),
]


def spoilt(tmp_path: Path, file: str, old: str, new: str) -> Path:
    folder = tmp_path / "axes"
    copytree(share("axes"), folder)
    path = folder / f"{file}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return folder


@pytest.mark.parametrize(("file", "old", "new", "line", "key", "reason"), BAD)
def test_bad_axis_file_is_told_file_line_and_key(
    tmp_path: Path, file: str, old: str, new: str, line: int, key: str, reason: str
) -> None:
    with pytest.raises(Misconfigured) as caught:
        axes.load(spoilt(tmp_path, file, old, new))
    message = str(caught.value)
    where, _, rest = message.partition(f"{line}, ")
    assert where.endswith(".yaml, line "), message
    assert key in rest and reason in rest, message
    assert message.isprintable()


def test_rule_that_leaves_no_room_names_the_value_and_the_rules(tmp_path: Path) -> None:
    old, new = "only: {language: [bash, any, python]}", "only: {language: [rust]}"
    folder = spoilt(tmp_path, "compatibility", old, new)
    file = folder / "compatibility.yaml"
    extra = "  - {when: {language: [rust]}, not: {command_complexity: [bash]}, reason: No.}\n"
    file.write_text(file.read_text() + extra)
    words = r"command_complexity\.yaml, line 4, values\.bash: .*rules \(1, 2, 3, 4, 5, 6, 13,"
    with pytest.raises(Misconfigured, match=words):
        axes.load(folder)


@pytest.mark.parametrize("name", [*axes.AXES, "compatibility", "presets"])
def test_missing_empty_and_undecodable_files_are_named(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "axes"
    copytree(share("axes"), folder)
    path = folder / f"{name}.yaml"
    path.write_bytes(b"axis: x\nvalues: \xff\n")
    with pytest.raises(Misconfigured, match=rf"{name}\.yaml, line 2, document: is not UTF-8"):
        axes.load(folder)
    path.write_bytes(b"# nothing\n")
    with pytest.raises(Misconfigured, match=rf"{name}\.yaml, line 1, document: is empty"):
        axes.load(folder)
    path.write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(Misconfigured, match=rf"{name}\.yaml, line 1, document: has 1048577"):
        axes.load(folder)
    path.unlink()
    with pytest.raises(Misconfigured, match=rf"{name}\.yaml: the axis file is missing"):
        axes.load(folder)
    path.mkdir()
    with pytest.raises(Misconfigured, match=rf"{name}\.yaml: cannot be read"):
        axes.load(folder)


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="does not exist"):
        axes.load(tmp_path / "none")


@settings(max_examples=60)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_in_an_axis_file_end_in_one_sentence(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz") / "axes"
    copytree(share("axes"), folder)
    (folder / "fixture.yaml").write_bytes(content)
    with pytest.raises(Misconfigured, match=r"fixture\.yaml, line \d+"):
        axes.load(folder)


def test_too_many_combinations_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "axes"
    copytree(share("axes"), folder)
    more = "".join(f"  - {{name: kind{number}, text: Kind {number}.}}\n" for number in range(200))
    file = folder / "fixture.yaml"
    file.write_text(file.read_text() + more)
    (folder / "presets.yaml").write_text("presets: [{name: balanced, text: Even., weights: {}}]\n")
    with pytest.raises(Misconfigured, match="combinations, at most 50000"):
        axes.load(folder)
