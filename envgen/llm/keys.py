"""Keys come from the environment, and are in no text that is printed, recorded or raised.

Nothing else that the SDKs look for there reaches them: what a run asks stands in its configuration.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pydantic import SecretStr

from envgen.errors import Misconfigured

NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Where each provider's key is looked for; the first that is set counts."""
NO_KEY = "none"
"""What a server that wants no key is sent."""
SDK = ("OPENAI_", "AZURE_OPENAI_", "GOOGLE_", "GEMINI_", "CLOUDSDK_", "SSLKEYLOGFILE")
"""How the names begin that the SDKs and their libraries read: keys, organisation, project, headers,
addresses, versions, backends, client certificates, recording, logs, and a file for the secrets of
connections. Not in it are proxies and the certificates of authorities (see `line`)."""


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


@contextmanager
def hidden() -> Iterator[None]:
    """The environment without what the SDKs read from it; they do so when they are imported and
    when a client is made, never later."""
    kept = {name: text for name, text in os.environ.items() if name.startswith(SDK)}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)
