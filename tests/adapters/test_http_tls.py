"""Encrypted connections: whom they trust, what the user may accept, and how their end is known."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.origin import Origin, Page, RawOrigin, tunnel_to
from tests.wire import CERTIFICATE, client_tls, fetcher, request, server_tls
from tocsin.adapters.http.tls import accepted_of, fingerprint_of, why_untrusted
from tocsin.cli.doctor.machine import examine_authorities
from tocsin.errors import FetchFailed
from tocsin.model import FailureKind
from tocsin.settings import HostRule, HostSettings

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

SHOWN = fingerprint_of(ssl.PEM_cert_to_DER_cert(CERTIFICATE.read_text().partition("-----BEGIN PRIVATE KEY")[0]))
OTHER = "sha256:" + 64 * "0"
UNTIL_THE_END = b"HTTP/1.1 200 OK\r\n\r\nall there is"


async def test_a_certificate_that_the_user_accepted_for_a_host_is_trusted_there() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(accepted={"127.0.0.1": SHOWN}) as client:
        origin.pages["/"] = Page("sealed")

        assert (await client.get(request(origin.url("/")))).body == b"sealed"


async def test_an_accepted_certificate_may_name_somebody_else() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(accepted={"127.0.0.2": SHOWN}) as client:
        await origin.start("127.0.0.2")
        origin.pages["/"] = Page("sealed")

        assert (await client.get(request(origin.url("/", host="127.0.0.2")))).body == b"sealed"


async def test_an_accepted_certificate_is_trusted_on_no_other_host() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(accepted={"127.0.0.2": SHOWN}) as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url("/")))

    assert caught.value.kind == FailureKind.TLS
    assert origin.log == []


async def test_where_one_certificate_is_accepted_no_other_is_even_one_that_authorities_vouch_for() -> None:
    async with (
        Origin(tls=server_tls()) as origin,
        fetcher(accepted={"127.0.0.1": OTHER}, tls=client_tls()) as client,
    ):
        with pytest.raises(FetchFailed, match="not the certificate that the settings accept") as caught:
            await client.get(request(origin.url("/")))

    assert caught.value.kind == FailureKind.TLS
    assert SHOWN in str(caught.value)
    assert origin.log == []


async def test_a_certificate_that_is_not_trusted_is_shown_with_the_line_to_write() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher() as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url("/")))

    said = str(caught.value)
    assert f'write certificate = "{SHOWN}" below [hosts.rules."127.0.0.1"]' in said
    assert "self-signed certificate" in said
    assert "commonName=loopback.example" in said
    assert "until 2126-10-28" in said


async def test_an_accepted_certificate_is_looked_at_through_a_proxy_too() -> None:
    async with (
        Origin(tls=server_tls()) as origin,
        RawOrigin(tunnel_to(origin.port)) as proxy,
        fetcher(accepted={"127.0.0.1": OTHER}) as client,
    ):
        with pytest.raises(FetchFailed, match="not the certificate") as caught:
            await client.get(request(origin.url("/"), proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.TLS


async def test_the_certificate_of_a_proxy_may_be_accepted_too() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"
    async with RawOrigin(answer, tls=server_tls()) as proxy, fetcher(accepted={"127.0.0.1": SHOWN}) as client:
        received = await client.get(request("http://a.example/", proxy=proxy.url("")))

    assert received.body == b"well"


async def test_a_proxy_is_told_who_asks_before_the_site_is() -> None:
    async with Origin(tls=server_tls()) as origin, RawOrigin(b"HTTP/1.1 403 No\r\n\r\n") as proxy, fetcher() as client:
        with pytest.raises(FetchFailed):
            await client.get(request(origin.url("/"), proxy=proxy.url("")))

    assert b"\r\nUser-Agent: Tocsin/test\r\n" in proxy.heads[0]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
@pytest.mark.parametrize("accepted", [{}, {"127.0.0.1": SHOWN}])
async def test_no_version_before_1_2_is_spoken(accepted: dict[str, str]) -> None:
    old = server_tls()
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    async with Origin(tls=old) as origin, fetcher(tls=client_tls(), accepted=accepted) as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url("/")))

    assert caught.value.kind == FailureKind.TLS


async def test_a_text_whose_end_was_said_is_whole() -> None:
    async with RawOrigin(UNTIL_THE_END, tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        answer = await client.get(request(origin.url()))

    assert answer.body == b"all there is"


async def test_a_text_that_ends_where_the_line_was_cut_is_a_failure() -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(UNTIL_THE_END)
        await writer.drain()
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)

    async with RawOrigin(talk, tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        with pytest.raises(FetchFailed, match="without TLS close_notify") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL


async def test_a_text_whose_length_is_known_needs_no_other_end() -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        await writer.drain()
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)

    async with RawOrigin(talk, tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        assert (await client.get(request(origin.url()))).body == b"hello"


def test_fingerprints_are_read_as_tools_print_them() -> None:
    printed = ":".join(SHOWN.removeprefix("sha256:").upper()[i : i + 2] for i in range(0, 64, 2))
    hosts = HostSettings(rules={"Host.Example": HostRule(certificate=f"sha256:{printed}"), "*.b.example": HostRule()})

    assert accepted_of(hosts) == {"host.example": SHOWN}


@pytest.fixture
def no_authorities(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which no certificates of authorities are installed."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))


@pytest.mark.usefixtures("no_authorities")
async def test_where_no_authorities_are_installed_that_is_said_with_the_mend() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher() as client:
        with pytest.raises(FetchFailed, match="this machine has no certificates of authorities: install") as caught:
            await client.get(request(origin.url("/")))

    assert caught.value.kind == FailureKind.TLS


@pytest.mark.usefixtures("no_authorities")
def test_the_doctor_says_that_no_authorities_are_installed() -> None:
    (finding,) = examine_authorities()

    assert "no certificates of authorities" in finding.what
    assert "ca-certificates" in finding.mend


@pytest.mark.parametrize(("code", "said"), [(9, "certificate is not yet valid"), (10, "certificate has expired")])
def test_where_a_certificate_is_not_valid_now_our_clock_is_shown(code: int, said: str) -> None:
    why = why_untrusted(said, code, datetime(2001, 2, 3, 4, 5, tzinfo=UTC), has_authorities=True)

    assert why == f"{said} by the clock of this machine, which shows 2001-02-03 04:05 UTC"
