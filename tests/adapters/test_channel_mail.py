"""The mail channel, against a mail server on loopback."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from typing import Any

import msgspec
import pytest

from tests.alert_examples import examples
from tests.fakes import ManualClock
from tests.hostile.certificates import FOLDER
from tests.mailserver import MailServer
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.mail import MailChannel, MailSettings, MailType
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.http.tls import fingerprint_of
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import DeliveryError, SettingsError
from tocsin.model import JsonObject, SerializedEvent
from tocsin.ports import Notification
from tocsin.settings import NetworkSettings

EXAMPLES = examples()
LOOPBACK = NetworkSettings(allow=("127.0.0.0/8",))


def notification(event: JsonObject = EXAMPLES[0], language: str = "en") -> Notification:
    return Notification(SerializedEvent.of(event), message_of(event, language))


def fingerprint(name: str = "good") -> str:
    pem = (FOLDER / f"{name}.pem").read_text()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(f"{begin}{pem.split(begin)[1].split(end)[0]}{end}\n"))


def settings(port: int, **changes: Any) -> MailSettings:
    values: dict[str, Any] = {
        "type": "mail",
        "host": "127.0.0.1",
        "port": port,
        "tls": "none",
        "sender": "Tocsin <tocsin@example.org>",
        "to": ("desk@example.org",),
    }
    return MailSettings(**(values | changes))


@asynccontextmanager
async def opened(
    port: int, *, network: NetworkSettings = LOOPBACK, accepted: str = "", **changes: Any
) -> AsyncIterator[MailChannel]:
    hosts = {"127.0.0.1": accepted} if accepted else {}
    async with GuardedSessions(network, user_agent="tests", accepted=hosts) as sessions:
        context = ChannelContext(
            sessions.open, ManualClock(), sessions.dial, tls=sessions.tls, connect=sessions.connect
        )
        channel = MailType().open("desk", settings(port, **changes), context)
        try:
            yield channel
        finally:
            await channel.close()


async def failure_of(channel: MailChannel) -> DeliveryError:
    with pytest.raises(DeliveryError) as raised:
        await channel.deliver(notification())
    return raised.value


async def test_an_alert_arrives_as_a_mail_in_text_and_html_that_no_program_answers() -> None:
    async with MailServer() as server, opened(server.port, to=("desk@example.org", "kim@example.org")) as channel:
        await channel.deliver(notification())

    (envelope,), (mail,) = server.got, server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("tocsin@example.org", ["desk@example.org", "kim@example.org"])
    assert mail["Subject"] == "A page: “Bluesday Tuesday” moved from 5 to 6 May 2009"
    assert mail["From"] == "Tocsin <tocsin@example.org>"
    assert mail["To"] == "desk@example.org, kim@example.org"
    assert mail["Message-ID"] == f"<{EXAMPLES[0]['id']}@example.org>"
    assert mail["References"] == mail["In-Reply-To"] == "<tocsin.page.812@example.org>"
    assert (mail["List-Id"], mail["Auto-Submitted"]) == ("<desk.tocsin.example.org>", "auto-generated")
    assert mail["Date"] == "Sat, 21 Nov 2026 08:22:05 +0000"
    text, html = mail.iter_parts()
    assert isinstance(text, EmailMessage)
    assert isinstance(html, EmailMessage)
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert text.get_content().startswith("A page\r\n“Bluesday Tuesday” moved")
    assert "<ins>18</ins>" in html.get_content()


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event["type"])
async def test_a_repeated_mail_has_the_same_bytes(event: JsonObject) -> None:
    async with MailServer() as server, opened(server.port) as channel:
        await channel.deliver(notification(event, "de"))
        await channel.deliver(notification(event, "de"))

    first, second = server.contents
    assert first == second
    assert max(map(len, first.split(b"\r\n"))) <= 78
    assert b"\n" not in first.replace(b"\r\n", b"")


@pytest.mark.parametrize("text", ["", "one line " * 50, ".\n..\nFrom me\n--=_M--\n", "Grüße\n\n", "a\r\nb \n"])
async def test_any_text_arrives_as_it_is(text: str) -> None:
    message = msgspec.structs.replace(message_of(EXAMPLES[0], "en"), id="M", text=text, html=text)
    async with MailServer() as server, opened(server.port) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EXAMPLES[0]), message))

    for part in server.mails[0].iter_parts():
        assert isinstance(part, EmailMessage)
        assert part.get_content().splitlines() == (text.splitlines() or [""])


async def test_mails_of_a_page_are_one_thread_and_others_none() -> None:
    outage = next(event for event in EXAMPLES if event["type"] == "tocsin.outage.began.v1")
    async with MailServer() as server, opened(server.port) as channel:
        for event in (EXAMPLES[0], EXAMPLES[2], outage):
            await channel.deliver(notification(event))

    assert [mail["References"] for mail in server.mails] == [
        "<tocsin.page.812@example.org>",
        "<tocsin.page.812@example.org>",
        None,
    ]


async def test_many_mails_go_over_one_connection() -> None:
    async with MailServer() as server, opened(server.port) as channel:
        for _ in range(20):
            await channel.deliver(notification())

    assert (len(server.got), server.connections) == (20, 1)


async def test_a_server_that_ended_the_idle_connection_is_connected_to_again() -> None:
    async with MailServer() as server, opened(server.port) as channel:
        await channel.deliver(notification())
        server.hang_up()
        await channel.deliver(notification())
        server.answers["MAIL"] = ["421 too many mails on this connection", "250 OK"]
        await channel.deliver(notification())

    assert (len(server.got), server.connections) == (3, 3)


async def test_a_mail_goes_to_all_recipients_or_to_none() -> None:
    async with MailServer() as server, opened(server.port, to=("desk@example.org", "gone@example.org")) as channel:
        server.answers["RCPT gone@example.org"] = ["550 no such user"]
        failure = await failure_of(channel)

    assert (failure.blames, server.got) == ("alert", [])


async def test_a_server_without_starttls_gets_nothing() -> None:
    async with MailServer() as server, opened(server.port, tls="starttls") as channel:
        assert (await failure_of(channel)).blames == "channel"

    assert server.got == []


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"host": ""}, "host"),
        ({"to": ()}, "to"),
        ({"to": ("desk@example.org\r\nBcc: x@y",)}, "to"),
        ({"to": ("desk",)}, "to"),
        ({"sender": ""}, "sender"),
        ({"sender": "Tocsin"}, "sender"),
        ({"sender": "a@example.org\nBcc: b@example.org"}, "sender"),
        ({"user": "kim"}, "password"),
        ({"password": "x"}, "user"),
    ],
)
def test_a_section_that_cannot_work_names_its_key(changes: dict[str, Any], key: str) -> None:
    context: Any = None
    with pytest.raises(SettingsError, match=rf"channels\.desk\.{key}: "):
        MailType().open("desk", settings(25, **changes), context)
