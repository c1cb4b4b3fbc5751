"""What the tests of the fetcher share: a fetcher with short deadlines that may dial loopback."""

from __future__ import annotations

import gzip
import ssl
from datetime import timedelta
from pathlib import Path

from msgspec import structs

from tocsin.adapters.http.fetcher import HttpFetcher
from tocsin.model import HopRequest
from tocsin.settings import Deadlines, FetchSettings, NetworkSettings

LOOPBACK = NetworkSettings(allow=("127.0.0.0/8", "::1"))
CERTIFICATE = Path(__file__).parent / "adapters" / "loopback.pem"
"""Self-signed, for 127.0.0.1 and localhost, with its key: known to the world, so of use to nobody."""
PATIENT_S = 60.0
"""A deadline that no test is about: no machine stands still for so long."""


def fetcher(
    *,
    network: NetworkSettings = LOOPBACK,
    tls: ssl.SSLContext | None = None,
    accepted: dict[str, str] | None = None,
    name_servers: list[str] | None = None,
    limits: FetchSettings | None = None,
    dns_s: float = PATIENT_S,
    connect_s: float = PATIENT_S,
    tls_s: float = PATIENT_S,
    first_byte_s: float = PATIENT_S,
) -> HttpFetcher:
    """A fetcher for loopback; only the deadlines that a test is about are short."""
    deadlines = Deadlines(
        dns=timedelta(seconds=dns_s),
        connect=timedelta(seconds=connect_s),
        tls=timedelta(seconds=tls_s),
        first_byte=timedelta(seconds=first_byte_s),
        total=timedelta(seconds=PATIENT_S),
    )
    return HttpFetcher(
        structs.replace(limits or FetchSettings(), deadlines=deadlines),
        network,
        user_agent="Tocsin/test",
        accepted=accepted,
        tls=tls,
        name_servers=name_servers,
    )


def request(
    url: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    total_s: float = PATIENT_S,
    max_body: int = 10 * 2**20,
    max_wire: int = 10 * 2**20,
    proxy: str | None = None,
    private: bool = False,
    cut_at: int | None = None,
) -> HopRequest:
    """A request with the usual caps."""
    return HopRequest(
        url=url,
        headers=headers,
        total_s=total_s,
        max_body_bytes=max_body,
        max_wire_bytes=max_wire,
        proxy=proxy,
        private=private,
        cut_at=cut_at,
    )


def short(value: object) -> str:
    """A parameter as the name of a test carries it: a few letters, the same in each run."""
    name = getattr(value, "__name__", None)
    return str(name or value)[:30]


def zipped(body: bytes) -> bytes:
    """A body coded with gzip, the same bytes each time."""
    return gzip.compress(body, mtime=0)


def server_tls() -> ssl.SSLContext:
    """The context of a server that shows the loopback certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def client_tls() -> ssl.SSLContext:
    """The context of a client that trusts it."""
    return ssl.create_default_context(cafile=str(CERTIFICATE))
