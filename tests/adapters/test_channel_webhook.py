from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.fakes import ManualClock
from tests.origin import RawOrigin
from tests.receivers import EVENT, Answer, WebhookReceiver, no_dial, no_tls
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.signing import doubts_of, new_secret, read_secrets, sign
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.system import SystemClock
from tocsin.errors import DeliveryError
from tocsin.model import SerializedEvent
from tocsin.ports import Channel, Clock, Notification
from tocsin.settings import NetworkSettings

SECRET = "whsec_dG9jc2luLXRlc3RzLXNpZ24td2l0aC10aGlz"
CERTIFICATE = Path(__file__).with_name("loopback.pem")


@asynccontextmanager
async def webhook(
    url: str,
    *,
    secret: str = SECRET,
    headers: dict[str, str] | None = None,
    timeout_s: float = 15,
    clock: Clock | None = None,
    session: Callable[[], aiohttp.ClientSession] = aiohttp.ClientSession,
) -> AsyncIterator[Channel]:
    settings = WebhookSettings(
        type="webhook", url=url, secret=secret, headers=headers or {}, timeout=timedelta(seconds=timeout_s)
    )
    channel = open_channel("ops", settings, ChannelContext(session, clock or ManualClock(), no_dial, no_tls))
    try:
        yield channel
    finally:
        await channel.close()


async def fault_of(answer: Answer, *, clock: Clock | None = None) -> DeliveryError:
    """What a webhook says of this answer."""
    async with WebhookReceiver(answer) as receiver, webhook(receiver.url, clock=clock) as channel:
        with pytest.raises(DeliveryError) as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))
    return caught.value


@pytest.mark.parametrize("secret", [SECRET, SECRET.rstrip("=")])
async def test_a_receiver_can_verify_the_signature_with_a_library_of_its_own(secret: str) -> None:
    async with WebhookReceiver() as receiver, webhook(receiver.url, secret=secret, clock=SystemClock()) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    (delivered,) = receiver.got
    assert Webhook(secret).verify(delivered.body, dict(delivered.headers)) == EVENT


async def test_a_webhook_is_a_cloudevent_in_structured_mode_whose_message_id_is_the_events() -> None:
    clock = ManualClock(1_795_262_400_999_999)
    async with WebhookReceiver() as receiver, webhook(receiver.url, clock=clock) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    (delivered,) = receiver.got
    assert delivered.method == "POST"
    assert delivered.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert delivered.headers["webhook-id"] == EVENT["id"]
    assert delivered.headers["webhook-timestamp"] == "1795262400"


async def test_while_a_secret_is_replaced_a_receiver_may_have_either() -> None:
    new, old = new_secret(), SECRET
    async with (
        WebhookReceiver() as receiver,
        webhook(receiver.url, secret=f"{new}\n{old}\n", clock=SystemClock()) as channel,
    ):
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    (delivered,) = receiver.got
    assert len(delivered.headers["webhook-signature"].split(" ")) == 2
    for secret in (new, old):
        assert Webhook(secret).verify(delivered.body, dict(delivered.headers)) == EVENT
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(delivered.body, dict(delivered.headers))


