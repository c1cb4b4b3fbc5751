"""`/events`: alerts as they are published; readers lose none across reconnects and restarts."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Final, Literal
from unicodedata import normalize

import msgspec
from fastapi import APIRouter, Depends, Header, Query, Request
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tocsin import events as kinds
from tocsin.engine.alerting.matching import AlertFacts, Matcher
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import AlertQuery, AlertRow, JsonObject
from tocsin.ports import AlertStore
from tocsin.server.access.guard import who_is
from tocsin.server.matching import Matching
from tocsin.server.parts import SENDER, Caller, Given, Parts, Reading
from tocsin.server.problems import Problem, answer

# The newest alerts, read once for all readers; readers further behind read from the store.


# Browsers reconnect after this pause.
RETRY_MS: Final = 3000
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_DATA: Final = b"\ndata: "
# JSON escapes the line ends of the format; these are line ends for other programs.
_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
HEARTBEAT: Final = b":\n\n"  # A comment, which keeps proxies from closing an idle stream; readers ignore it.


def opening(position: int | None) -> bytes:
    """Begin a stream: the delay before a reconnect, and the position of a stream with numbered events.

    A number without data is no event, but the reader sends it when it reconnects: nothing is lost if the stream ends
    before its first event.
    """
    return b"retry: %d\n\n" % RETRY_MS + (numbered(position) if position is not None else b"")


def numbered(position: int) -> bytes:
    """Send the position, after events that were filtered out."""
    return b"id: %d\n\n" % position


def block(kind: str, data: JsonObject, position: int | None = None) -> bytes:
    """Write one event.

    kind      its type; an unknown one becomes "message"
    position  its number, which readers send when they reconnect; None for events that cannot be repeated
    """
    body = msgspec.json.encode(data)
    for end, escaped in _ENDS:
        body = body.replace(end, escaped)
    name = kind if _NAME.fullmatch(kind) else "message"
    head = b"id: %d\n" % position if position is not None else b""
    return b"%sevent: %s%s%s\n\n" % (head, name.encode(), _DATA, body)


MOST_BYTES: Final = 4 * 2**20  # Bytes of the newest alerts in memory, shared by all readers.
_TOGETHER: Final = 16
_ALONE: Final = 4  # Alerts that a reader who is behind reads at once; an event has up to 256 KiB.


class StreamedAlert(Struct, frozen=True):
    """An alert as an event, with the values that readers filter by."""

    position: int
    type: str
    group: str | None
    page_id: int | None
    outcome: str | None
    block: bytes

    def facts(self) -> AlertFacts:
        """Read what matchers ask; few readers have one, and events take much more memory than their blocks."""
        return AlertFacts(self.type, msgspec.json.decode(self.block.partition(_DATA)[2]))


class Tail:
    """Reads alerts by position, in order."""

    def __init__(self, store: AlertStore) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._kept: list[StreamedAlert] = []
        self._from = self._to = -1
        self._is_whole = False
        self._bytes = 0

    async def newest(self) -> int:
        """Return the position of the newest alert; 0 without any."""
        rows = await self._store.alerts(limit=1)
        return rows[0].position if rows else 0

    async def after(self, position: int) -> Sequence[StreamedAlert]:
        """Return some alerts after this position; empty if there are none yet."""
        if self._from <= position < self._to:
            return self._after(position)
        if position < self._from:
            return [told_of(row) for row in await self._store.after(position, limit=_ALONE)]
        async with self._lock:
            if position > self._to:
                self._kept, self._bytes, self._from, self._to = [], 0, position, position
                self._is_whole = False
            if position == self._to:
                rows = await self._store.after(position, limit=_TOGETHER)
                self._keep([told_of(row) for row in rows])
                # Only a batch that is not full reaches the newest alert.
                self._is_whole = len(rows) < _TOGETHER
            return self._after(position)

    def is_read_to(self, position: int) -> bool:
        """Say whether the last read found nothing after this position."""
        return self._is_whole and position == self._to

    def _after(self, position: int) -> Sequence[StreamedAlert]:
        first = bisect_right(self._kept, position, key=_position)
        return self._kept[first : first + _TOGETHER]

    def _keep(self, new: list[StreamedAlert]) -> None:
        if not new:
            return
        self._kept += new
        self._to = new[-1].position
        self._bytes += sum(len(told.block) for told in new)
        gone = 0
        while self._bytes > MOST_BYTES and gone < len(self._kept) - len(new):
            self._bytes -= len(self._kept[gone].block)
            self._from = self._kept[gone].position
            gone += 1
        del self._kept[:gone]


def told_of(row: AlertRow) -> StreamedAlert:
    """Make the event of an alert."""
    data: JsonObject = row.event.get("data") or {}
    page: Any = data.get("page")
    group = page.get("group") if isinstance(page, dict) else None
    return StreamedAlert(
        row.position,
        row.type,
        group,
        row.page_id,
        data.get("outcome"),
        block(row.type, row.event, row.position),
    )


def _position(told: StreamedAlert) -> int:
    return told.position


# The counters cost four queries, and all open streams share them.
EVERY_S: Final = 1.0


class Counters:
    """Counters that are at most a second old."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = asyncio.Lock()
        self._read_s = float("-inf")
        self._found: JsonObject = {}

    async def read(self) -> JsonObject:
        """Return the counters; equal until something changes."""
        async with self._lock:
            now_s = self._parts.clock.monotonic()
            if now_s - self._read_s >= EVERY_S:
                self._found, self._read_s = await self._look(), now_s
            return self._found

    async def _look(self) -> JsonObject:
        store, live = self._parts.store, self._parts.service.live()
        unseen = await store.tally_alerts(AlertQuery(unseen=True))
        newest = await store.alerts(limit=1)
        return {
            "unseen": {"number": unseen.number, "is_exact": unseen.is_exact},
            "questions": (await store.tally_questions()).number,
            "checks": live.checks,
            "in_flight": live.in_flight,
            "rendering": live.renders.taken,
            "jobs": sum(job.state == "running" for job in await store.jobs()),
            "position": newest[0].position if newest else 0,
        }


