"""The line to a server: an HTTP client that stays lean with hundreds of calls in flight."""

import ipaddress
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


class Pools:
    """A transport of several pools, taken in turn; others say how many calls there are."""

    def __init__(self, pools: "list[httpx2.AsyncHTTPTransport]") -> None:
        self.pools = pools
        self._turn = cycle(pools)

    async def handle_async_request(self, request: "httpx2.Request") -> "httpx2.Response":
        """Send on the next pool."""
        return await next(self._turn).handle_async_request(request)

    async def __aenter__(self) -> "Pools":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all pools."""
        for pool in self.pools:
            await pool.aclose()


def http_client(base_url: str, seconds: float, in_flight: int) -> "httpx2.AsyncClient":
    """A client that keeps its connections and follows no redirect."""
    import httpx2

    limits = httpx2.Limits(keepalive_expiry=IDLE_SECONDS)
    context = httpx2.create_ssl_context()
    proxy = proxy_for(base_url)
    pools = [
        httpx2.AsyncHTTPTransport(verify=context, limits=limits, proxy=proxy)
        for _ in range(-(-in_flight // POOL))
    ]
    return httpx2.AsyncClient(
        transport=Pools(pools),  # type: ignore[arg-type]  # the library is imported lazily
        follow_redirects=False,
        timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        trust_env=False,
    )


def proxy_for(base_url: str) -> str | None:
    """The proxy that the system names for an address; never one for this machine."""
    parts = urlsplit(base_url)
    if is_loopback(base_url) or proxy_bypass(parts.hostname or ""):
        return None
    found = getproxies()
    return found.get(parts.scheme) or found.get("all")


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

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Seen(provider, "unreachable")
    if isinstance(error, httpx2.TimeoutException):
        return Seen(provider, "timeout")
    return Seen(provider, "dropped")
