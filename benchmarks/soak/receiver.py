"""Two webhook receivers: one fails at random, one is down for long; both note what reached them before they answer."""

from __future__ import annotations

import base64
import hmac
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from benchmarks.soak.wire import Hangup, Wire, answer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from random import Random

    from benchmarks.soak.wire import Journal, Request

SECRET = "whsec_" + base64.b64encode(b"a secret of the soak, 32 bytes .").decode()
_KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
FLAKY, DOWN = "flaky", "down"
_FAULT = 0.05
_FAULTS = ("500", "429", "hang", "reset", "dies")


class Delivered(NamedTuple):
    """One alert that reached a receiver.

    accepted  the receiver took it; its answer may not have arrived
    """

    life: int
    sink: str
    id: str
    accepted: bool
    is_signed: bool
    event: dict[str, Any]


class Receivers:
    """Answers POSTs to /flaky and /down.

    on_accepted  called when an alert was taken, before the answer
    """

    def __init__(self, chance: Random, journal: Journal) -> None:
        self._chance, self._journal = chance, journal
        self._wire = Wire(self._handle)
        self.is_well = False
        self.is_down = False
        self.life = 0
        self.faults = 0
        self.delivered: list[Delivered] = []
        self.on_accepted: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(None, None, None)

    def url(self, sink: str) -> str:
        """Where a sink's alerts go."""
        return f"http://127.0.0.1:{self._wire.port}/{sink}"

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        sink = request.path.strip("/")
        if sink == DOWN and self.is_down:
            self.faults += 1
            raise Hangup
        fault = self._fault(sink)
        is_accepted = fault in ("", "dies")
        event = json.loads(request.body)
        entry = Delivered(self.life, sink, request.headers["webhook-id"], is_accepted, _is_signed(request), event)
        self._journal.write(**entry._asdict())
        self.delivered.append(entry)
        if is_accepted:
            self.on_accepted()
        match fault:
            case "":
                writer.write(answer(204))
            case "429":
                writer.write(answer(429, Retry_After="1"))
            case "hang":
                await self._wire.idle(3)
                raise Hangup
            case "500":
                writer.write(answer(500, b"not now"))
            case _:
                raise Hangup

    def _fault(self, sink: str) -> str:
        if self.is_well or sink != FLAKY or self._chance.random() >= _FAULT:
            return ""
        self.faults += 1
        return self._chance.choice(_FAULTS)


def _is_signed(request: Request) -> bool:
    """Check the signature as a receiver that never saw the service's code would."""
    headers = request.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    wanted = base64.b64encode(hmac.new(_KEY, signed, sha256).digest()).decode()
    given = [part.partition(",")[2] for part in headers["webhook-signature"].split() if part.startswith("v1,")]
    return any(hmac.compare_digest(wanted, signature) for signature in given)
