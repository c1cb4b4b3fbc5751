"""Receivers of alerts: a webhook's on loopback, and one that only remembers."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import msgspec
from aiohttp import web

from tocsin.errors import DeliveryError
from tocsin.model import JsonObject
from tocsin.ports import Notification

EVENT: JsonObject = {
    "specversion": "1.0",
    "id": "01KAK0000000000000000000AA",
    "source": "tocsin",
    "type": "tocsin.channel.test.v1",
    "subject": "channel:ops",
    "time": "2026-11-21T08:22:05.123Z",
    "datacontenttype": "application/json",
    "data": {"message": "été\n“quoted” 😀"},
}


@dataclass(slots=True)
class Answer:
    """What a receiver answers; `wait` is awaited first."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    wait: Callable[[], Awaitable[object]] | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """One request that came in, and what was answered; names of headers in lower case, `port` is the sender's."""

    method: str
    port: int
    headers: Mapping[str, str]
    body: bytes
    target: str
    status: int = 0

    @property
    def event(self) -> JsonObject:
        event: JsonObject = json.loads(self.body)
        return event


class WebhookReceiver:
    """A webhook's receiver on loopback; gives its answers in order, the last one stays. With `tls` it speaks https."""

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.answers = list(answers) or [Answer()]
        self.got: list[Delivered] = []
        self._runner: web.AppRunner | None = None
        # The same after it was ended and begun again.
        self._port = 0

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=2**24)
        application.router.add_route("*", "/{path:.*}", self._take)
        self._runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=self._tls).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        assert self._port
        scheme = "https" if self._tls is not None else "http"
        return f"{scheme}://127.0.0.1:{self._port}/hook"

    async def _take(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        port = request.transport.get_extra_info("peername")[1] if request.transport is not None else 0
        body = await request.read()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.got.append(Delivered(request.method, port, headers, body, request.path_qs, answer.status))
        if answer.wait is not None:
            await answer.wait()
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)


async def no_dial(host: str, port: int, *, tls: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Stands in for `ChannelContext.dial` where nothing is dialled."""
    raise AssertionError((host, port, tls))


def no_tls(host: str) -> ssl.SSLContext:
    """Stands in for `ChannelContext.tls` where nothing is encrypted."""
    raise AssertionError(host)


class RecordingChannel:
    """Implements ports.Channel: remembers what it was given, and fails as it is told.

    faults  by alert id, "a*" for those that begin so, or "*" for all: what is raised, until it is taken away
    before  awaited ahead of each, where a test wants to look in or to hold it back
    """

    def __init__(self, name: str = "ops") -> None:
        self.name = name
        self.at_once, self.takes_messages = 64, False
        self.given: list[JsonObject] = []
        self.faults: dict[str, DeliveryError] = {}
        self.before: Callable[[JsonObject], Awaitable[None]] | None = None
        self.tried: list[str] = []
        self.closed = False

    async def deliver(self, notification: Notification) -> None:
        event = notification.event
        self.tried.append(event.id)
        given: JsonObject = msgspec.json.decode(event.json)
        if self.before is not None:
            await self.before(given)
        fault = self.faults.get(event.id) or self.faults.get(event.id[0] + "*") or self.faults.get("*")
        if fault is not None:
            raise fault
        self.given.append(given)

    async def close(self) -> None:
        self.closed = True