MOST: Final = 200  # Open streams of all readers.
MOST_OF_A_TOKEN: Final = 50
# Limits of one token, so that a leaked token or a faulty program leaves room for others.
MOST_OF_AN_ADDRESS: Final = 100
# Proxies close connections that are silent for 30 or 60 seconds.
HEARTBEAT_S: Final = 15.0
STUCK_S: Final = 120.0  # A reader that takes nothing for this time is disconnected, even if its connection is open.
_END_S: Final = 1.0
_MEDIA_TYPE: Final = "text/event-stream"
# What a column of SQLite holds.
_LARGEST: Final = 2**63 - 1
_MOST_DIGITS: Final = len(str(_LARGEST))
_TYPES: Final = {
    value: value.removeprefix("tocsin.").removesuffix(".v1")
    for name, value in vars(kinds).items()
    if name.isupper() and isinstance(value, str) and value not in {kinds.TEST, kinds.DIGEST}
}
_BY_TYPE: Final = {name: frozenset({full}) for full, short in _TYPES.items() for name in (full, short)}
_BY_KIND: Final = {
    kind: frozenset(full for full in _TYPES if kinds.kind_of(full) == kind) for kind in map(kinds.kind_of, _TYPES)
}

router = APIRouter(tags=["streams"], include_in_schema=False)


class Gone(Exception):
    """The reader has logged out, or its token was revoked or has expired."""


class AlertSelection(Struct, frozen=True):
    """The alerts that a reader wants; None for all."""

    types: frozenset[str] | None = None
    group: str | None = None
    page_id: int | None = None
    outcome: str | None = None
    matcher: Matcher | None = None

    def takes(self, told: StreamedAlert) -> bool:
        """Say whether the reader wants this alert."""
        return (
            (self.types is None or told.type in self.types)
            and (self.group is None or told.group == self.group)
            and (self.page_id is None or told.page_id == self.page_id)
            and (self.outcome is None or told.outcome == self.outcome)
            and (self.matcher is None or self.matcher.takes(told.facts()))
        )


