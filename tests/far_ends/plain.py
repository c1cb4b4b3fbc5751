"""Receivers of webhooks, of Apprise and of mail; files, pipes, and the fake."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tests.far_ends.base import CERTIFICATE, PASSWORD, USER, FarEnd
from tests.mailserver import MailServer
from tests.receivers import Answer, RecordingChannel, WebhookReceiver
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.stdout import StdoutChannel
from tocsin.errors import DeliveryError
from tocsin.model import JsonObject
from tocsin.ports import Channel

_OK = 200


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


class WebhookEnd(FarEnd):
    type = "webhook"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        **{str(status): ("alert", f"answered {status}") for status in (400, 401, 403, 404, 413, 415, 422, 499)},
        **{str(status): ("channel", f"answered {status}") for status in (408, 425, 429, 500, 502, 503, 599)},
        **{str(status): ("alert", "channels.ops.url") for status in (301, 302, 307, 308)},
        "410": ("gone", "answered 410"),
    }
    revoked = ("alert", "answered 401")
    _tls: ClassVar[ssl.SSLContext | None] = None

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._receiver = WebhookReceiver(Answer(_OK), tls=self._tls)

    async def start(self) -> None:
        await self._receiver.__aenter__()

    async def kill(self) -> None:
        await self._receiver.__aexit__(None, None, None)

    async def received(self, _at_least: int) -> Sequence[JsonObject]:
        return [self._event(each.body) for each in self._receiver.got if each.status == _OK]

    def section(self) -> dict[str, Any]:
        return {"url": f"{self._receiver.url}/{PASSWORD}", "secret": f"raw:{PASSWORD}"}

    def elsewhere(self, host: str, port: int) -> dict[str, Any]:
        return {"url": f"http://{host}:{port}/{PASSWORD}"}

    async def break_it(self, fault: str) -> None:
        self._receiver.answers = [Answer(int(fault), {"Location": "https://example.org/"})]

    async def mend(self) -> None:
        self._receiver.answers = [Answer(_OK)]

    async def accept(self, password: str) -> None:
        self._receiver.answers = [Answer(_OK if password == PASSWORD else 401)]

    def headers(self) -> list[set[str]]:
        return [set(each.headers) for each in self._receiver.got]

    def _event(self, body: bytes) -> JsonObject:
        event: JsonObject = json.loads(body)
        return event


class EncryptedWebhookEnd(WebhookEnd):
    _tls = server_tls()


class AppriseEnd(WebhookEnd):
    """Its messages' text is the event, as JSON."""

    type = "apprise"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        **{str(status): ("channel", f"error={status}") for status in (401, 429)},
        "400": ("alert", "error=400"),
    }
    revoked = ("channel", "error=401")
    timeout_s = 1.0

    def section(self) -> dict[str, Any]:
        return {"url": f"{self._receiver.url}/{PASSWORD}".replace("http:", "json:")}

    def elsewhere(self, host: str, port: int) -> dict[str, Any]:
        return {"url": f"json://{host}:{port}/{PASSWORD}"}

    def _event(self, body: bytes) -> JsonObject:
        return super()._event(super()._event(body)["message"])


