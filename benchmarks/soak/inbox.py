"""A mail server or a webhook's receiver as a process of its own, so that it can be killed.

It writes what it takes to a file, on disk, before it answers: `python -m benchmarks.soak.inbox mail PORT FILE`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from email import message_from_bytes
from hashlib import sha256
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from benchmarks.soak.wire import Journal, Request, Wire, answer
from tests.far_ends.servers import Server
from tests.mailserver import MailServer

_ROOT = Path(__file__).parents[2]


class InboxServer(Server):
    """The process of an inbox."""

    program = sys.executable

    @property
    def ports(self) -> tuple[int, ...]:
        """It has no TLS."""
        return (self.port,)

    @property
    def file(self) -> Path:
        """What it took."""
        return self.folder / "taken.jsonl"

    def commands(self) -> list[list[str]]:
        """See Server."""
        return [[sys.executable, "-m", "benchmarks.soak.inbox", self.scheme, str(self.port), str(self.file)]]

    def environ(self) -> dict[str, str]:
        """See Server."""
        return {**super().environ(), "PYTHONPATH": str(_ROOT)}

    def taken(self) -> list[dict[str, Any]]:
        """Read what it took, in order; a line that a kill tore was not answered."""
        lines = self.file.read_bytes().splitlines(keepends=True) if self.file.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]


class MailInbox(InboxServer):
    """Takes every mail."""

    scheme = "mail"


class WebhookInbox(InboxServer):
    """Takes every event."""

    scheme = "webhook"


class NotingMailServer(MailServer):
    """Notes each mail's id, its recipient and its digest."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - its name
        """See MailServer."""
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        id_ = message_from_bytes(content)["Message-ID"].strip("<>").partition("@")[0]
        self._journal.write(id=id_, to=envelope.rcpt_tos[0], event={"mail": sha256(content).hexdigest()})
        return "250 OK"


async def _take_mails(port: int, journal: Journal) -> None:
    await NotingMailServer(journal).start(port)
    await asyncio.Event().wait()


async def _take_events(port: int, journal: Journal) -> None:
    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        journal.write(id=request.headers["webhook-id"], to=request.path.strip("/"), event=json.loads(request.body))
        writer.write(answer(204))

    async with Wire(handle, port):
        await asyncio.Event().wait()


_TAKERS: dict[str, Callable[[int, Journal], Any]] = {"mail": _take_mails, "webhook": _take_events}

if __name__ == "__main__":
    asyncio.run(_TAKERS[sys.argv[1]](int(sys.argv[2]), Journal(Path(sys.argv[3]))))
