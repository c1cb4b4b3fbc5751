"""The fetcher: requests for pages over connections on llhttp, and their errors in the words of the port."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from traceback import clear_frames
from types import TracebackType
from typing import Final, Self

from msgspec.structs import replace

from tocsin.adapters.http.addresses import AddressPolicy, AddressRefused, NameCache
from tocsin.adapters.http.bodies import BodiesTooLarge, BodyBudget, NotDecodable, TooLong, room_for_bodies
from tocsin.adapters.http.deadlines import DeadlineMissed, DeadlineSweep, Phase
from tocsin.adapters.http.llhttp.connection import HttpConnection, NotConnected, ReadBuffers, StaleConnection
from tocsin.adapters.http.llhttp.messages import BrokenAnswer, Disconnected, Origins, SiteOrigin
from tocsin.adapters.http.llhttp.pool import ConnectionPool, Dialler, PoolsByPolicy
from tocsin.adapters.http.tls import TlsContexts, TlsSessions
from tocsin.errors import FetchError, FetchFailed, FetchRefused, Shortage, shortage_of
from tocsin.model import DEMO_HOST, FailureKind, HopRequest, HopResponse
from tocsin.ports import Session
from tocsin.settings import FetchSettings, NetworkSettings
from tocsin.spec.html.urls import without_user_info
from tocsin.spec.infrastructure.unsafe import one_line

_OF_PHASE = {
    Phase.DNS: (FailureKind.DNS, "no answer from DNS"),
    Phase.CONNECT: (FailureKind.CONNECT, "no connection"),
    Phase.TLS: (FailureKind.TLS, "no TLS handshake"),
    Phase.FIRST_BYTE: (FailureKind.TIMEOUT, "no complete header of an answer"),
    Phase.BODY: (FailureKind.TIMEOUT, "no complete body"),
}

_TRANSLATED: tuple[tuple[type[Exception], type[FetchFailed | FetchRefused], FailureKind], ...] = (
    (TooLong, FetchRefused, FailureKind.TOO_LARGE),
    (AddressRefused, FetchRefused, FailureKind.BLOCKED_ADDRESS),
    (BodiesTooLarge, FetchFailed, FailureKind.TOO_LARGE),
    (NotDecodable, FetchFailed, FailureKind.DECODE),
    (BrokenAnswer, FetchFailed, FailureKind.PROTOCOL),
)

# What can go wrong with a request.
EXPECTED: tuple[type[Exception], ...] = (
    DeadlineMissed,
    TooLong,
    BodiesTooLarge,
    NotDecodable,
    BrokenAnswer,
    NotConnected,
    OSError,
    MemoryError,
    ValueError,
)


def translate(url: str, exc: Exception) -> FetchError | Shortage:
    """Give an expected error as FetchFailed or FetchRefused of this URL, or as Shortage where this machine is short."""
    _clear_frames(exc)
    if (shortage := shortage_of(exc)) is not None:
        return shortage
    if isinstance(exc, DeadlineMissed):
        kind, what = _OF_PHASE[exc.phase]
        setting = "total" if exc.total else exc.phase.value
        text = f"{what} within {exc.limit_s:g} s (fetch.deadlines.{setting})"
        return FetchFailed(url, FailureKind.TIMEOUT if exc.total else kind, text)
    if isinstance(exc, NotConnected):
        return FetchFailed(url, exc.kind, str(exc))
    for kind_of_error, translated, kind in _TRANSLATED:
        if isinstance(exc, kind_of_error):
            return translated(url, kind, str(exc))
    # ValueError among others: a URL or a header that is not sent.
    return FetchFailed(url, FailureKind.PROTOCOL, one_line(exc))


def _clear_frames(exc: BaseException | None) -> None:
    """Free the frames of an error, above all the pieces of a body: the error outlives them."""
    while exc is not None:
        clear_frames(exc.__traceback__)
        exc = exc.__cause__


# After this long in an idle connection, the loop has read all that came with the last answer.
RESTED_S: Final = 0.05


class HttpSession:
    """Implements `ports.Session`: one session with its own connections (T59).

    sessions  TLS sessions to be resumed; None: each handshake is a whole one
    """

    # aiohttp costs three times as much for a page and five times for a 304, and bounds on what a server sends need its
    # private attributes. It stays for webhooks, by its public interface (`guarded.py`).

    def __init__(
        self,
        names: NameCache,
        sweep: DeadlineSweep,
        policy: AddressPolicy,
        budget: BodyBudget,
        *,
        origins: Origins,
        buffers: ReadBuffers,
        sessions: TlsSessions | None,
    ) -> None:
        self._sweep, self._policy, self._origins = sweep, policy, origins
        self._pools = PoolsByPolicy(
            policy, lambda held_to: ConnectionPool(Dialler(names, held_to, sweep, budget, buffers, sessions))
        )

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request; see `ports.Session`."""
        began = self._sweep.listening_s()
        if "@" in request.url:
            # The engine alone decides on credentials, and no message may show them.
            request = replace(request, url=without_user_info(request.url))
        connection = answer = proxy = None
        try:
            origin, target = self._origins.split(request.url)
            key: object = origin.key
            if request.proxy is not None:
                proxy, key = self._origins.proxy(request.proxy), (origin.key, request.proxy)
                self._judge_behind_proxy(origin, request)
            head = self._origins.head(origin, target, request, proxy)
            pool = self._pools.of(private=request.private)
            connection = pool.take(key)
            if connection is not None and (
                (connection.idle_since + RESTED_S <= self._sweep.now() and connection.is_quiet)
                or await _becomes_quiet(connection)
            ):
                # A server may close an idle connection while a request is on its way: that is no failure of the page,
                # and it stays one set of requests (T59). Source: RFC 9112, 9.3.1.
                with suppress(StaleConnection):
                    answer = connection.ask(head, request, began, began)
                    return await answer
            with self._sweep.watch(request.total_s, began) as watch:
                connection = await pool.dial(origin, proxy, key, watch)
            await _wait_for_early_bytes(connection)
            answer = connection.ask(head, request, began, self._sweep.listening_s())
            return await answer
        except EXPECTED as exc:
            raise translate(request.url, exc) from exc
        except asyncio.CancelledError:
            if connection is not None:
                connection.give_up(answer)
            raise

    async def close(self) -> None:
        """Close every connection."""
        await self._pools.close()

    @property
    def connections(self) -> int:
        """The number of open connections, busy or idle."""
        return self._pools.connections

    def _judge_behind_proxy(self, origin: SiteOrigin, request: HopRequest) -> None:
        """Judge an address that a proxy would dial; only the proxy learns the addresses of names."""
        if origin.is_address and not request.private and (why := self._policy.refuses(origin.host)) is not None:
            raise AddressRefused(self._policy.refusal(f"{origin.host} {why}", origin.host))


