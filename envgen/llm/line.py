"""The line to a server: an HTTP client that stays lean with hundreds of calls in flight.

What comes back over it is tamed before an SDK sees it: no more bytes than an answer can have, as
they are sent (nothing is unpacked), under few headers, and errors as small JSON that any reader
takes. Redirects and cookies are not followed.
"""

import ipaddress
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from envgen.errors import Misconfigured
from envgen.llm.trouble import Seen

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
POOL = 4
"""Connections of one pool. The library's pool looks at all its connections for every request, so
one large pool costs more the more is in flight; many small ones do not."""
IDLE_SECONDS = 60.0
ANSWER_BYTES = 16 << 20
"""Most bytes of the answer to a call; the longest answers of today's models have less than 1 MB."""
FILE_BYTES = 1 << 30
"""Most bytes of what is fetched: the results of a whole batch."""
ERROR_BYTES = 1 << 18
"""Bytes of an error that are looked at."""
ERROR_DEPTH = 200
"""Most brackets of an error that is read as JSON: readers deeper in the stack must manage too."""
HEADERS = frozenset({"date", "retry-after", "retry-after-ms", "content-length"})
UPLOAD = "x-goog-upload-"
"""Headers that are passed on: waits, and Gemini's uploads."""


UNBOUNDED = "unbounded"
"""What an error of the line says about an answer that is larger than any answer, or packed although
it was asked for plain. SDKs let no exception of ours pass."""


class Pools:
    """A transport of several pools, taken in turn; others say how many calls there are."""

    def __init__(self, pools: "list[httpx2.AsyncHTTPTransport]") -> None:
        self.pools = pools
        self._turn = cycle(pools)

    async def handle_async_request(self, request: "httpx2.Request") -> "httpx2.Response":
        """Send on the next pool; the answer is tamed."""
        return await tamed(await next(self._turn).handle_async_request(request), request.method)

    async def __aenter__(self) -> "Pools":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all pools."""
        for pool in self.pools:
            await pool.aclose()


def http_client(base_url: str, seconds: float, in_flight: int) -> "httpx2.AsyncClient":
    """A client that keeps its connections and follows no redirect.

    Raises:
        Misconfigured: the proxy or the certificates that the environment names cannot be used.
    """
    import httpx2

    limits = httpx2.Limits(keepalive_expiry=IDLE_SECONDS)
    try:
        context = httpx2.create_ssl_context()
    except OSError as error:
        raise Misconfigured(
            f"SSL_CERT_FILE or SSL_CERT_DIR: the certificates cannot be read ({error.strerror}): "
            "name a file or folder of PEM certificates, or unset it"
        ) from None
    proxy = proxy_for(base_url)
    try:
        pools = [
            httpx2.AsyncHTTPTransport(verify=context, limits=limits, proxy=proxy)
            for _ in range(-(-in_flight // POOL))
        ]
    except (ImportError, ValueError, httpx2.InvalidURL):
        raise Misconfigured(  # without the address: a password may stand in it
            "the proxy that the environment names cannot be used: write it as http://HOST:PORT "
            "(or socks5://HOST:PORT, with `pip install socksio`), or unset it"
        ) from None
    return httpx2.AsyncClient(
        transport=Pools(pools),  # type: ignore[arg-type]  # the library is imported lazily
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        trust_env=False,
    )


async def tamed(raw: "httpx2.Response", method: str) -> "httpx2.Response":
    """A response that no reader chokes on.

    Args:
        raw: as it arrived.
        method: of its request; what is fetched with GET may be a large file.
    """
    import httpx2

    told = {
        name: text
        for name, text in raw.headers.items()
        if name in HEADERS or name.startswith(UPLOAD)
    }
    told["content-type"] = "application/json"  # and so UTF-8, whatever it was said to be
    packed = raw.headers.get("content-encoding", "identity").lower() != "identity"
    if raw.status_code == 200 and not packed:
        stream = _bounded()(raw, FILE_BYTES if method == "GET" else ANSWER_BYTES)
        return httpx2.Response(200, headers=told, stream=stream)
    try:
        if raw.status_code == 200:
            raise httpx2.ReadError(UNBOUNDED)
        told.pop("content-length", None)
        data = b"" if packed else await _head(raw)
        return httpx2.Response(raw.status_code, headers=told, content=plain_error(data))
    finally:
        await raw.aclose()


@cache
def _bounded() -> "Callable[[httpx2.Response, int], httpx2.AsyncByteStream]":
    """What makes a stream of a response's bytes, whose reading fails beyond so many."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, raw: httpx2.Response, most: int) -> None:
            self.raw = raw
            self.most = most

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = self.most
            async for part in self.raw.aiter_raw():
                left -= len(part)
                if left < 0:
                    raise httpx2.ReadError(UNBOUNDED)
                yield part

        async def aclose(self) -> None:
            await self.raw.aclose()

    return Bounded


async def _head(raw: "httpx2.Response") -> bytes:
    """The first bytes of a response."""
    data = b""
    async for part in raw.aiter_raw():
        data += part
        if len(data) > ERROR_BYTES:
            break
    return data[:ERROR_BYTES]


def plain_error(data: bytes) -> bytes:
    """The body of an error as JSON that any reader takes; what is none as its message."""
    text = data.decode("utf-8", "replace").strip()
    if text.count("[") + text.count("{") <= ERROR_DEPTH:
        with suppress(ValueError, RecursionError):
            return json.dumps(json.loads(text)).encode()
    return json.dumps({"error": {"message": text[:1000]}}).encode()


def proxy_for(base_url: str) -> str | None:
    """The proxy that the system names for an address; never one for this machine."""
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(parts.hostname or ""):
        return None
    found = getproxies()
    proxy = found.get(parts.scheme) or found.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def is_loopback(base_url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_url(base_url: str) -> str:
    """The address, without a slash at its end.

    Raises:
        Misconfigured: no such address can be asked.
    """
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.username
    except ValueError:
        good = False
    if not good:
        raise Misconfigured(
            "llm.base_url: not an address; write it as http://HOST:PORT/v1, without name or "
            "password (keys come from the environment)"
        )
    return base_url.rstrip("/")


def line_seen(provider: str, error: BaseException) -> Seen:
    """What an error of the HTTP library says."""
    import httpx2

    if str(error) == UNBOUNDED:
        return Seen(provider, "unbounded", 200)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Seen(provider, "unreachable")
    if isinstance(error, httpx2.TimeoutException):
        return Seen(provider, "timeout")
    return Seen(provider, "dropped")
