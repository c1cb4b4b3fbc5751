"""A follower of the alerts misses none and gets none twice."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes import settle
from tests.server.streams.conftest import Desk
from tests.server.streams.reader import PATIENCE_S, Reader, reading
from tests.server.test_access_tokens import csrf_of, logged_in
from tocsin.errors import StoreError
from tocsin.events import CHANGED, OUTAGE_BEGAN, RECOVERED, UNREACHABLE
from tocsin.model import AlertRow, Scope
from tocsin.server.access.credentials import digest_of
from tocsin.server.streams import events
from tocsin.server.streams import events as module
from tocsin.server.streams.events import MOST_BYTES, Tail


async def followed(reader: Reader) -> None:
    """Wait until the stream has begun: what is published from now on belongs to it."""
    assert reader.status == 200
    while reader.interpreter.last_id == "":
        line = await reader.line()
        assert line is not None
        assert reader.interpreter.line(line) is None


async def test_an_alert_is_one_event_under_its_type_numbered_by_its_position(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)
        await desk.publish("a", outcome="major")

        event = await reader.event()

    assert (event.type, event.id) == (CHANGED, "1")
    assert event.json["id"] == "a"
    assert event.json["data"]["outcome"] == "major"


async def test_a_stream_says_that_it_is_one_and_is_not_to_be_kept_back(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)

    assert reader.headers["content-type"].startswith("text/event-stream")
    assert reader.headers["x-accel-buffering"] == "no"
    assert reader.headers["cache-control"] == "no-store, no-transform"
    assert reader.interpreter.retry_ms == 3000


async def test_without_a_number_it_begins_now_and_from_start_gives_all(desk: Desk) -> None:
    await desk.publish("a", "b")

    async with reading(desk.address) as now, reading(desk.address, "?from=start") as whole:
        await followed(now)
        await desk.publish("c")

        assert (await now.event()).json["id"] == "c"
        assert [event.json["id"] for event in await whole.events(3)] == ["a", "b", "c"]


async def test_whoever_comes_back_gets_what_was_published_meanwhile(desk: Desk) -> None:
    names = [f"alert-{number:02}" for number in range(30)]
    heard: list[str] = []
    last_id: str | None = "0"

    for number, name in enumerate(names):
        await desk.publish(name)
        if number % 7 == 3:
            async with reading(desk.address, last_id=last_id) as reader:
                # Cut in the middle: of what is there, only a part is read.
                heard += [event.json["id"] for event in await reader.events(3)]
                last_id = reader.last_id
    async with reading(desk.address, last_id=last_id) as reader:
        heard += [event.json["id"] for event in await reader.events(len(names) - len(heard))]

    assert heard == names


async def test_a_stream_that_ends_before_its_first_event_is_taken_up_where_it_began(desk: Desk) -> None:
    await desk.publish("before")
    async with reading(desk.address) as reader:
        await followed(reader)
        last_id = reader.last_id
    await desk.publish("meanwhile")

    async with reading(desk.address, last_id=last_id) as reader:
        assert (await reader.event()).json["id"] == "meanwhile"


async def test_a_browsers_number_counts_more_than_the_one_in_the_url(desk: Desk) -> None:
    await desk.publish("a", "b", "c")

    async with reading(desk.address, "?after=0", last_id="2") as back, reading(desk.address, "?after=1") as other:
        assert (await back.event()).json["id"] == "c"
        assert (await other.event()).json["id"] == "b"


@pytest.mark.parametrize("said", ["-1", "1.5", "abc", "²", "99999999999999999999", "9223372036854775808", "0" * 5000])
async def test_a_number_that_is_none_is_refused_with_the_mend(desk: Desk, said: str) -> None:
    for query, last_id in (("", said), (f"?after={said.replace('²', '%C2%B2')}", None)):
        async with reading(desk.address, query, last_id=last_id) as reader:
            problem = msgspec.json.decode(await reader.body())

        assert (reader.status, problem["type"]) == (400, "urn:tocsin:problem:bad-position")
        assert "?from=start" in problem["mend"]


async def test_a_number_of_another_store_begins_with_what_is_new(desk: Desk) -> None:
    await desk.publish("restored")

    async with reading(desk.address, last_id="5000") as reader:
        await followed(reader)
        await desk.publish("new")

        assert (await reader.event()).json["id"] == "new"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("&type=page.unreachable", ["u"]),
        (f"&type={UNREACHABLE}&type=page.recovered", ["u", "r"]),
        ("&type=page.unreachable,page.recovered", ["u", "r"]),
        ("&kind=unreachable&kind=recovered", ["u", "r"]),
        ("&kind=unreachable,outage", ["u", "out"]),
        ("&kind=unreachable&type=page.recovered", ["u", "r"]),
        ("&outcome=major", ["c"]),
        ("&page=7", ["c", "u"]),
        ("&group=main&page=8", ["r"]),
        # By the matchers of routes: tests/engine/alerting/test_matching.py tries them.
        ("&basis=inferred", ["other"]),
        ("&outcome=minor&words=fridays&words=mondays", ["other"]),
        ("&words=closed+on&host=*.example.org", ["other"]),
    ],
)
async def test_a_reader_chooses_what_it_is_told_of(desk: Desk, query: str, wanted: list[str]) -> None:
    await desk.publish("c", page_id=7, outcome="major")
    await desk.publish("u", kind=UNREACHABLE, page_id=7)
    await desk.publish("r", kind=RECOVERED, page_id=8)
    await desk.publish("out", kind=OUTAGE_BEGAN)
    difference, storm = {"added": ["Closed on Fridays."]}, {"host": "www.example.org"}
    await desk.publish("other", page_id=9, outcome="minor", basis="inferred", difference=difference, storm=storm)

    async with reading(desk.address, f"?from=start{query}") as reader:
        assert [event.json["id"] for event in await reader.events(len(wanted))] == wanted
        # What was left out counts, too: it is not looked through again after a reconnect.
        await reader.numbered(5)


async def test_a_group_is_told_apart(desk: Desk) -> None:
    await desk.publish("a", page_id=1)
    await desk.publish("b", page_id=2, page={"id": "2", "group": "news"})

    async with reading(desk.address, "?from=start&group=news") as reader:
        assert (await reader.event()).json["id"] == "b"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("type=page.chnged", "page.changed, page.disallowed"),
        ("type=changed", "page.changed, page.disallowed"),
        ("kind=chnged", "changed, disallowed, needs-browser, outage, recovered"),
        ("kind=page.changed", "changed, disallowed, needs-browser"),
    ],
)
async def test_an_unknown_type_or_kind_is_refused_and_the_known_ones_named(desk: Desk, said: str, named: str) -> None:
    async with reading(desk.address, f"?{said}") as reader:
        problem = msgspec.json.decode(await reader.body())

    assert reader.status == 422
    assert named in problem["mend"]


@pytest.mark.parametrize(
    ("said", "named"),
    [("basis=infered", "basis: found"), ("host=http://a.example", "host: found"), ("words=...", "words: found")],
)
async def test_a_value_that_matches_nothing_is_refused(desk: Desk, said: str, named: str) -> None:
    async with reading(desk.address, f"?{said}") as reader:
        problem = msgspec.json.decode(await reader.body())

    assert reader.status in {400, 422}
    assert named in f"{problem}"


async def test_silence_is_broken_by_a_comment_every_15_seconds(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)
        await settle()
        await desk.clock.advance(events.HEARTBEAT_S)
        desk.service.ring()

        await reader.comment()


async def test_a_stop_ends_every_stream_at_once(desk: Desk) -> None:
    async with reading(desk.address) as reader, reading(desk.address, "?live=only") as other:
        await followed(reader)
        await other.event()
        desk.stopping.set()

        assert await reader.ended() == []
        await other.ended()


async def test_a_stream_ends_when_its_token_is_revoked(desk: Desk) -> None:
    token = await desk.rig.token(Scope.READ, "reader")
    async with reading(desk.address, token=token) as reader:
        await followed(reader)
        await desk.store.revoke_token("reader", desk.clock.now())
        await settle()
        await desk.clock.advance(events.HEARTBEAT_S)
        desk.service.ring()

        assert await reader.ended() == []


async def test_a_stream_ends_when_its_reader_logs_out(desk: Desk) -> None:
    async with (
        logged_in(desk.rig, Scope.READ) as browser,
        reading(desk.address, cookie=browser.cookies["tocsin"]) as reader,
    ):
        await followed(reader)
        form = {"csrf": await csrf_of(desk.rig, browser)}
        answer = await browser.post("/logout", data=form)
        await settle()
        await desk.clock.advance(events.HEARTBEAT_S)
        desk.service.ring()

        assert (await reader.ended(), answer.status_code) == ([], 303)


async def test_a_stream_goes_on_while_its_reader_is_logged_in(desk: Desk) -> None:
    async with (
        logged_in(desk.rig, Scope.READ) as browser,
        reading(desk.address, cookie=browser.cookies["tocsin"]) as reader,
    ):
        await followed(reader)
        await settle()
        await desk.clock.advance(events.HEARTBEAT_S)
        desk.service.ring()

        await reader.comment()


async def test_a_stream_of_before_the_first_token_ends_with_it(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)
        await desk.rig.token(Scope.READ, "first")
        await settle()
        await desk.clock.advance(events.HEARTBEAT_S)
        desk.service.ring()

        assert await reader.ended() == []


async def test_without_a_token_there_is_nothing_to_follow(desk: Desk) -> None:
    await desk.rig.token(Scope.READ)

    async with reading(desk.address) as reader:
        assert reader.status == 401


async def test_200_readers_are_told_of_an_alert_that_is_read_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_OF_AN_ADDRESS", events.MOST + 1)
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(reading(desk.address)) for _ in range(events.MOST)]
        for reader in readers:
            await followed(reader)
        async with reading(desk.address) as refused:
            assert (refused.status, refused.headers["retry-after"]) == (503, "10")
        async with asyncio.timeout(PATIENCE_S):
            # Each of them looks once when it begins.
            while desk.service.waiting < events.MOST:
                await settle(1)
        asked = counted(desk)
        await desk.publish("a")
        heard = await asyncio.gather(*(reader.event() for reader in readers))

    assert {event.json["id"] for event in heard} == {"a"}
    # Once with the alert, and once more to see that there is no other; never once for each reader.
    assert len(asked) <= 20


async def test_all_stored_alerts_come_at_once(desk: Desk) -> None:
    names = [f"alert-{number:02}" for number in range(50)]
    await desk.publish(*names)

    # The clock does not move: a stream that waited between two batches would never give the second one.
    async with reading(desk.address, "?live=too&from=start") as reader:
        heard = [await reader.event() for _ in range(len(names) + 1)]

    assert [event.json["id"] for event in heard if event.type != "live"] == names


async def test_the_streams_of_one_token_leave_places_for_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_OF_A_TOKEN", 2)
    greedy, other = await desk.rig.token(Scope.READ, "greedy"), await desk.rig.token(Scope.READ, "other")

    async with AsyncExitStack() as stack:
        for _ in range(2):
            await followed(await stack.enter_async_context(reading(desk.address, token=greedy)))
        async with reading(desk.address, token=greedy) as refused, reading(desk.address, token=other) as taken:
            problem = msgspec.json.decode(await refused.body())

    assert (refused.status, refused.headers["retry-after"]) == (429, "10")
    assert "with the token greedy" in problem["detail"]
    assert taken.status == 200


async def test_the_streams_of_one_address_leave_places_for_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_OF_AN_ADDRESS", 1)

    async with reading(desk.address) as reader:
        await followed(reader)
        async with reading(desk.address) as refused:
            problem = msgspec.json.decode(await refused.body())

    assert refused.status == 429
    assert "from 127.0.0.1" in problem["detail"]


async def test_a_place_is_free_again_when_its_reader_has_gone(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)

    async with asyncio.timeout(PATIENCE_S):
        # Its end is seen when the loop comes to its socket.
        while desk.rig.telemetry.names()[-2:] != ["stream.closed", "http.answered"]:
            await settle(1)
    assert desk.rig.app.state.streams.open == 0


def counted(desk: Desk) -> list[int]:
    """Take note of each look into the store."""
    asked: list[int] = []
    tail: Tail = desk.rig.app.state.streams.tail
    after = desk.store.after

    class Noting:
        async def after(self, position: int, *, limit: int) -> object:
            asked.append(position)
            return await after(position, limit=limit)

    tail._store = Noting()  # type: ignore[assignment]  # only what is looked at here
    return asked


async def test_a_slow_reader_costs_no_memory_and_holds_up_nobody(desk: Desk) -> None:
    wide = "x" * 200_000
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.setblocking(False)  # noqa: FBT003 - the socket's own way
    await asyncio.get_running_loop().sock_connect(slow, desk.address)
    async with reading(desk.address) as quick, reading(sock=slow, address=()) as lazy:
        await followed(quick)
        await followed(lazy)
        for number in range(60):
            await desk.publish(f"alert-{number:02}", text=wide)
            assert (await quick.event()).json["id"] == f"alert-{number:02}"

        tail: Tail = desk.rig.app.state.streams.tail
        assert sum(len(told.block) for told in tail._kept) <= MOST_BYTES

        # Long after: everything is still there for it, in order.
        assert [event.json["id"] for event in await lazy.events(60)] == [f"alert-{number:02}" for number in range(60)]


async def test_a_reader_that_takes_nothing_for_long_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "STUCK_S", 0.05)
    async with reading(desk.address, limit=1024) as reader:
        await followed(reader)
        # More than all buffers between the two of us hold.
        await desk.publish(*(f"alert-{number:02}" for number in range(60)), text="x" * 200_000)
        async with asyncio.timeout(PATIENCE_S):
            while "stream.stuck" not in desk.rig.telemetry.names():
                await settle(1)

    # It comes back to where it was.
    last_id = reader.last_id
    async with reading(desk.address, last_id=last_id) as reader:
        assert (await reader.event()).id == str(int(last_id) + 1)


async def test_a_store_that_cannot_be_read_ends_the_stream_and_it_is_taken_up_later(desk: Desk) -> None:
    async with reading(desk.address) as reader:
        await followed(reader)
        # What was read before it breaks is told: no look is under way then.
        await desk.publish("before")
        assert (await reader.event()).json["id"] == "before"
        tail: Tail = desk.rig.app.state.streams.tail

        class Broken:
            async def after(self, position: int, *, limit: int) -> object:
                raise StoreError(f"{position}, {limit}: locked")

        tail._store = Broken()  # type: ignore[assignment]  # only what is looked at here
        await desk.publish("a")

        assert await reader.ended() == []
    tail._store = desk.store
    assert "stream.failed" in desk.rig.telemetry.names()
    async with reading(desk.address, last_id=reader.last_id) as reader:
        assert (await reader.event()).json["id"] == "a"


async def test_a_head_alone_takes_up_no_place(desk: Desk) -> None:
    async with desk.rig.asking() as asked:
        assert (await asked.head("/events")).status_code == 405

    assert desk.rig.telemetry.names()[-1] == "http.answered"
    assert "stream.opened" not in desk.rig.telemetry.names()


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400)), max_size=60)


class Shelf:
    """Alerts by position."""

    def __init__(self) -> None:
        self.rows: list[AlertRow] = []

    def publish(self, size: int) -> None:
        event = {"id": "x" * size, "data": {"page": {"group": "main"}}}
        self.rows.append(AlertRow(str(len(self.rows)), len(self.rows) + 1, CHANGED, 1, None, 0, event))

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        await asyncio.sleep(0)
        return self.rows[position : position + limit]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(STEPS, st.lists(st.integers(0, 60), min_size=1, max_size=3))
async def test_every_reader_gets_every_alert_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, steps: list[tuple[int, int]], begins: list[int]
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 2000)
    shelf = Shelf()
    tail = Tail(shelf)  # type: ignore[arg-type]  # what of a store it asks
    began = [min(begin, len(steps)) for begin in begins]
    places = list(began)
    heard: list[list[int]] = [[] for _ in places]

    async def read(reader: int) -> bool:
        found = await tail.after(places[reader])
        heard[reader] += [told.position for told in found]
        places[reader] = found[-1].position if found else places[reader]
        return bool(found)

    for who, size in steps:
        shelf.publish(size)
        if who < len(places):
            # Two at a time, as they come.
            await asyncio.gather(read(who), read((who + 1) % len(places))) if len(places) > 1 else await read(who)
    for reader in range(len(places)):
        while await read(reader):
            pass

    assert heard == [list(range(begin + 1, len(steps) + 1)) for begin in began]
    assert sum(len(told.block) for told in tail._kept) <= 2000 + 16 * 700


async def test_an_alert_is_never_told_to_one_whose_token_was_revoked_a_moment_before(desk: Desk) -> None:
    token = await desk.rig.token(Scope.READ, "reader")
    async with reading(desk.address, token=token) as reader:
        await followed(reader)
        await desk.store.revoke_token("reader", desk.clock.now())
        await desk.publish("a")

        assert await reader.ended() == []


async def test_an_alert_is_never_told_to_one_who_logged_out_a_moment_before(desk: Desk) -> None:
    async with logged_in(desk.rig, Scope.READ) as browser:
        secret = browser.cookies["tocsin"]
        async with reading(desk.address, cookie=secret) as reader:
            await followed(reader)
            await desk.store.close_session(digest_of(secret))
            await desk.publish("a")

            assert await reader.ended() == []