async def _wait_for_early_bytes(connection: HttpConnection) -> None:
    """Let the loop read a new connection; raises Disconnected where the server spoke first, or left."""
    try:
        await _let_loop_read()
    except asyncio.CancelledError:
        connection.abort()
        raise
    if connection.is_over:
        # Bytes before a request are no answer to it.
        how = "spoke before it was asked" if connection.has_spoken else "closed the connection before it answered"
        raise Disconnected(f"the server {how}")


async def _becomes_quiet(connection: HttpConnection) -> bool:
    """Let the loop read what waits in an idle connection; returns False, and closes it, if it ends the connection."""
    await _let_loop_read()
    # TLS records without HTTP, such as a new session ticket, end nothing.
    if connection.is_quiet:
        return True
    connection.close()
    return False


async def _let_loop_read() -> None:
    """Let the loop read what waits in its connections."""
    # What the loop finds in this turn it reads in the next one, at the latest.
    await asyncio.sleep(0)
    await asyncio.sleep(0)


class HttpFetcher:
    """Implements `ports.Fetcher` and, for its shared session, `ports.Session`.

    user_agent    of every request
    accepted      certificates that the user accepted for hosts, as `tls.accepted_of` gives them
    tls           the context of all other encrypted connections; None: the system's authorities
    name_servers  "address" or "address:port" each; None: the system's
    body_room     the most bytes of all bodies in flight together; None: what the settings imply
    demo_port     of loopback, where DEMO_HOST alone leads; 0: it leads nowhere
    Use it as an asynchronous context.
    """

    def __init__(
        self,
        settings: FetchSettings,
        network: NetworkSettings,
        *,
        user_agent: str,
        accepted: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        name_servers: Sequence[str] | None = None,
        body_room: int | None = None,
        demo_port: int = 0,
    ) -> None:
        self._settings = settings
        places = {("http", DEMO_HOST, 80): ("127.0.0.1", demo_port)} if demo_port else None
        self._policy = AddressPolicy(network.allow, places)
        self._budget = BodyBudget(room_for_bodies(settings) if body_room is None else body_room)
        self._tls = TlsContexts(accepted or {}, tls)
        self._name_servers = name_servers
        self._origins, self._buffers = Origins(user_agent, self._tls), ReadBuffers()
        self._names: NameCache | None = None
        self._sweep: DeadlineSweep | None = None
        self._shared: HttpSession | None = None

    async def __aenter__(self) -> Self:
        self._sweep = DeadlineSweep(self._settings.deadlines)
        self._names = NameCache(self._settings.deadlines.dns.total_seconds(), servers=self._name_servers)
        self._shared = self._session(TlsSessions(self._sweep.now))
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shared is not None:
            await self._shared.close()
        if self._names is not None:
            await self._names.close()
        if self._sweep is not None:
            self._sweep.close()
        self._shared = self._names = self._sweep = None

    def shared(self) -> HttpSession:
        """Give the session that all checks share."""
        if self._shared is None:
            raise RuntimeError("the fetcher is used outside its `async with`")
        return self._shared

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Session]:
        """Give a session of its own, for "new connections" (T60): TLS sessions are not resumed either."""
        session = self._session(None)
        try:
            yield session
        finally:
            await session.close()

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request in the shared session."""
        return await self.shared().get(request)

    @property
    def held_bytes(self) -> int:
        """The length of all bodies that are being received, together."""
        return self._budget.held_bytes

    def _session(self, sessions: TlsSessions | None) -> HttpSession:
        names, sweep = self._names, self._sweep
        if names is None or sweep is None:
            raise RuntimeError("the fetcher is used outside its `async with`")

        return HttpSession(
            names,
            sweep,
            self._policy,
            self._budget,
            origins=self._origins,
            buffers=self._buffers,
            sessions=sessions,
        )
