"""Sessions for configured URLs, such as webhooks: the same judgement of every address that is dialled."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Self

import aiohttp

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.resolver import AddressRefused, JudgedResolver, NameCache, refusal

if TYPE_CHECKING:
    from types import TracebackType

    from aiohappyeyeballs import AddrInfoType

    from tocsin.settings import NetworkSettings

_DNS_S = 5.0


class GuardedSessions:
    """Opens plain client sessions that dial only what `network.allow` lets them; their users close them.

    Use it as an asynchronous context, around the lives of its sessions.
    """

    def __init__(self, network: NetworkSettings, *, user_agent: str) -> None:
        self._policy, self._user_agent = AddressPolicy(network.allow), user_agent
        self._names: NameCache | None = None

    async def __aenter__(self) -> Self:
        self._names = NameCache(_DNS_S)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._names is not None:
            await self._names.close()
        self._names = None

    def open(self) -> aiohttp.ClientSession:
        """Open a session; proxies of the environment are not used."""
        if self._names is None:
            raise RuntimeError("the sessions are used outside their `async with`")
        connector = aiohttp.TCPConnector(
            resolver=JudgedResolver(self._names, self._policy), use_dns_cache=False, socket_factory=self._dial
        )
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers={"User-Agent": self._user_agent}
        )

    def _dial(self, target: AddrInfoType) -> socket.socket:
        """Open the socket of a connection: literals come here without having been resolved."""
        family, kind, protocol, _, address = target
        why = self._policy.refuses(str(address[0]))
        if why is not None:
            raise AddressRefused(refusal(f"{address[0]} {why}"))
        return socket.socket(family, kind, protocol)
