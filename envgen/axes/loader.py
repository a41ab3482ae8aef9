"""Read and check a folder of axis files."""

from pathlib import Path

from envgen.axes.catalogue import FLAT, Catalogue, Preset, Rule, Value
from envgen.axes.cells import MOST_CELLS, grid_of, grid_size, live
from envgen.axes.yamlfile import Node, YamlFile
from envgen.errors import Misconfigured
from envgen.plural import many
from envgen.share import share

FIELDS: dict[str, tuple[str, ...]] = {
    "language": ("name", "text", "weight"),
    "task_complexity": ("name", "text", "min_commands", "max_commands"),
}
LEAST_SKILLS = 3
"""A task names three skills or more."""
LEAST_OWN = 2
"""At least two of them come from its skill type."""

Lines = dict[tuple[str, str], int]


def load(directory: Path | None = None) -> Catalogue:
    """The catalogue in `directory`, or the one that ships with envgen.

    Raises:
        Misconfigured: a file is missing or wrong; names file, line, key, reason and remedy.
    """
    folder = share("axes") if directory is None else directory
    if not folder.is_dir():
        raise Misconfigured(f"axes folder {folder} does not exist; name a folder of axis files")
    lines: Lines = {}
    flat = {axis: _flat(folder, axis, lines) for axis in FLAT}
    domains = tuple(value.name for value in flat["domain"])
    skill_type = _by_domain(folder, "skill_type", domains)
    catalogue = Catalogue(
        flat=flat,
        skill_type=skill_type,
        skills=_skills(folder, {d: tuple(v.name for v in skill_type[d]) for d in domains}),
        persona=_personas(folder, domains),
        rules=_rules(folder, flat),
        presets=_presets(folder, flat),
    )
    _check_reach(folder, catalogue, lines)
    return catalogue


def _open(folder: Path, axis: str) -> tuple[YamlFile, Node]:
    file = YamlFile(folder / f"{axis}.yaml")
    fields = file.fields(file.root, "document", ("axis", "values"))
    if file.text(fields["axis"], "axis") != axis:
        file.fail(fields["axis"], "axis", f"must be {axis}, as the file is named")
    return file, fields["values"]


def _flat(folder: Path, axis: str, lines: Lines) -> tuple[Value, ...]:
    file, node = _open(folder, axis)
    values = _values(file, node, "values", FIELDS.get(axis, ("name", "text")))
    nodes = file.items(node, "values")
    lines.update(
        {(axis, v.name): n.start_mark.line + 1 for v, n in zip(values, nodes, strict=True)}
    )
    if values[0].weight is not None:
        _check_sum(file, node, "values, weight", [value.weight or 0.0 for value in values])
    return values


def _by_domain(folder: Path, axis: str, domains: tuple[str, ...]) -> dict[str, tuple[Value, ...]]:
    file, node = _open(folder, axis)
    fields = _exactly(file, node, "values", domains, "domain.yaml")
    return {d: _values(file, fields[d], f"values.{d}", ("name", "text")) for d in domains}


def _personas(folder: Path, domains: tuple[str, ...]) -> dict[str, tuple[Value, ...]]:
    """A persona is the phrase itself: it goes into instructions as it stands."""
    file, node = _open(folder, "persona")
    fields = _exactly(file, node, "values", domains, "domain.yaml")
    found: dict[str, tuple[Value, ...]] = {}
    for domain in domains:
        key, phrases = f"values.{domain}", dict[str, Value]()
        for item in file.items(fields[domain], key):
            phrase = file.text(item, key)
            if phrase in phrases:
                file.fail(item, f"{key}.{phrase}", "stands here twice; rename or remove one")
            phrases[phrase] = Value(phrase, phrase)
        found[domain] = tuple(phrases.values())
    return found


def _skills(
    folder: Path, types: dict[str, tuple[str, ...]]
) -> dict[str, dict[str, tuple[Value, ...]]]:
    file, node = _open(folder, "skills")
    domains = _exactly(file, node, "values", tuple(types), "domain.yaml")
    skills: dict[str, dict[str, tuple[Value, ...]]] = {}
    for domain, names in types.items():
        key = f"values.{domain}"
        groups = _exactly(file, domains[domain], key, names, "skill_type.yaml")
        skills[domain] = {}
        taken: set[str] = set()
        for name in names:
            group = _values(file, groups[name], f"{key}.{name}", ("name", "text"), taken)
            if len(group) < LEAST_OWN:
                reason = f"has {many(len(group), 'skill')}; a skill type needs {LEAST_OWN} or more"
                file.fail(groups[name], f"{key}.{name}", reason)
            skills[domain][name] = group
        if len(taken) < LEAST_SKILLS:
            reason = f"has {many(len(taken), 'skill')}; a domain needs {LEAST_SKILLS} or more"
            file.fail(domains[domain], key, reason)
    return skills


def _exactly(
    file: YamlFile, node: Node, key: str, names: tuple[str, ...], source: str
) -> dict[str, Node]:
    found = file.keys(node, key)
    for name, (name_node, _) in found.items():
        if name not in names:
            file.fail(name_node, f"{key}.{name}", f"is not in {source}; add it there or remove it")
    for name in names:
        if name not in found:
            file.fail(node, f"{key}.{name}", f"is missing although {source} names it; add it")
    return {name: found[name][1] for name in names}


def _values(
    file: YamlFile, node: Node, key: str, fields: tuple[str, ...], taken: set[str] | None = None
) -> tuple[Value, ...]:
    taken = set() if taken is None else taken
    values = []
    for item in file.items(node, key):
        value = _value(file, item, key, fields)
        if value.name in taken:
            file.fail(item, f"{key}.{value.name}", "stands here twice; rename or remove one")
        taken.add(value.name)
        values.append(value)
    return tuple(values)


