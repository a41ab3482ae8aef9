"""How conversations are written in ids, from a tokenizer's own chat template.

The first prompt is rendered by the template. After that nothing is rendered again: what was sampled
stays as it is, and what the terminal says is put behind it in the template's own words between two
turns, which are found by rendering an example. A start check holds that both ways give the same
ids. What people, files and terminals say is encoded as text only: no output can write a turn's end.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envgen.errors import Misconfigured
from envgen.records import Message

_MARKS = ("\ue000{}\ue001", "assistant-said-this")
_WORD = _MARKS[1]


class TemplateChat:
    """A tokenizer with a chat template, as `envgen.agent.Chat`.

    Raises:
        Misconfigured: no tokenizer, no template, or one that is not append-only.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise Misconfigured(f"train.model: {folder} has no tokenizer: {reason}") from None
        if not self._tokenizer.chat_template:
            raise Misconfigured(f"train.model: the tokenizer in {folder} has no chat template")
        after = self._behind([], generate=False)
        end = self._ids(after)[:1]
        if not end or end[0] not in self._tokenizer.all_special_ids:
            raise Misconfigured(
                f"train.model: the chat template in {folder} ends an assistant's turn with "
                f"{after[:20]!r}, which is no special token: turns could not be told apart"
            )
        self.ends: tuple[int, ...] = end
        self._check(folder)

    def opening(self, heard: Sequence[Message]) -> tuple[int, ...]:
        text = self._render(_marked(heard), generate=True)
        return self._filled(text, heard)

    def between(self, heard: Sequence[Message], *, ended: bool) -> tuple[int, ...]:
        ids = self._filled(self._behind(_marked(heard), generate=True), heard)
        return ids[1:] if ended else ids

    def text(self, ids: tuple[int, ...]) -> str:
        said = ids[:-1] if ids and ids[-1] in self.ends else ids
        text: str = self._tokenizer.decode(said, skip_special_tokens=False)
        return text

    # -- the template --------------------------------------------------------------------------

    def _render(self, messages: Sequence[dict[str, str]], *, generate: bool) -> str:
        text: str = self._tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=generate
        )
        return text

    def _behind(self, messages: Sequence[dict[str, str]], *, generate: bool) -> str:
        """What follows an assistant's words, before and with further messages."""
        begun = [{"role": "user", "content": "x"}, {"role": "assistant", "content": _WORD}]
        _, found, after = self._render([*begun, *messages], generate=generate).partition(_WORD)
        if not found:
            raise Misconfigured("the chat template leaves out what the assistant said")
        return after

    def _filled(self, text: str, heard: Sequence[Message]) -> tuple[int, ...]:
        """The ids of a rendered text, whose marks stand for what was said."""
        ids: list[int] = []
        for number, message in enumerate(heard):
            before, found, text = text.partition(_MARKS[0].format(number))
            if not found:
                raise Misconfigured(f"the chat template leaves out a message of {message.role!r}")
            ids += [*self._ids(before), *self._ids(message.text, plain=True)]
        return (*ids, *self._ids(text))

    def _ids(self, text: str, *, plain: bool = False) -> tuple[int, ...]:
        if not text:
            return ()
        found = self._tokenizer(text, add_special_tokens=False, split_special_tokens=plain)
        return tuple(found["input_ids"])

    def _check(self, folder: Path) -> None:
        """Both ways of writing two turns give the same ids; earlier thinking stays."""
        task, shown = Message(role="user", text="Do it."), Message(role="user", text="exit 0")
        begun = [{"role": "user", "content": task.text}]
        told = {"role": "user", "content": shown.text}
        spoken = [*begun, {"role": "assistant", "content": _WORD}]
        before = self._render(spoken, generate=False).partition(_WORD)[0]
        prefilled = self._render(begun, generate=True).removeprefix(before)
        for thought in (prefilled or "<think>\n") + "What is there?\n</think>\n\n", prefilled:
            turn = {"role": "assistant", "content": f"{thought}I look."}
            whole = self._ids(self._render([*begun, turn, told], generate=True))
            sampled = self._ids(turn["content"].removeprefix(prefilled))
            bridge = self.between([shown], ended=True)
            if (*self.opening([task]), *sampled, *self.ends, *bridge) != whole:
                raise Misconfigured(
                    f"train.model: the chat template in {folder} is not append-only: it writes "
                    "two turns otherwise than one turn and what follows (most often because it "
                    "takes out earlier thinking); give the model a chat_template.jinja that keeps "
                    "every turn as it was"
                )


def _marked(heard: Sequence[Message]) -> list[dict[str, str]]:
    return [
        {"role": message.role, "content": _MARKS[0].format(number)}
        for number, message in enumerate(heard)
    ]
