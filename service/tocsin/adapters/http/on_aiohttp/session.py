"""A session on aiohttp: what needs a proxy goes this way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from multidict import CIMultiDict
from yarl import URL

from tocsin.adapters.http.deadlines import CURRENT, Phase
from tocsin.adapters.http.decoding import ACCEPTED
from tocsin.adapters.http.llhttp.head import ACCEPT
from tocsin.adapters.http.on_aiohttp.errors import translated
from tocsin.adapters.http.on_aiohttp.pool import ConnectionPool
from tocsin.adapters.http.on_aiohttp.receiving import receive_body
from tocsin.adapters.http.pools import PoolPair
from tocsin.errors import FetchRefused
from tocsin.model import FailureKind, HopRequest, HopResponse
from tocsin.spec.html.urls import without_user_info

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

    from tocsin.adapters.http.addresses import AddressPolicy
    from tocsin.adapters.http.budget import BodyBudget
    from tocsin.adapters.http.deadlines import DeadlineSweep
    from tocsin.adapters.http.resolver import NameCache
    from tocsin.adapters.http.tls import TlsContexts


class AiohttpSession:
    """Implements `ports.Session`: one session with its own connections (T59)."""

    def __init__(
        self,
        names: NameCache,
        sweep: DeadlineSweep,
        policy: AddressPolicy,
        budget: BodyBudget,
        *,
        user_agent: str,
        tls: TlsContexts,
    ) -> None:
        self._sweep, self._policy, self._budget, self._tls = sweep, policy, budget, tls
        self._user_agent = user_agent
        self._pools = PoolPair(policy, lambda held_to: ConnectionPool(names, held_to, sweep))

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request; see `ports.Session`.

        The body of an answer that is no success is nobody's page: it is thrown away, and neither its length nor its
        coding matters.
        """
        if "@" in request.url:
            # The library would send them; whose they are is for the engine to know, and for no message to show.
            request = replace(request, url=without_user_info(request.url))
        pool = self._pools.of(private=request.private)
        tls = request.url.startswith("https:")
        began = self._sweep.listening_s()
        watching = self._sweep.watch(request.total_s, tls=tls, max_wire_bytes=request.max_wire_bytes)
        with translated(request.url), watching as watch:
            token = CURRENT.set(watch)
            try:
                self._judge_behind_proxy(request)
                response = await pool.session.get(
                    _exact(request.url),
                    headers=self._headers(request),
                    proxy=_to_proxy(request.proxy),
                    proxy_headers={"User-Agent": self._user_agent} if request.proxy else None,
                    allow_redirects=False,
                    ssl=self._context(request),
                )
                watch.enter(Phase.BODY)
                try:
                    body = await receive_body(response, request, watch, self._budget)
                finally:
                    self._budget.release(watch)
                    response.close()  # nothing, where the body was read to its end
            finally:
                CURRENT.reset(token)
        return HopResponse(
            url=request.url,
            status=response.status,
            headers=_texts(response.raw_headers),
            body=body.whole,
            wire_bytes=body.wire_bytes,
            elapsed_ms=round((self._sweep.listening_s() - began) * 1000),
            cut=body.is_cut,
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._pools.close()

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return self._pools.connections

    def _headers(self, request: HopRequest) -> CIMultiDict[str]:
        headers = CIMultiDict(request.headers)
        headers.setdefault("User-Agent", self._user_agent)
        headers.setdefault("Accept", ACCEPT)
        # Whatever a page's own headers say: only these can be decoded.
        headers["Accept-Encoding"] = ACCEPTED
        return headers

    def _context(self, request: HopRequest) -> ssl.SSLContext | bool:
        """Give the context of the site, else of its proxy; where both are encrypted, the library takes one for both."""
        if request.url.startswith("https:"):
            return self._tls.of(request.url)
        return self._tls.of(request.proxy) if request.proxy is not None and request.proxy.startswith("https:") else True

    def _judge_behind_proxy(self, request: HopRequest) -> None:
        """Judge an address that a proxy would dial for us; of names, only the proxy learns the addresses."""
        if request.proxy is None or request.private:
            return
        host = URL(request.url, encoded=True).host or ""
        why = self._policy.refuses(host)
        if why is not None and why != "is not an address":
            refusal = self._policy.refusal(f"{host} {why}", host)
            raise FetchRefused(request.url, FailureKind.BLOCKED_ADDRESS, refusal)


def _texts(headers: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Headers as the port has them: names in lower case, values one character for each byte."""
    return tuple((name.decode("latin-1").lower().rstrip(" "), value.decode("latin-1")) for name, value in headers)


def _exact(url: str) -> URL:
    """The URL as it is to stand on the wire; yarl would leave out the question mark of an empty query."""
    exact = URL(url, encoded=True)
    return (
        exact.with_path(f"{exact.raw_path}?", encoded=True) if url.endswith("?") and not exact.query_string else exact
    )


def _to_proxy(address: str | None) -> URL | None:
    """Read the address of a proxy; the library would repeat one that it cannot read, with its password."""
    try:
        return URL(address) if address else None
    except ValueError:
        raise ValueError('no address of a proxy: in a password "/" is %2F, "?" is %3F, and "#" is %23') from None