class MailEnd(FarEnd):
    """Its mails' text is the event, as JSON."""

    type = "mail"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        "password": ("channel", "the server does not accept user and password (535)"),
        "MAIL: 451 try later": ("channel", "refuses the sender: 451 try later"),
        "MAIL: 550 not you": ("channel", "refuses the sender: 550 not you"),
        "MAIL: drop": ("channel", ""),
        "RCPT desk@example.org: 450 mailbox is busy": ("channel", "refuses desk@example.org: 450 mailbox is busy"),
        "RCPT desk@example.org: 550 no such user": ("alert", "refuses desk@example.org: 550 no such user"),
        "DATA: 452 disk full": ("channel", "refuses the mail: 452 disk full"),
        "DATA: 554 looks like spam": ("alert", "refuses the mail: 554 looks like spam"),
        "DATA: drop": ("channel", ""),
    }
    revoked = ("channel", "does not accept user and password")
    is_tls_first: ClassVar[bool] = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._server = MailServer(tls=server_tls(), user=(USER, PASSWORD), is_tls_first=self.is_tls_first)
        self._port = 0

    async def start(self) -> None:
        await self._server.start(self._port)
        self._port = self._server.port

    async def kill(self) -> None:
        await self._server.stop()

    async def received(self, _at_least: int) -> Sequence[JsonObject]:
        texts = [mail.get_body(("plain",)) for mail in self._server.mails]
        return [json.loads(text.get_content()) for text in texts if text is not None]

    def section(self) -> dict[str, Any]:
        tls = "tls" if self.is_tls_first else "starttls"
        names = {"sender": "Tocsin <tocsin@example.org>", "to": ["desk@example.org"], "user": USER}
        return {"host": "127.0.0.1", "port": self._port, "tls": tls, "password": PASSWORD, **names}

    def elsewhere(self, host: str, port: int) -> dict[str, Any]:
        return {"host": host, "port": port}

    def mistaken(self, fault: str) -> dict[str, Any]:
        return {"password": "another one"} if fault == "password" else {}

    async def break_it(self, fault: str) -> None:
        command, colon, said = fault.partition(": ")
        if colon:
            self._server.answers = {command: [said]}

    async def mend(self) -> None:
        self._server.answers = {}

    async def accept(self, password: str) -> None:
        self._server.user = (USER, password)
        self._server.hang_up()

    def headers(self) -> list[set[str]]:
        return [set(mail.keys()) for mail in self._server.mails]


class MailTlsEnd(MailEnd):
    is_tls_first = True


class FileEnd(FarEnd):
    type = "file"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {"folder": ("channel", "Is a directory")}

    @property
    def _path(self) -> Path:
        return self.folder / "alerts.jsonl"

    async def start(self) -> None:
        """It is there."""

    async def kill(self) -> None:
        """The same."""

    async def received(self, _at_least: int) -> Sequence[JsonObject]:
        return [json.loads(line) for line in self._path.read_bytes().splitlines()]

    def section(self) -> dict[str, Any]:
        return {"path": str(self._path)}

    async def break_it(self, _fault: str) -> None:
        self._path.unlink(missing_ok=True)
        self._path.mkdir()

    async def mend(self) -> None:
        self._path.rmdir()


class StdoutEnd(FarEnd):
    type = "stdout"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {"closed": ("channel", "standard output: Broken pipe")}

    async def start(self) -> None:
        read_end, self._write_end = os.pipe()
        # As long as the longest line: it is read in one piece.
        self._reader = asyncio.StreamReader(2**20)
        pipe = os.fdopen(read_end, "rb", 0)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), pipe
        )

    async def kill(self) -> None:
        os.close(self._write_end)
        self._transport.close()
        await asyncio.sleep(0)

    async def received(self, at_least: int) -> Sequence[JsonObject]:
        return [json.loads(await self._reader.readline()) for _ in range(at_least)]

    def section(self) -> dict[str, Any]:
        return {}

    async def break_it(self, _fault: str) -> None:
        self._transport.close()
        await asyncio.sleep(0)

    async def mend(self) -> None:
        os.close(self._write_end)
        await self.start()

    def open(self, _context: ChannelContext, /, **_changes: Any) -> Channel:
        return StdoutChannel("ops", timeout_s=60.0, file=self._write_end)


class RecordingEnd(FarEnd):
    """The fake of tests of other parts keeps the same promises."""

    type = "recording"
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {"told": ("channel", "broken")}

    async def start(self) -> None:
        self._channel = RecordingChannel()

    async def kill(self) -> None:
        """It is not running."""

    async def received(self, _at_least: int) -> Sequence[JsonObject]:
        return self._channel.given

    def section(self) -> dict[str, Any]:
        return {}

    async def break_it(self, _fault: str) -> None:
        self._channel.faults["*"] = DeliveryError("ops", "channel", "broken")

    async def mend(self) -> None:
        self._channel.faults.clear()

    def open(self, _context: ChannelContext, /, **_changes: Any) -> Channel:
        return self._channel
