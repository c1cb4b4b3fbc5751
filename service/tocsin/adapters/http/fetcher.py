"""The fetcher: lean connections, and aiohttp's for what goes through a proxy."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.budget import BodyBudget, room_for_bodies
from tocsin.adapters.http.deadlines import DeadlineSweep
from tocsin.adapters.http.llhttp.connection import Room
from tocsin.adapters.http.llhttp.head import Origins
from tocsin.adapters.http.llhttp.sealed import TlsSessions
from tocsin.adapters.http.llhttp.session import LeanSession
from tocsin.adapters.http.resolver import NameCache
from tocsin.adapters.http.tls import TlsContexts
from tocsin.model import DEMO_HOST

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
    from types import TracebackType

    from tocsin.adapters.http.on_aiohttp.session import AiohttpSession
    from tocsin.model import HopRequest, HopResponse
    from tocsin.ports import Session
    from tocsin.settings import FetchSettings, NetworkSettings


class HttpSession:
    """Implements `ports.Session`: one session with its own connections (T59).

    lean          serves what needs no proxy; None: the other one serves everything
    open_proxied  opens what serves the rest
    """

    def __init__(self, lean: LeanSession | None, open_proxied: Callable[[], AiohttpSession]) -> None:
        self._lean, self._open_proxied = lean, open_proxied
        self._proxied: AiohttpSession | None = None

    def get(self, request: HopRequest) -> Coroutine[Any, Any, HopResponse]:
        """Make one request; see `ports.Session`."""
        if request.proxy is None and self._lean is not None:
            return self._lean.get(request)
        if self._proxied is None:
            self._proxied = self._open_proxied()
        return self._proxied.get(request)

    async def close(self) -> None:
        """Close every connection."""
        for session in (self._lean, self._proxied):
            if session is not None:
                await session.close()

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return sum(session.connections for session in (self._lean, self._proxied) if session is not None)


class HttpFetcher:
    """Implements `ports.Fetcher` and, for its shared session, `ports.Session`.

    user_agent    what the requests say that they come from
    accepted      certificates that the user accepted for hosts, as `tls.accepted_of` gives them
    tls           the context of all other encrypted connections; None: the system's authorities
    name_servers  "address" or "address:port" each; None: the system's
    lean          False: aiohttp serves every request, not only those through a proxy
    body_room     so many bytes all bodies in flight may have together; None: what the settings imply
    demo_port     of loopback, to which DEMO_HOST leads, and nothing else does; 0: it leads nowhere
    Use it as an asynchronous context: `async with HttpFetcher(…) as fetcher`.
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
        lean: bool = True,
        body_room: int | None = None,
        demo_port: int = 0,
    ) -> None:
        self._settings = settings
        places = {("http", DEMO_HOST, 80): ("127.0.0.1", demo_port)} if demo_port else None
        self._policy = AddressPolicy(network.allow, places)
        self._budget = BodyBudget(room_for_bodies(settings) if body_room is None else body_room)
        self._user_agent = user_agent
        self._tls = TlsContexts(accepted or {}, tls)
        self._name_servers, self._lean = name_servers, lean
        self._origins, self._room = Origins(user_agent, self._tls), Room()
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
        """The session that all checks share."""
        if self._shared is None:
            raise RuntimeError("the fetcher is used outside its `async with`")
        return self._shared

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Session]:
        """A session of its own, for "new connections" (T60): nothing is resumed either."""
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
        """How long the bodies that are being received are by now, together."""
        return self._budget.held_bytes

    def _session(self, sessions: TlsSessions | None) -> HttpSession:
        names, sweep = self._names, self._sweep
        if names is None or sweep is None:
            raise RuntimeError("the fetcher is used outside its `async with`")

        def open_proxied() -> AiohttpSession:
            from tocsin.adapters.http.on_aiohttp.session import AiohttpSession  # noqa: PLC0415 - 11 MB that few fetchers need

            return AiohttpSession(names, sweep, self._policy, self._budget, user_agent=self._user_agent, tls=self._tls)

        if not self._lean:
            return HttpSession(None, open_proxied)
        lean = LeanSession(
            names, sweep, self._policy, self._budget, origins=self._origins, room=self._room, sessions=sessions
        )
        return HttpSession(lean, open_proxied)