class Streams:
    """The open streams of an application."""

    def __init__(self, parts: Parts) -> None:
        self.tail, self.counters = Tail(parts.store), Counters(parts)
        self.open = 0
        self.parts = parts
        self._by_reader = Counter[str]()

    def full(self, caller: Caller, address: str) -> Problem | None:
        """Return the refusal of another stream of this caller; None while there is room."""
        token, own = _readers(caller, address)
        if token and self._by_reader[token] >= MOST_OF_A_TOKEN:
            return _too_many(429, f"{MOST_OF_A_TOKEN} streams are open with the token {caller.who}, the most for one")
        if self._by_reader[own] >= MOST_OF_AN_ADDRESS:
            return _too_many(429, f"{MOST_OF_AN_ADDRESS} streams are open from {address}, the most for one address")
        return _too_many(503, f"{MOST} streams are open") if self.open >= MOST else None

    @contextmanager
    def opened(self, caller: Caller, address: str) -> Iterator[None]:
        """Count a stream while it is open."""
        readers = [each for each in _readers(caller, address) if each]
        self.open += 1
        self._by_reader.update(readers)
        try:
            yield
        finally:
            self.open -= 1
            self._by_reader.subtract(readers)
            self._by_reader = +self._by_reader

    async def is_let_in(self, caller: Caller) -> bool:
        """Say whether the caller still has access: it may log out, or lose its token, while a stream is open."""
        now = self.parts.clock.now()
        if caller.token_id is None:
            return not await self.parts.store.has_tokens()
        if caller.session:
            return await self.parts.store.session_of(caller.session, now) is not None
        return any(token.id == caller.token_id and token.is_in_force(now) for token in await self.parts.store.tokens())


async def streams(request: Request, parts: Given) -> Streams:
    """Return the streams of this application."""
    found = getattr(request.app.state, "streams", None)
    if not isinstance(found, Streams) or found.parts is not parts:
        found = request.app.state.streams = Streams(parts)
    return found


@router.get("/events", summary="Alerts as server-sent events")
async def events(
    parts: Given,
    caller: Reading,
    shared: Annotated[Streams, Depends(streams)],
    matcher: Matching,
    last_event_id: Annotated[str | None, Header()] = None,
    after: str | None = None,
    begin: Annotated[Literal["now", "start"], Query(alias="from")] = "now",
    kind: Annotated[list[str] | None, Query()] = None,
    full: Annotated[list[str] | None, Query(alias="type")] = None,
    group: str | None = None,
    page: Annotated[int | None, Query(ge=1)] = None,
    outcome: Literal["major", "minor"] | None = None,
    live: Literal["no", "too", "only"] = "no",
) -> Response:
    """Follow alerts: each a CloudEvent under its type, numbered by its position.

    last_event_id  the number of the last event received; browsers send it when they reconnect
    after          the same, for other clients
    begin          without either: new alerts only, or all in the store
    kind           only these: "changed", "unreachable", as in lists of alerts
    matcher        only what `basis`, `host`, `url`, `rule`, `field` and `words` match, as in routes
    type           the same by event type: "tocsin.page.changed.v1", also without `tocsin.` and `.v1`
    live           counters for web pages, unnumbered, at most one event a second: with the alerts, or alone
    """
    wanted = AlertSelection(_types(kind, full), normalize("NFC", group) if group else None, page, outcome, matcher)
    position = None if live == "only" else await _start(shared.tail, last_event_id, after, begin)
    return Following(parts, shared, caller, wanted, position, has_counters=live != "no")


