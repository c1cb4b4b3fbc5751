"""Client sessions of aiohttp for configured URLs, such as webhooks: every address is judged when it is dialled."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
from aiohappyeyeballs import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from tocsin.adapters.http.addresses import AddressPolicy, AddressRefused, NameCache, NameNotResolved, judged
from tocsin.adapters.http.tls import TlsContexts
from tocsin.settings import NetworkSettings

# A name server that is down must not take the whole deadline of a delivery.
_DNS_S: Final = 5.0


class DialledWriter(asyncio.StreamWriter):
    """Fails as a connection does where it was closed.

    asyncio drops what is written then. uvloop raises RuntimeError, which no client library expects: it ended the
    service where a server closed between two commands.
    """

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write; raises ConnectionResetError."""
        try:
            super().write(data)
        except RuntimeError as exc:
            raise ConnectionResetError("the connection was closed") from exc

    def writelines(self, data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Write all of these; raises ConnectionResetError."""
        try:
            super().writelines(data)
        except RuntimeError as exc:
            raise ConnectionResetError("the connection was closed") from exc


async def _open_stream(
    address: str, port: int, tls: ssl.SSLContext | None, server_name: str | None
) -> tuple[asyncio.StreamReader, DialledWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, address, port, ssl=tls, server_hostname=server_name)
    return reader, DialledWriter(transport, protocol, reader, loop)


class GuardedSessions:
    """Opens client sessions that dial only what `network.allow` lets them; their users close them.

    accepted  certificates that the user accepted for hosts, as `tls.accepted_of` gives them
    Use it as an asynchronous context that outlives its sessions.
    """

    def __init__(self, network: NetworkSettings, *, user_agent: str, accepted: Mapping[str, str] | None = None) -> None:
        self._policy, self._user_agent = AddressPolicy(network.allow), user_agent
        self._tls = TlsContexts(accepted or {})
        self._tls_of_dialled = TlsContexts(accepted or {}, offers="")
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
        """Open a session; it uses no proxies of the environment, and does not inflate bodies."""
        if self._names is None:
            raise RuntimeError("the sessions are used outside their `async with`")
        tls = self._tls

        class Request(aiohttp.ClientRequest):
            """Uses the TLS context of its own host."""

            def __init__(self, method: str, url: URL, **options: Any) -> None:
                if url.scheme == "https":
                    options["ssl"] = tls.of(str(url))
                super().__init__(method, url, **options)

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_JudgedResolver(self._names, self._policy),
                use_dns_cache=False,  # NameCache is one, bounded and by the answers' own times
                socket_factory=self._open_socket,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent},
            auto_decompress=False,
            request_class=Request,
        )

    async def dial(self, host: str, port: int, *, tls: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a host for another protocol than HTTP; see `Dial` in `adapters/channels`."""
        error: OSError = NameNotResolved(f"the name {host} has no address")
        for address in await self.addresses(host):
            try:
                return await _open_stream(address, port, self.tls(host) if tls else None, host if tls else None)
            except OSError as exc:
                error = exc
        raise error

    def tls(self, host: str) -> ssl.SSLContext:
        """Give the context for TLS with a host for another protocol than HTTP."""
        return self._tls_of_dialled.of(f"https://{_bracketed(host)}/")

    async def connect(self, host: str, port: int) -> socket.socket:
        """Connect to a host, and give the socket; see `ChannelContext` in `adapters/channels`."""
        error: OSError = NameNotResolved(f"the name {host} has no address")
        for address in await self.addresses(host):
            sock = socket.socket(_family(address), socket.SOCK_STREAM)
            try:
                sock.settimeout(0)
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
            except OSError as exc:
                sock.close()
                error = exc
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise error

    async def addresses(self, host: str) -> list[str]:
        """Give the addresses of a host that may be dialled; raises NameNotResolved or AddressRefused."""
        if self._names is None:
            raise RuntimeError("the sessions are used outside their `async with`")
        try:
            found: Sequence[str] = (str(ip_address(host)),)
        except ValueError:
            found = await self._names.addresses(host)
        return judged(host, found, self._policy)

    def _open_socket(self, target: AddrInfoType) -> socket.socket:
        """Open the socket of a connection; addresses in URLs come here without a resolver."""
        family, kind, protocol, _, address = target
        why = self._policy.refuses(str(address[0]))
        if why is not None:
            raise AddressRefused(self._policy.refusal(f"{address[0]} {why}", str(address[0])))
        return socket.socket(family, kind, protocol)


class _JudgedResolver(AbstractResolver):
    """Gives aiohttp only addresses that may be dialled."""

    def __init__(self, names: NameCache, policy: AddressPolicy) -> None:
        self._names, self._policy = names, policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Give the addresses of the name that may be dialled; raises NameNotResolved or AddressRefused."""
        found = [
            address for address in await self._names.addresses(host) if family in {_family(address), socket.AF_UNSPEC}
        ]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=_family(address),
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in judged(host, found, self._policy)
        ]

    async def close(self) -> None:
        """Do nothing: the cache belongs to GuardedSessions."""


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
