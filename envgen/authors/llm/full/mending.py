"""What a gate saw, and which part of a task is asked again because of it."""

from collections.abc import Sequence
from typing import Literal

from envgen.records import Rejection

Part = Literal["task", "solution", "verifier"]

_BY_CODE: dict[str, Part] = {
    "lint:solution": "solution",
    "lint:tests": "verifier",
    "noop:passes": "verifier",
    "noop:invalid": "verifier",
    "reference:invalid": "verifier",
    "determinism:differs": "verifier",
}


def part_of(rejection: Rejection, before: Sequence[Rejection]) -> Part:
    """The part that is asked again.

    Args:
        rejection: what a gate saw.
        before: the rejections of earlier drafts.

    A reference that ends badly is the solution's fault. One that ends well and is not accepted may
    be anybody's: the verifier is asked first, for it must accept whatever satisfies the
    instruction; then the solution; then the task, whose instruction does not suffice.
    """
    if rejection.code in _BY_CODE:
        return _BY_CODE[rejection.code]
    if rejection.code == "leak:found":
        return "solution" if "of solution/" in rejection.detail else "verifier"
    if rejection.code == "reference:fails":
        if "[done, exit 0]" not in rejection.detail:
            return "solution"
        times = sum(r.code == rejection.code and "[done, exit 0]" in r.detail for r in before)
        order: tuple[Part, ...] = ("verifier", "solution", "task")
        return order[times % 3]
    return "task"


def evidence_for(part: Part, rejection: Rejection) -> str:
    """What that part's author may see of it.

    The solution's author is an agent: it sees its own output, and never what the hidden checks
    found. The others see everything.
    """
    if part == "solution" and rejection.step == "reference":
        _, _, own = rejection.detail.partition("\n")
        return (
            "The script was run, and what it left is not accepted as what the instruction asks "
            f"for. Its own output:\n{own}"
        )
    return f"{_MEANING.get(rejection.code, rejection.step)}\n{rejection.code}: {rejection.detail}"


_MEANING = {
    "noop:passes": "The verifier accepts the untouched container, in which nothing was done.",
    "noop:invalid": "The verifier ended without a verdict on the untouched container.",
    "reference:invalid": "The verifier ended without a verdict on what the solution left.",
    "reference:fails": "The verifier does not accept what the solution left. The solution's author "
    "saw the instruction only. Either the verifier asks for something that the instruction does "
    "not say, or has a fault, or the solution is wrong; mend your part if it may be yours.",
    "determinism:differs": "The same result was graded again, and the grade was another.",
    "leak:found": "Something of the hidden side stands in the image.",
    "initial:fails": "The container is not at the start as the task says.",
}