class Following(Response):
    """The stream of one reader; the next alert is read when the reader has taken the last one."""

    def __init__(
        self,
        parts: Parts,
        shared: Streams,
        caller: Caller,
        wanted: AlertSelection,
        position: int | None,
        *,
        has_counters: bool,
    ) -> None:
        super().__init__(
            media_type=_MEDIA_TYPE,
            headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"},
        )
        del self.headers["content-length"]
        self._parts, self._shared, self._caller, self._wanted = parts, shared, caller, wanted
        self._position, self._has_counters = position, has_counters
        self._told: JsonObject = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the reader disconnects, the service stops, or the token is revoked."""
        address = who_is(scope[SENDER])
        # Counted here, not in the route, so that check and count are one step.
        if (refusal := self._shared.full(self._caller, address)) is not None:
            await (await answer(Request(scope), refusal))(scope, receive, send)
            return
        with self._shared.opened(self._caller, address):
            self._parts.telemetry.emit(Happening("stream.opened", "debug", {"who": self._caller.who}))
            try:
                await self._stream(receive, send)
            finally:
                self._parts.telemetry.emit(Happening("stream.closed", "debug", {"who": self._caller.who}))

    async def _stream(self, receive: Receive, send: Send) -> None:
        self._send = send
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with asyncio.TaskGroup() as group:
            ends = [
                group.create_task(self._follow(), name="stream"),
                group.create_task(_gone(receive), name="stream-reader"),
                group.create_task(self._parts.stopping.wait(), name="stream-stop"),
            ]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in ends:
                task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await send({"type": "http.response.body", "body": b""})

    async def _follow(self) -> None:
        """Send events while the reader takes them; after any end, it resumes at its last number."""
        try:
            await self._give_all()
        except Gone:
            return
        except TimeoutError:
            self._parts.telemetry.emit(Happening("stream.stuck", "info", {"who": self._caller.who}))
        except StoreError as exc:
            self._parts.telemetry.emit(Happening("stream.failed", "warning", {"error": str(exc)}))

    async def _give_all(self) -> None:
        clock = self._parts.clock
        await self._give(opening(self._position))
        looked_s = clock.monotonic()
        while True:
            gave = await self._give_alerts() if self._position is not None else False
            gave = await self._give_counters() or gave
            now_s = clock.monotonic()
            if now_s - looked_s >= HEARTBEAT_S:
                if not await self._shared.is_let_in(self._caller):
                    return
                looked_s = now_s
                if not gave:
                    await self._give(HEARTBEAT)
            await self._wait(looked_s + HEARTBEAT_S - now_s)

    async def _give_alerts(self) -> bool:
        """Send the wanted alerts published since; returns whether any was sent."""
        assert self._position is not None  # noqa: S101 - asked for only where it follows alerts
        gave = False
        while found := await self._shared.tail.after(self._position):
            if not await self._shared.is_let_in(self._caller):
                # The right to read may have ended since the last batch.
                raise Gone
            for told in found:
                self._position = told.position
                if self._wanted.takes(told):
                    await self._give(told.block)
            if not self._wanted.takes(found[-1]):
                await self._give(numbered(self._position))
            gave = True
            if self._shared.tail.is_read_to(self._position):
                # `next_alert` also reports alerts published since the last read, so that none is missed.
                break
        return gave

    async def _give_counters(self) -> bool:
        if not self._has_counters:
            return False
        found = await self._shared.counters.read()
        if found == self._told:
            return False
        self._told = found
        await self._give(block("live", found))
        return True

    async def _wait(self, seconds: float) -> None:
        """Wait for the next alert, or until the time is over."""
        if self._has_counters:
            await self._parts.clock.sleep(min(EVERY_S, seconds))
        elif self._position is not None:
            await self._parts.service.next_alert(self._position, seconds)

    async def _give(self, lines: bytes) -> None:
        async with asyncio.timeout(STUCK_S):
            await self._send({"type": "http.response.body", "body": lines, "more_body": True})


def _readers(caller: Caller, address: str) -> tuple[str, str]:
    """Return the keys under which a stream is counted: token and address."""
    return "" if caller.token_id is None else f"token {caller.token_id}", f"address {address}"


def _too_many(status: int, detail: str) -> Problem:
    mend = "close streams that nothing reads, or try again later"
    return Problem(
        status, "too-many-streams", "Too many event streams", detail, mend=mend, headers={"Retry-After": "10"}
    )


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(tail: Tail, last_event_id: str | None, after: str | None, begin: str) -> int:
    """Return the position after which the stream begins.

    A position beyond the newest alert is from another store, or from before a restore: the reader gets new alerts.
    """
    said, name = (last_event_id, "Last-Event-ID") if last_event_id else (after, "after")
    if said is None:
        return 0 if begin == "start" else await tail.newest()
    if not (said.isascii() and said.isdecimal()) or len(said) > _MOST_DIGITS or int(said) > _LARGEST:
        raise Problem(
            400,
            "bad-position",
            "This is no position",
            f"{name} is not the id of an event of this stream",
            mend="send the id of the last event that you received, or nothing; ?from=start gives all there are",
        )
    return min(int(said), await tail.newest())


def _types(kinds: list[str] | None, full: list[str] | None) -> frozenset[str] | None:
    """Read kinds and types, repeated or separated by commas; their union is meant."""
    if not kinds and not full:
        return None
    return _meant("kind", kinds, _BY_KIND) | _meant("type", full, _BY_TYPE)


def _meant(parameter: str, said: list[str] | None, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Read the names of one parameter. Raises Problem for an unknown one."""
    names = [name.strip() for each in said or () for name in each.split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise Problem(
            422,
            f"unknown-{parameter}",
            "There are no such alerts",
            f"{parameter} {unknown[0][:100]!r}",
            mend=f"use some of: {', '.join(sorted(known.keys() - _TYPES.keys()))}",
        )
    return frozenset[str]().union(*(known[name] for name in names))
