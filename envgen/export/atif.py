"""Trajectories in ATIF, the interchange format of agents' trajectories that Harbor reads (v1.6)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envgen import __version__
from envgen.agent import SUBMIT
from envgen.digest import short
from envgen.records import Episode, Message, Turn

VERSION = "ATIF-v1.6"
"""The oldest that holds all that is written here, so that more clients read it."""


def trajectory(
    opening: Sequence[Message],
    turns: Sequence[Turn],
    model: str,
    session: str,
    about: dict[str, Any],
) -> dict[str, Any]:
    """A trajectory as JSON values.

    Args:
        opening: the first messages.
        session: names the episode.
        about: what else is known of it: ending, reward, sample.
    """
    said = [{"source": m.role, "message": m.text} for m in opening]
    steps = [*said, *map(_step, turns, range(1, len(turns) + 1))]
    return {
        "schema_version": VERSION,
        "session_id": session,
        "agent": {"name": "envgen", "version": __version__, "model_name": model},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {
            "total_prompt_tokens": sum(turn.usage.input for turn in turns),
            "total_completion_tokens": sum(turn.usage.output for turn in turns),
            "total_cached_tokens": sum(turn.usage.cached for turn in turns),
            "total_steps": len(steps),
        },
        "extra": about,
    }


def of(episode: Episode) -> dict[str, Any]:
    """A played episode as JSON values."""
    played, play, score = episode.trajectory, episode.play, episode.score
    if played is None or score is None:
        raise ValueError("an episode that ended in a fault has no trajectory")
    about = {
        "task": episode.slug,
        "sample": play.sample,
        "settings": json.loads(play.settings),
        "ending": played.ending,
        "seconds": played.seconds,
        "reward": score.reward,
        "invalid": score.invalid,
        "receipts": list(episode.keys),
    }
    session = short(play.digest, 32)
    return trajectory(play.opening, played.turns, play.model, session, about)


def write(path: Path, found: dict[str, Any]) -> None:
    """Write a trajectory's JSON values; what is no text, such as half of a pair, is replaced."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", errors="replace")


def _step(turn: Turn, number: int) -> dict[str, Any]:
    """A turn: what was said, as the call that it is, with what came of it."""
    ref = turn.calls[0].ref if turn.calls else f"turn-{number}"
    found: dict[str, Any] = {"source": "agent", "message": turn.text, "metrics": _metrics(turn)}
    if turn.command:
        name = SUBMIT if turn.command == SUBMIT else "bash"
        call = {"tool_call_id": ref, "function_name": name, "arguments": {"command": turn.command}}
        found["tool_calls"] = [call]
    if turn.shown:
        told = {"content": turn.shown}
        found["observation"] = {
            "results": [told | ({"source_call_id": ref} if turn.command else {})]
        }
    return found


def _metrics(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    found: dict[str, Any] = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "cached_tokens": usage.cached,
    }
    if turn.tokens is not None:
        found["completion_token_ids"] = list(turn.tokens.ids)
        found["logprobs"] = list(turn.tokens.logprobs)
    return found