@given(st.binary(min_size=1, max_size=64), st.booleans(), st.booleans())
def test_a_secret_means_what_libraries_of_receivers_read(key: bytes, is_named: bool, is_padded: bool) -> None:  # noqa: FBT001 - made by hypothesis
    text = b64encode(key).decode()
    secret = f"{'whsec_' if is_named else ''}{text if is_padded else text.rstrip('=')}"

    headers = sign(read_secrets(secret), "id", time.time_ns() // 1000, b"{}")

    assert Webhook(secret).verify(b"{}", headers) == {}


def test_the_characters_of_a_secret_are_the_key_where_it_says_so() -> None:
    assert read_secrets("raw:a secret, plainly") == (b"a secret, plainly",)


@pytest.mark.parametrize("secret", ["whsec_", "whsec_***", "whsec_A", "a secret, plainly", "été", "raw:", "", "\n"])
def test_a_secret_that_can_mean_nothing_is_refused_with_the_mend(secret: str) -> None:
    with pytest.raises(ValueError, match="`tocsin channel secret NAME` makes one") as caught:
        read_secrets(secret)

    assert "plainly" not in str(caught.value)


@pytest.mark.parametrize(
    ("secret", "words"),
    [(SECRET, []), (SECRET.removeprefix("whsec_"), ["no whsec_"]), ("raw:short", ["shorter than 24 bytes"])],
)
def test_what_a_receiver_may_think_of_a_secret_is_told(secret: str, words: list[str]) -> None:
    doubts = doubts_of(secret)

    assert len(doubts) == len(words)
    assert all(word in doubt for word, doubt in zip(words, doubts, strict=True))


def test_the_same_message_at_another_time_has_another_signature() -> None:
    first, second = (sign([b"key"], "id", seconds * 1_000_000, b"{}") for seconds in (1, 2))

    assert first["webhook-signature"] != second["webhook-signature"]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_accepts(status: int) -> None:
    async with WebhookReceiver(Answer(status)) as receiver, webhook(receiver.url) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_and_is_a_failure_of_the_alert(status: int) -> None:
    async with WebhookReceiver() as elsewhere:
        fault = await fault_of(Answer(status, {"Location": elsewhere.url}))

    assert fault.blames == "alert"
    assert "channels.ops.url" in str(fault)
    assert elsewhere.got == []


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), ("Sat, 21 Nov 2026 12:01:30 GMT", 90), ("soon", None)],
)
async def test_retry_after_is_passed_on(value: str, seconds: int | None) -> None:
    fault = await fault_of(Answer(429, {"Retry-After": value}), clock=ManualClock(1_795_262_400_000_000))

    assert fault.retry_after == (timedelta(seconds=seconds) if seconds is not None else None)


async def test_a_receiver_that_speaks_no_TLS_is_a_failure_of_the_channel() -> None:
    async with WebhookReceiver() as receiver, webhook(receiver.url.replace("http:", "https:")) as channel:
        with pytest.raises(DeliveryError, match="no connection") as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert caught.value.blames == "channel"


@pytest.mark.parametrize(
    ("said", "told"), [(b"SSH-2.0-OpenSSH\r\n\r\n", "not an answer of HTTP"), (b"", "ServerDisconnectedError")]
)
async def test_what_answers_no_HTTP_is_told_without_the_secret_in_the_URL(said: bytes, told: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with webhook(f"http://127.0.0.1:{port}/hook/s3cr3t") as channel:
            with pytest.raises(DeliveryError) as caught:
                await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert (caught.value.blames, caught.value.detail) == ("channel", told)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://example.org/hook/s3cr3t?s3cr3t", "(to https://example.org/***)"),
        ("https://s3cr3t:s3cr3t@example.org:99/", "(to https://example.org:99/***)"),
        ("/hook/s3cr3t", "(to /***)"),
        ("http://[::1/s3cr3t", "(to /***)"),
    ],
)
async def test_where_a_redirect_goes_is_told_without_the_secret_in_it(location: str, shown: str) -> None:
    fault = await fault_of(Answer(307, {"Location": location}))

    assert shown in fault.detail
    assert "s3cr3t" not in fault.detail


async def test_a_delivery_may_take_as_long_as_the_channels_own_timeout_says() -> None:
    def session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1e-9))

    async with WebhookReceiver() as receiver, webhook(receiver.url, session=session) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert len(receiver.got) == 1


async def test_an_answer_with_an_endless_body_counts_by_its_status() -> None:
    async with WebhookReceiver(Answer(200, body=b"x" * 2**22)) as receiver, webhook(receiver.url) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert len({delivered.port for delivered in receiver.got}) == 2, "the rest of the body is not waited for"


async def test_configured_headers_are_sent() -> None:
    async with WebhookReceiver() as receiver, webhook(receiver.url, headers={"Authorization": "Bearer x"}) as channel:
        await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert receiver.got[0].headers["authorization"] == "Bearer x"


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 103 Early Hints\r\n\r\n" * 6, b"HTTP/1.1 204 No\r\n" + b"X: y\r\n" * 9000 + b"\r\n"]
)
async def test_a_receiver_that_floods_is_a_failure_of_the_channel(answer: bytes) -> None:
    async with (
        RawOrigin(answer) as receiver,
        GuardedSessions(NetworkSettings(allow=("127.0.0.0/8",)), user_agent="Tocsin") as sessions,
        webhook(receiver.url(), session=sessions.open) as channel,
    ):
        with pytest.raises(DeliveryError) as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert caught.value.blames == "channel"


async def test_connections_are_used_again() -> None:
    async with WebhookReceiver() as receiver, webhook(receiver.url) as channel:
        for _ in range(3):
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert len({delivered.port for delivered in receiver.got}) == 1
