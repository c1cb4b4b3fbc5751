"""Encrypted connections: trust, accepted certificates, resumed sessions, and how their end is known."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes import ManualClock
from tests.origin import Origin, Page, RawOrigin, tunnel_to
from tests.receivers import EVENT, no_dial, no_tls
from tests.wire import CERTIFICATE, client_tls, fetcher, request, server_tls
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.http import tls
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.http.tls import (
    NoAuthorities,
    SessionKey,
    TlsContexts,
    TlsLayer,
    TlsSessions,
    accepted_of,
    fingerprint_of,
    why_untrusted,
)
from tocsin.cli.doctor.surroundings import examine_authorities
from tocsin.errors import DeliveryError, FetchFailed, Shortage
from tocsin.model import FailureKind, SerializedEvent
from tocsin.ports import Notification
from tocsin.settings import HostRule, HostSettings, NetworkSettings

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
async def test_where_no_authorities_are_installed_no_page_and_no_channel_is_to_blame_and_no_host_is_asked() -> None:
    hook = WebhookSettings(type="webhook", url="https://127.0.0.1:1/", secret="raw:of the tests, and long enough")
    network = NetworkSettings(allow=("127.0.0.0/8",))
    async with (
        RawOrigin(UNTIL_THE_END) as origin,
        fetcher() as client,
        GuardedSessions(network, user_agent="tests") as sessions,
    ):
        with pytest.raises(Shortage, match="authorities: none is installed; install ca-certificates"):
            await client.get(request(origin.url(scheme="https")))
        channel = open_channel("hook", hook, ChannelContext(sessions.open, ManualClock(), no_dial, no_tls))
        with pytest.raises(DeliveryError, match="install ca-certificates") as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))
        await channel.close()

    assert caught.value.blames == "ours"
    assert origin.connections == 0


def test_authorities_that_are_installed_while_the_service_runs_are_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(("/nowhere", str(tmp_path))))
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    contexts = TlsContexts({})
    with pytest.raises(NoAuthorities):
        contexts.of("https://example.org/")

    (tmp_path / "0a1b2c3d.0").write_bytes(b"")

    assert contexts.of("https://example.org/") is contexts.of("https://example.net/")


@pytest.mark.usefixtures("no_authorities")
def test_the_doctor_says_that_no_authorities_are_installed() -> None:
    (finding,) = examine_authorities()

    assert "no certificates of authorities" in finding.what
    assert "ca-certificates" in finding.mend


@pytest.mark.parametrize(("code", "said"), [(9, "certificate is not yet valid"), (10, "certificate has expired")])
def test_where_a_certificate_is_not_valid_now_our_clock_is_shown(code: int, said: str) -> None:
    why = why_untrusted(said, code, datetime(2001, 2, 3, 4, 5, tzinfo=UTC))

    assert why == f"{said} by the clock of this machine, which shows 2001-02-03 04:05 UTC"


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


class Listening:
    """A server that closes each connection after its answer, and notes how it began."""

    def __init__(self, version: ssl.TLSVersion) -> None:
        context = server_tls()
        context.maximum_version = version
        self.resumed: list[bool] = []
        self.origin = RawOrigin(self._talk, tls=context)

    async def _talk(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.resumed.append(writer.get_extra_info("ssl_object").session_reused)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("accepted", [{}, {"127.0.0.1": SHOWN}])
async def test_who_is_dialled_again_and_again_is_greeted_shortly(
    version: ssl.TLSVersion, accepted: dict[str, str]
) -> None:
    server = Listening(version)
    async with server.origin as origin, fetcher(tls=client_tls(), accepted=accepted) as client:
        for _ in range(5):
            assert (await client.get(request(origin.url()))).body == b"hi"

    assert server.resumed == [False, False, True, True, True]


async def test_T60_a_fresh_session_resumes_nothing() -> None:
    server = Listening(ssl.TLSVersion.TLSv1_3)
    async with server.origin as origin, fetcher(tls=client_tls()) as client:
        for _ in range(3):
            await client.get(request(origin.url()))
        async with client.fresh() as session:
            for _ in range(3):
                await session.get(request(origin.url()))

    assert server.resumed == [False, False, True, False, False, False]


async def test_a_server_that_forgot_a_session_is_greeted_at_length() -> None:
    first, second = Listening(ssl.TLSVersion.TLSv1_3), Listening(ssl.TLSVersion.TLSv1_3)
    # The port is never free, so that nobody else can have it between the two.
    with socket.create_server(("127.0.0.1", 0)) as bound:
        async with fetcher(tls=client_tls()) as client:
            await first.origin.start(on=bound.dup())
            url = first.origin.url()
            for _ in range(3):
                await client.get(request(url))
            await first.origin.stop()
            await second.origin.start(on=bound.dup())
            for _ in range(2):
                assert (await client.get(request(url))).body == b"hi"
            await second.origin.stop()

    assert (first.resumed[-1], second.resumed) == (True, [False, True])


def session_of(context: ssl.SSLContext) -> ssl.SSLSession:
    """A session that was agreed in this context."""
    session = shaken(context, None).session
    assert session is not None
    return session


def shaken(context: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLObject:
    """A connection of TLS 1.2 with ourselves."""
    wires = [ssl.MemoryBIO() for _ in range(4)]
    serving = server_tls()
    serving.maximum_version = ssl.TLSVersion.TLSv1_2
    server = serving.wrap_bio(wires[0], wires[1], server_side=True)
    client = context.wrap_bio(wires[2], wires[3], server_hostname="127.0.0.1", session=session)
    for side in (client, server, client, server, client):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
        wires[0].write(wires[3].read())
        wires[2].write(wires[1].read())
    return client


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_sessions_are_kept_apart_by_context_name_and_port() -> None:
    one, other = client_tls(), client_tls()
    sessions = TlsSessions(Clock())
    sessions.keep(SessionKey(one, "a.example", 443), session_of(one))

    assert sessions.get(SessionKey(one, "a.example", 443)) is not None
    assert sessions.get(SessionKey(other, "a.example", 443)) is None
    assert sessions.get(SessionKey(one, "b.example", 443)) is None
    assert sessions.get(SessionKey(one, "a.example", 8443)) is None


def test_a_session_is_forgotten_when_its_certificate_has_not_been_seen_for_a_day() -> None:
    context, clock = client_tls(), Clock()
    sessions, key = TlsSessions(clock), SessionKey(context, "a.example", 443)
    sessions.keep(key, session_of(context))

    clock.now_s = tls.LONGEST_SESSION_S - 1
    assert sessions.get(key) is not None
    clock.now_s += 1
    assert sessions.get(key) is None
    assert len(sessions) == 0


def test_the_session_that_was_used_longest_ago_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "MOST_SESSIONS", 2)
    context = client_tls()
    session, sessions = session_of(context), TlsSessions(Clock())
    keys = [SessionKey(context, name, 443) for name in ("a.example", "b.example", "c.example")]
    for key in keys[:2]:
        sessions.keep(key, session)
    sessions.get(keys[0])

    sessions.keep(keys[2], session)

    assert [sessions.get(key) is not None for key in keys] == [True, False, True]


def test_only_who_was_dialled_not_long_ago_is_worth_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "MOST_SEEN", 2)
    context, clock = client_tls(), Clock()
    sessions = TlsSessions(clock)
    first, second, third = (SessionKey(context, name, 443) for name in ("a.example", "b.example", "c.example"))

    assert [sessions.is_worth_it(key) for key in (first, first, second, first)] == [False, True, False, True]
    clock.now_s = tls.WORTH_IT_S + 1
    assert not sessions.is_worth_it(first)
    assert [sessions.is_worth_it(key) for key in (second, third, first)] == [False, False, False]


def test_a_handshake_that_fails_drops_its_session() -> None:
    context = TlsContexts({}, client_tls()).of("https://127.0.0.1/")
    sessions, key = TlsSessions(Clock()), SessionKey(context, "127.0.0.1", 443)
    sessions.keep(key, session_of(context))
    connection = TlsLayer(key, sessions)
    connection.handshake()
    connection.take(b"no TLS at all")

    with pytest.raises(ssl.SSLError):
        connection.handshake()

    assert sessions.get(key) is None


def test_what_is_wrong_behind_encrypted_bytes_takes_nothing_from_them() -> None:
    context = TlsContexts({}, client_tls()).of("https://127.0.0.1/")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_tls().wrap_bio(incoming, outgoing, server_side=True)
    connection, room = TlsLayer(SessionKey(context, "127.0.0.1", 443), None), memoryview(bytearray(100))
    while not connection.handshake():
        incoming.write(connection.pending())
        with suppress(ssl.SSLWantReadError):
            server.do_handshake()
        connection.take(outgoing.read())
    incoming.write(connection.pending())
    server.do_handshake()
    server.write(b"hello")

    connection.take(outgoing.read() + b"HTTP/1.1 200 OK")

    assert bytes(room[: connection.read_into(room)]) == b"hello"
    with pytest.raises(ssl.SSLError):
        connection.read_into(room)


@pytest.mark.parametrize("accepted", [{}, {"a.example": SHOWN}])
def test_a_server_cannot_have_hands_shaken_again_and_again(accepted: dict[str, str]) -> None:
    context = TlsContexts(accepted, client_tls()).of("https://a.example/")

    assert context.options & ssl.OP_NO_RENEGOTIATION
