"""The seven gates. A task is kept only when each was executed and passed."""

from envgen.errors import Fault
from envgen.grade import again, attempt, build_image, check_initial, grade, other_conditions
from envgen.kit import Kit
from envgen.leaks import leaks
from envgen.ledger import Use
from envgen.lint import lint
from envgen.plural import many
from envgen.records import BuiltTask, Evidence, Image, JobResult, Key, Rejection, Score, TaskDraft

GATES = ("lint", "build", "initial", "noop", "reference", "determinism", "leak")
NO_REFERENCE = "no reference: it is not shown that the task can be solved"


async def build(draft: TaskDraft, kit: Kit) -> BuiltTask | Rejection:
    """Take a draft through the gates, in order; the first that fails ends it.

    Raises:
        Weather: the engine is in trouble; the task is unfinished, not rejected.
    """
    image: Image | None = None
    try:
        lint(draft)
        built_key, image, base = await build_image(draft, kit, _use(draft, "build"))
        initial_key = await _initial(draft, image, kit)
        noop_key, untouched = await _noop(draft, image, kit)
        baseline = untouched.reward or 0.0
        reference_keys, outputs, score = await _reference(draft, image, untouched, kit)
        repeat_keys = await _determinism(draft, image, outputs, score, kit)
        found = leaks(draft, image, kit.sandbox.blobs)
        if found and draft.foreign is None:
            raise Fault("leak:found", "; ".join(found[:5]), (built_key,))
    except Fault as fault:
        if image is not None and kit.sandbox.engine.has(image):
            await kit.sandbox.engine.discard(image)
        step = fault.code.partition(":")[0]
        return Rejection(
            spec=draft.spec,
            slug=draft.slug,
            step=step,
            code=fault.code,
            detail=fault.detail,
            proof=fault.proof,
        )
    evidence = (
        Evidence(gate="lint", keys=(), summary="well-formed and safe"),
        Evidence(gate="build", keys=(built_key,), summary=f"adds {image.bytes_added} bytes"),
        Evidence(gate="initial", keys=(initial_key,), summary="holds in a fresh container"),
        Evidence(gate="noop", keys=(noop_key,), summary=f"reward {baseline:g}, not passed"),
        Evidence(
            gate="reference", keys=reference_keys, summary="passed" if outputs else NO_REFERENCE
        ),
        Evidence(
            gate="determinism",
            keys=repeat_keys,
            summary=f"{many(len(repeat_keys), 'repetition')}, all equal"
            + ("" if outputs else ", of the untouched container only"),
        ),
        Evidence(gate="leak", keys=(built_key,), summary=_told(found)),
    )
    return BuiltTask(
        draft=draft,
        image=image,
        base=base,
        evidence=evidence,
        baseline=baseline,
        repeats=len(repeat_keys),
    )


async def _initial(draft: TaskDraft, image: Image, kit: Kit) -> Key:
    key, result = await check_initial(draft, image, kit, _use(draft, "initial"))
    if not result.ok:
        raise Fault("initial:fails", f"{result.status}: {result.output.strip()[-2000:]}", (key,))
    return key


async def _noop(draft: TaskDraft, image: Image, kit: Kit) -> tuple[Key, Score]:
    key, score = await grade(draft, image, None, kit, _use(draft, "noop"))
    if score.reward is None:
        raise Fault("noop:invalid", score.invalid, (key,))
    if score.passed:
        raise Fault("noop:passes", "the untouched container passes", (key,))
    return key, score


async def _reference(
    draft: TaskDraft, image: Image, untouched: Score, kit: Kit
) -> tuple[tuple[Key, ...], str | None, Score]:
    """Receipts, outputs and grade; without a reference no outputs, and the untouched grade."""
    if not draft.solution:
        return (), None, untouched
    use = _use(draft, "reference")
    keys, solved, score = await attempt(draft, image, draft.solution, kit, use)
    if score.reward is None:
        raise Fault("reference:invalid", score.invalid, keys)
    if not score.passed or solved.captured is None:
        raise Fault("reference:fails", f"{explain(score)}\n{_tail(solved)}", keys)
    return keys, solved.captured, score


async def _determinism(
    draft: TaskDraft, image: Image, outputs: str | None, score: Score, kit: Kit
) -> tuple[Key, ...]:
    keys: list[Key] = []
    for repeat in range(1, kit.config.gates.repeats + 1):
        conditions = other_conditions(repeat)
        use = _use(draft, "determinism")
        key, other = await again(draft, image, outputs, kit, use, conditions)
        keys.append(key)
        if other != score:
            raise Fault(
                "determinism:differs",
                f"under {conditions.model_dump()}: {explain(other)}",
                tuple(keys),
            )
    return tuple(keys)


def _told(found: list[str]) -> str:
    """What the scan says of an imported task. The same bytes on both sides may be meant, a pristine
    copy of an input for example, so it is for the audit to show whether they give anything away."""
    if not found:
        return "nothing hidden in any layer"
    shared = many(len(found), "place shares", "places share")
    return f"{shared} bytes with the hidden side: {'; '.join(found[:5])}"


def explain(score: Score) -> str:
    """What a score says, in a few lines."""
    if score.reward is None:
        return f"no verdict: {score.invalid}"
    failed = [f"{c.name} {c.score:g} {c.detail}".strip() for c in score.checks if c.score < 1]
    return f"reward {score.reward:g}; " + "; ".join(failed[:12])


def _tail(result: JobResult) -> str:
    return f"[{result.status}, exit {result.exit_code}] {result.output.strip()[-2000:]}"


def _use(draft: TaskDraft, step: str) -> Use:
    return Use(draft.slug, step)