def _value(file: YamlFile, item: Node, key: str, fields: tuple[str, ...]) -> Value:
    found = file.fields(item, key, fields)
    name = file.name(found["name"], f"{key}.name")
    key = f"{key}.{name}"
    text = file.text(found["text"], f"{key}.text")
    if "weight" in fields:
        weight = file.number(found["weight"], f"{key}.weight")
        if not 0 < weight <= 1:
            file.fail(found["weight"], f"{key}.weight", "must be above 0 and at most 1")
        return Value(name, text, weight)
    if "min_commands" in fields:
        least = file.integer(found["min_commands"], f"{key}.min_commands")
        most = file.integer(found["max_commands"], f"{key}.max_commands")
        if most < least:
            file.fail(found["max_commands"], f"{key}.max_commands", "is below min_commands")
        return Value(name, text, None, least, most)
    return Value(name, text)


def _check_sum(file: YamlFile, node: Node, key: str, weights: list[float]) -> None:
    total = sum(weights)
    if abs(total - 1) > 1e-6:
        file.fail(node, key, f"the weights add up to {total:.6g}; make them add up to 1")


def _rules(folder: Path, flat: dict[str, tuple[Value, ...]]) -> tuple[Rule, ...]:
    file = YamlFile(folder / "compatibility.yaml")
    node = file.fields(file.root, "document", ("rules",))["rules"]
    return tuple(
        _rule(file, item, f"rules.{number}", flat)
        for number, item in enumerate(file.items(node, "rules"), 1)
    )


def _rule(file: YamlFile, item: Node, key: str, flat: dict[str, tuple[Value, ...]]) -> Rule:
    found = file.fields(item, key, ("when", "reason"), ("only", "not"))
    if ("only" in found) == ("not" in found):
        file.fail(item, key, "must have either `only` or `not`")
    word = "only" if "only" in found else "not"
    when = _sets(file, found["when"], f"{key}.when", flat)
    then = _sets(file, found[word], f"{key}.{word}", flat)
    if len(then) != 1:
        file.fail(found[word], f"{key}.{word}", "must name one axis; write a rule for each")
    axis, named = next(iter(then.items()))
    if axis in when:
        file.fail(found[word], f"{key}.{word}.{axis}", "stands in `when` too; name another axis")
    names = [value.name for value in flat[axis]]
    barred = tuple(name for name in names if (name in named) == (word == "not"))
    return Rule(tuple(when.items()), axis, barred, file.text(found["reason"], f"{key}.reason"))


def _sets(
    file: YamlFile, node: Node, key: str, flat: dict[str, tuple[Value, ...]]
) -> dict[str, tuple[str, ...]]:
    sets: dict[str, tuple[str, ...]] = {}
    for axis, (axis_node, values) in file.keys(node, key).items():
        if axis not in flat:
            known = ", ".join(flat)
            file.fail(axis_node, f"{key}.{axis}", f"is not an axis for rules; known: {known}")
        known_names = [value.name for value in flat[axis]]
        names: list[str] = []
        for item in file.items(values, f"{key}.{axis}"):
            name = file.text(item, f"{key}.{axis}")
            if name not in known_names:
                file.fail(item, f"{key}.{axis}.{name}", f"is not a value in {axis}.yaml")
            if name in names:
                file.fail(item, f"{key}.{axis}.{name}", "stands here twice; remove one")
            names.append(name)
        sets[axis] = tuple(names)
    if not sets:
        file.fail(node, key, "names no axis; name at least one")
    return sets


def _presets(folder: Path, flat: dict[str, tuple[Value, ...]]) -> dict[str, Preset]:
    file = YamlFile(folder / "presets.yaml")
    node = file.fields(file.root, "document", ("presets",))["presets"]
    presets: dict[str, Preset] = {}
    for item in file.items(node, "presets"):
        found = file.fields(item, "presets", ("name", "text", "weights"))
        name = file.name(found["name"], "presets.name")
        key = f"presets.{name}"
        if name in presets:
            file.fail(item, key, "stands here twice; rename or remove one")
        weights = {}
        for axis, (axis_node, shares) in file.keys(found["weights"], f"{key}.weights").items():
            at = f"{key}.weights.{axis}"
            if axis not in flat:
                file.fail(axis_node, at, f"cannot be weighted; known: {', '.join(flat)}")
            names = tuple(value.name for value in flat[axis])
            nodes = _exactly(file, shares, at, names, f"{axis}.yaml")
            weights[axis] = {n: file.number(nodes[n], f"{at}.{n}") for n in names}
            _check_sum(file, shares, at, list(weights[axis].values()))
        presets[name] = Preset(name, file.text(found["text"], f"{key}.text"), weights)
    if "balanced" not in presets:
        file.fail(node, "presets.balanced", "is missing; it is the default, so add it")
    return presets


def _check_reach(folder: Path, catalogue: Catalogue, lines: Lines) -> None:
    """Every value of a flat axis must occur in some combination that the table allows."""
    size = grid_size(catalogue)
    if size > MOST_CELLS:
        raise Misconfigured(
            f"{folder}: the values of verifier, fixture, complexities and language multiply to "
            f"{size} combinations, at most {MOST_CELLS} are handled; use fewer values"
        )
    for axis, name in live(grid_of(catalogue), catalogue):
        line = lines[(axis, name)]
        rules = [
            str(number)
            for number, rule in enumerate(catalogue.rules, 1)
            if any(
                at == axis and name in names for at, names in (*rule.when, (rule.axis, rule.barred))
            )
        ]
        raise Misconfigured(
            f"{folder / axis}.yaml, line {line}, values.{name}: compatibility.yaml leaves no "
            f"combination for it; loosen one of its rules ({', '.join(rules)}, counted from 1)"
        )
