"""Keys come from the environment, and are in no text that is printed, recorded or raised."""

import os
from collections.abc import Mapping

from pydantic import SecretStr

from envgen.errors import Misconfigured

NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Where each provider's key is looked for; the first that is set counts."""
NO_KEY = "none"
"""What a server that wants no key is sent."""


def key_for(provider: str, *, needed: bool) -> SecretStr:
    """The key of a provider.

    Args:
        provider: `openai` or `gemini`.
        needed: whether there must be one; a server of one's own may want none.

    Raises:
        Misconfigured: there is none.
    """
    for name in NAMES[provider]:
        if value := os.environ.get(name, "").strip():
            return SecretStr(value)
    if needed:
        raise Misconfigured(
            f"no key for {provider}: set {' or '.join(NAMES[provider])} in the environment, or "
            "llm.base_url for a server that needs none"
        )
    return SecretStr(NO_KEY)
