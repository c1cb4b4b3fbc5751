"""Sessions for configured URLs, such as webhooks: the same judgement of every address that is dialled."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.on_aiohttp.handler import HandledConnector
from tocsin.adapters.http.on_aiohttp.judged import JudgedResolver
from tocsin.adapters.http.resolver import AddressRefused, NameCache
from tocsin.adapters.http.tls import TlsContexts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from aiohappyeyeballs import AddrInfoType
    from yarl import URL

    from tocsin.settings import NetworkSettings

_DNS_S = 5.0


class GuardedSessions:
    """Opens plain client sessions that dial only what `network.allow` lets them; their users close them.

    accepted  certificates that the user accepted for hosts, as `tls.accepted_of` gives them
    Bodies of answers stay as they came: nothing of them is inflated.
    Use it as an asynchronous context, around the lives of its sessions.
    """

    def __init__(self, network: NetworkSettings, *, user_agent: str, accepted: Mapping[str, str] | None = None) -> None:
        self._policy, self._user_agent = AddressPolicy(network.allow), user_agent
        self._tls = TlsContexts(accepted or {})
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
        tls = self._tls

        class Request(aiohttp.ClientRequest):
            """Uses the context of its own host."""

            def __init__(self, method: str, url: URL, **options: Any) -> None:
                if url.scheme == "https":
                    options["ssl"] = tls.of(str(url))
                super().__init__(method, url, **options)

        connector = HandledConnector(
            resolver=JudgedResolver(self._names, self._policy), use_dns_cache=False, socket_factory=self._dial
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent},
            auto_decompress=False,
            request_class=Request,
        )

    def _dial(self, target: AddrInfoType) -> socket.socket:
        """Open the socket of a connection: literals come here without having been resolved."""
        family, kind, protocol, _, address = target
        why = self._policy.refuses(str(address[0]))
        if why is not None:
            raise AddressRefused(self._policy.refusal(f"{address[0]} {why}", str(address[0])))
        return socket.socket(family, kind, protocol)
