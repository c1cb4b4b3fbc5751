"""Conditional requests over real connections: when they are made, what they carry, and what their answers come to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.builders import html, stored, task, with_changes
from tests.fakes import EagerClock, RecordingTelemetry, SeededChance
from tests.origin import RawOrigin
from tests.wire import fetcher, short
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.judging import assess
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.visiting.receive import Receiver, RequestSets
from tocsin.engine.visiting.visit import Visitor
from tocsin.model import CheckResult, PageTask, SignalContext
from tocsin.ports import Fetcher
from tocsin.settings import FetchSettings, HostSettings, PageSettings

BODY = html(created="1")
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n\r\n"
DAY_S = 86_400


def page(*headers: bytes, body: bytes = BODY, status: bytes = b"200 OK") -> bytes:
    """An answer as it goes over the wire."""
    lines = (b"HTTP/1.1 " + status, b"Content-Type: text/html", *headers, b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class Watching:
    """One page of an origin, checked again and again, each check a day after the one before."""

    def __init__(self, client: Fetcher, url: str, *, every_nth: int = 30) -> None:
        self._client, self._every_nth = client, every_nth
        self.clock = EagerClock()
        self.task: PageTask = task(url=url, host="127.0.0.1")
        self.policy = PageSettings(tries=0)

    async def check(self) -> CheckResult:
        fetch = FetchSettings(unconditional_every=self._every_nth)
        gates, chance, outage = (
            Gates(HostSettings(delay=timedelta(0)), self.clock),
            SeededChance(),
            OutageWatch(self.clock),
        )
        receiver = Receiver(gates, None, outage, RequestSlots(1), fetch, self.clock)
        tries = RequestSets(receiver, self._client, gates, fetch, self.clock, chance)
        conclusions = Conclusions(EventWriter("tocsin", chance), time_zone="UTC")
        policies, telemetry = Policies(self.policy), RecordingTelemetry()
        visitor = Visitor(tries, policies, conclusions, gates, outage, fetch, self.clock, telemetry)
        result = await visitor.visit(self.task)
        self._keep(result)
        await self.clock.advance(DAY_S)
        return result

    def _keep(self, result: CheckResult) -> None:
        changes: dict[str, Any] = {"conditional_run": result.conditional_run, "set_at": result.set_at}
        if result.learnt.known is not None:
            changes["beside"] = SignalContext(known=result.learnt.known)
        if result.state is not None:
            state = msgspec.structs.replace(
                stored(), fields=result.state.fields, first_at=result.state.stored_at, last_at=result.state.stored_at
            )
            changes |= {
                "state": state,
                "validators": result.state.validators,
                "body_digest": result.state.body_digest,
            }
        self.task = with_changes(self.task, **changes)


def conditions(head: bytes) -> list[bytes]:
    """The conditions among the header lines of a request."""
    return [line for line in head.split(b"\r\n") if line.lower().startswith((b"if-", b"range"))]


@pytest.mark.parametrize(
    "etag",
    [b'"a"', b'W/"weak"', b"unquoted", b'"\xc3\xa9"', b'"\xe9\xff"', b'"a\tb  c"', b"'\"\\"],
    ids=["plain", "weak", "unquoted", "utf-8", "latin-1", "tab", "quotes"],
)
async def test_both_validators_are_sent_back_byte_for_byte(etag: bytes) -> None:
    modified = b"yesterday, \xe9 or so"
    answer = page(b"ETag: " + etag, b"Last-Modified: " + modified)
    async with RawOrigin(answer, NOT_MODIFIED, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        second = await watching.check()

    assert conditions(origin.heads[1]) == [b"If-None-Match: " + etag, b"If-Modified-Since: " + modified]
    assert (second.report.outcome, second.report.not_modified) == ("unchanged", True)


async def test_a_weak_tag_that_changes_each_time_is_no_change_of_the_page() -> None:
    answers = [page(b'ETag: W/"%d"' % number) for number in range(3)]
    async with RawOrigin(*answers, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        outcomes = [(await watching.check()).report.outcome for _ in range(3)]

    assert outcomes == ["first", "unchanged", "unchanged"]
    assert conditions(origin.heads[2]) == [b'If-None-Match: W/"1"']


async def test_a_304_keeps_the_validators_of_the_state_it_confirms() -> None:
    answers = page(b'ETag: "1"'), NOT_MODIFIED[:-2] + b'ETag: "other"\r\n\r\n', NOT_MODIFIED
    async with RawOrigin(*answers, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        for _ in range(3):
            await watching.check()

    assert conditions(origin.heads[2]) == [b'If-None-Match: "1"']


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (NOT_MODIFIED, "protocol"),
        (page(b"Content-Range: bytes 0-9/100", status=b"206 Partial Content"), "status"),
        (page(body=b""), "empty"),
        (page()[:-5], "protocol"),
        (page(b"Content-Encoding: gzip"), "decode"),
        (page(b"Content-Encoding: br"), "decode"),
    ],
    ids=["304", "206", "empty", "cut", "gzip", "br"],
)
async def test_what_is_no_complete_page_is_a_failure_and_never_a_change(answer: bytes, kind: str) -> None:
    async with RawOrigin(page(), answer, keep=False) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        second = await watching.check()

    assert conditions(origin.heads[1]) == []
    assert second.report.outcome == "unreachable"
    assert second.report.error is not None
    assert second.report.error[0] == kind
    assert (second.state, second.verdict) == (None, None)


async def test_every_so_many_checks_one_asks_without_conditions() -> None:
    answers = page(b'ETag: "1"'), NOT_MODIFIED, NOT_MODIFIED, page()
    async with RawOrigin(*answers, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url(), every_nth=2)
        for _ in range(4):
            await watching.check()

    assert [bool(conditions(head)) for head in origin.heads] == [False, True, True, False]


@pytest.mark.parametrize(
    "changed", [{"headers": {"Accept-Language": "de"}}, {"cookies": {"sid": "1"}}, {"auth": "ann:pass"}], ids=short
)
async def test_a_page_that_is_asked_for_otherwise_is_asked_without_conditions(changed: dict[str, Any]) -> None:
    answers = page(b'ETag: "1"'), page(b'ETag: "2"'), NOT_MODIFIED
    async with RawOrigin(*answers, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        watching.policy = msgspec.structs.replace(watching.policy, **changed)
        outcomes = [(await watching.check()).report.outcome for _ in range(2)]

    assert [conditions(head) for head in origin.heads] == [[], [], [b'If-None-Match: "2"']]
    assert outcomes == ["unchanged", "unchanged"]


async def test_a_page_whose_signals_were_never_read_is_asked_without_conditions_once() -> None:
    async with (
        RawOrigin(page(b'ETag: "1"'), page(b'ETag: "1"'), NOT_MODIFIED, keep=True) as origin,
        fetcher() as client,
    ):
        watching = Watching(client, origin.url())
        await watching.check()
        watching.task = msgspec.structs.replace(watching.task, beside=None)
        results = [await watching.check() for _ in range(2)]

    assert [bool(conditions(head)) for head in origin.heads] == [False, False, True]
    assert [result.report.outcome for result in results] == ["unchanged", "unchanged"]


async def test_a_page_whose_signals_nobody_wants_need_not_be_read_for_them() -> None:
    async with RawOrigin(page(b'ETag: "1"'), NOT_MODIFIED, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        watching.policy = msgspec.structs.replace(watching.policy, signals="none")
        results = [await watching.check() for _ in range(2)]

    assert [bool(conditions(head)) for head in origin.heads] == [False, True]
    assert results[0].learnt.known is None


async def test_a_page_that_speaks_for_itself_need_not_be_read_for_its_signals() -> None:
    body = html(topper="2026")
    async with RawOrigin(page(b'ETag: "1"', body=body), NOT_MODIFIED, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        for _ in range(2):
            await watching.check()

    assert [bool(conditions(head)) for head in origin.heads] == [False, True]


async def test_a_page_that_is_looked_at_elsewhere_is_asked_without_conditions() -> None:
    async with (
        RawOrigin(page(b'ETag: "1"'), page(b'ETag: "1"'), NOT_MODIFIED, keep=True) as origin,
        fetcher() as client,
    ):
        watching = Watching(client, origin.url())
        await watching.check()
        watching.policy = msgspec.structs.replace(watching.policy, look_at="p")
        for _ in range(2):
            await watching.check()

    assert [bool(conditions(head)) for head in origin.heads] == [False, False, True]


async def test_a_page_that_goes_through_another_proxy_is_asked_without_conditions() -> None:
    async with RawOrigin(page(b'ETag: "1"'), keep=True) as origin, RawOrigin(page()) as proxy, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        watching.policy = msgspec.structs.replace(watching.policy, proxy=proxy.url(""))
        await watching.check()

    assert conditions(proxy.heads[0]) == []


async def test_a_page_that_is_read_otherwise_is_asked_without_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawOrigin(page(b'ETag: "1"'), keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        monkeypatch.setattr(assess, "READERS", "next")
        await watching.check()
        await watching.check()

    assert [bool(conditions(head)) for head in origin.heads] == [False, False, True]


async def test_a_page_that_is_asked_about_is_asked_without_conditions() -> None:
    async with RawOrigin(page(b'ETag: "1"'), keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url())
        await watching.check()
        watching.task = with_changes(watching.task, question_id=1)
        await watching.check()

    assert conditions(origin.heads[1]) == []


async def test_a_hop_that_is_not_the_one_whose_validators_we_hold_gets_none() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n"
    answers = page(b'ETag: "old"'), moved, page(b'ETag: "new"'), moved, NOT_MODIFIED
    async with RawOrigin(*answers, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url("/old"))
        outcomes = [(await watching.check()).report.outcome for _ in range(3)]

    assert [(head.split(b" ")[1], conditions(head)) for head in origin.heads] == [
        (b"/old", []),
        (b"/old", [b'If-None-Match: "old"']),
        (b"/new", []),
        (b"/old", []),
        (b"/new", [b'If-None-Match: "new"']),
    ]
    assert outcomes == ["first", "unchanged", "unchanged"]


async def test_a_redirect_that_answers_304_is_a_failure() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(page(b'ETag: "old"'), moved, NOT_MODIFIED, keep=True) as origin, fetcher() as client:
        watching = Watching(client, origin.url("/old"))
        await watching.check()
        second = await watching.check()

    assert second.report.outcome == "unreachable"
    assert second.state is None
