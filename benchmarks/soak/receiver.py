"""Webhook receivers: one fails at random, one is down for long, one refuses a page for ever and loses answers.

Each notes what reached it before it answers.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple, Self

from benchmarks.soak.wire import Hangup, Journal, Request, Wire, answer

SECRET = "whsec_" + base64.b64encode(b"a secret of the soak, 32 bytes .").decode()
_KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
FLAKY, DOWN, STUBBORN = "flaky", "down", "stubborn"
# Gets digests, and fails as the flaky one does.
GATHERED = "gathered"
_FAULT = 0.05
_FAULTS = ("500", "429", "hang", "reset", "dies")
_LOST = 0.2
_LOST_IN_A_ROW = 3
"""The answers to one alert are lost so often at most: the next steps of its page would take longer than a soak."""


class Delivered(NamedTuple):
    """One alert that reached a receiver.

    accepted  the receiver took it; its answer may not have arrived
    at        when, in seconds since 1970
    """

    life: int
    channel: str
    id: str
    accepted: bool
    is_signed: bool
    event: dict[str, Any]
    at: float = 0.0


class Receivers:
    """Answers POSTs to /flaky, /down, /stubborn and /gathered.

    on_accepted  called when an alert was taken, before the answer
    refused      the page whose alerts /stubborn never takes
    """

    def __init__(self, chance: Random, journal: Journal) -> None:
        self._chance, self._journal = chance, journal
        self._wire = Wire(self._handle)
        self.is_well = False
        self.is_down = False
        self.life = 0
        self.faults = 0
        self.delivered: list[Delivered] = []
        self.refused = ""
        self.refusals = 0
        self._lost: Counter[str] = Counter()
        self.on_accepted: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(None, None, None)

    def url(self, channel: str) -> str:
        """Where a channel's alerts go."""
        return f"http://127.0.0.1:{self._wire.port}/{channel}"

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        channel = request.path.strip("/")
        if channel == DOWN and self.is_down:
            self.faults += 1
            raise Hangup
        event = json.loads(request.body)
        fault = self._stubborn_fault(event) if channel == STUBBORN else self._fault(channel)
        is_accepted = fault in ("", "dies")
        id_ = request.headers["webhook-id"]
        entry = Delivered(self.life, channel, id_, is_accepted, _is_signed(request), event, time.time())
        self._journal.write(**entry._asdict())
        self.delivered.append(entry)
        if is_accepted and channel != STUBBORN:
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

    def _fault(self, channel: str) -> str:
        if self.is_well or channel not in {FLAKY, GATHERED} or self._chance.random() >= _FAULT:
            return ""
        self.faults += 1
        return self._chance.choice(_FAULTS)

    def _stubborn_fault(self, event: dict[str, Any]) -> str:
        """Refuse one page for ever, and lose a fifth of the other answers, to the end."""
        if event["subject"] == self.refused:
            self.refusals += 1
            return "500"
        if self._lost[event["id"]] >= _LOST_IN_A_ROW or self._chance.random() >= _LOST:
            return ""
        self._lost[event["id"]] += 1
        self.faults += 1
        return "dies"


def _is_signed(request: Request) -> bool:
    """Check the signature as a receiver that never saw the service's code would."""
    headers = request.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    wanted = base64.b64encode(hmac.new(_KEY, signed, sha256).digest()).decode()
    given = [part.partition(",")[2] for part in headers["webhook-signature"].split() if part.startswith("v1,")]
    return any(hmac.compare_digest(wanted, signature) for signature in given)
