"""Does a server enforce schemas? Asked once a run, with a question whose free answer breaks one."""

import json

from envgen.digest import canonical
from envgen.ledger import Use
from envgen.llm import Asked
from envgen.records import Message, Request

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["ochre"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def question(model: str) -> Request:
    """The probe's request: what it asks for and what its schema allows are not the same."""
    text = "Answer with the word blue, in lower case, and nothing else."
    return Request(
        model=model,
        messages=(Message(role="user", text=text),),
        answer_schema=canonical(SCHEMA).decode(),
        temperature=0.0,
        max_tokens=256,
    )


async def enforces_schemas(asked: Asked, model: str) -> bool:
    """Whether an answer keeps to a schema against the question's words."""
    _, answer = await asked.complete(question(model), Use("probe", "schema"))
    try:
        return bool(json.loads(answer.text) == {"colour": "ochre"})
    except (json.JSONDecodeError, RecursionError):
        return False
