"""Digests in the store: where routes send alerts, sealing, giving, ending, silences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.contract.desk import DAY, HOUR, NOW, SECOND, A, B, C, Desk, alert
from tests.contract.test_store_alerts import due, publish, record
from tests.routers import ScriptedRouter, digest, gathering
from tocsin.model import (
    AlertDraft,
    AlertQuery,
    BoundedCount,
    BundleRow,
    BundleState,
    ChannelState,
    DeliveryResult,
    Instant,
    RateLimit,
    Routed,
    SerializedEvent,
)
from tocsin.ports import Router, RoutingContext

DUE = NOW + HOUR
AT_ONCE = ScriptedRouter(lambda *_: [Routed("ops", "all")])


async def routed(desk: Desk, router: Router | None, *channels: str, routes: Sequence[str] = ("daily", "all")) -> None:
    """Let alerts go where this router says."""
    await desk.store.set_channels(channels or ("ops", "mail"))
    await desk.store.set_routes(router, routes, desk.now)


async def bundle(desk: Desk, number: int = 1) -> BundleRow:
    found = await desk.store.bundle(number)
    assert found is not None
    return found


async def seal(desk: Desk, number: int = 1, name: str = "M1") -> None:
    """Seal a bundle and compose it."""
    await desk.store.seal_bundle(number, DUE)
    await desk.store.keep_digest(number, SerializedEvent(name, b'{"id":"%s"}' % name.encode()), None)


async def given(desk: Desk, at: Instant = DUE, channel: str = "mail") -> list[tuple[int, str, bytes]]:
    """What a channel is to be given as digests: number, id, content."""
    found = await desk.store.due_bundles(channel, at, limit=9)
    return [(-each.position, each.alert_id, each.event.json) for each in found.to_give]


async def to_seal(desk: Desk, at: Instant) -> tuple[int, ...]:
    return (await desk.store.due_bundles("mail", at, limit=9)).to_seal


async def end(desk: Desk, state: str = "accepted", number: int = 1, *, next_at: Instant | None = None) -> None:
    result = DeliveryResult("M1", "mail", state, DUE, next_at, None if state == "accepted" else "503", 7, -number)  # type: ignore[arg-type]  # one of three
    await desk.store.record_deliveries([result])


async def places(desk: Desk, name: str) -> dict[str, str]:
    """Where an alert is, by channel."""
    row = await desk.store.alert(name.rjust(26, "0"))
    assert row is not None
    found = [(channel, state) for channel, state, *_ in row.deliveries]
    found += [(each.channel, each.state) for each in row.bundled]
    found += [(channel, "silenced") for channel, _ in row.silenced]
    assert len(found) == len(dict(found)), "invariant 1: one row for each channel"
    return dict(found)


async def test_routes_decide_which_channels_get_an_alert_alone_and_which_in_a_digest(desk: Desk) -> None:
    await routed(desk, ScriptedRouter(lambda *_: [Routed("ops", "all"), digest(due_at=DUE)]))

    await publish(desk, "one", "two", page_id=7)

    (alone,) = await desk.store.due_deliveries("ops", NOW, limit=9)
    # Its route says how its message is written.
    assert (alone.alert_id.lstrip("0"), alone.route) == ("one", "all")
    assert await places(desk, "two") == {"ops": "waiting", "mail": "gathered"}
    assert await due(desk, "mail") == []
    row = await bundle(desk)
    assert (row.channel, row.route, row.state, row.due_at, row.alerts) == ("mail", "daily", "open", DUE, 2)


async def test_without_routes_every_channel_gets_every_alert(desk: Desk) -> None:
    await routed(desk, AT_ONCE)
    await publish(desk, "one")

    await routed(desk, None)
    await publish(desk, "two")

    assert await places(desk, "one") == {"ops": "waiting"}
    assert await places(desk, "two") == {"ops": "waiting", "mail": "waiting"}


async def test_an_alert_that_no_route_takes_stays_listed_and_is_counted(desk: Desk) -> None:
    await routed(desk, ScriptedRouter(lambda *_: []))

    await publish(desk, "one")

    assert await places(desk, "one") == {}
    assert desk.behind.look("select position, at from unrouted") == [(1, NOW)]


async def test_quiet_hours_hold_an_alert_back_also_behind_another_of_its_page(desk: Desk) -> None:
    def quiet(draft: AlertDraft, *_: object) -> list[Routed]:
        return [Routed("ops", "all", due_at=DUE if draft.id.endswith("two") else None)]

    await routed(desk, ScriptedRouter(quiet))
    await publish(desk, "one", "two", page_id=7)

    await record(desk, "one", "accepted")
    await desk.store.resume_deliveries("ops", NOW)

    assert await due(desk, "ops", DUE - 1) == []
    assert await due(desk, "ops", DUE) == ["two"]


@pytest.mark.parametrize("key", ["", "press"])
async def test_each_key_has_a_digest_of_its_own(desk: Desk, key: str) -> None:
    await routed(desk, ScriptedRouter(lambda draft, *_: [digest(key=key or draft.id[-1], due_at=DUE)]))

    await publish(desk, "one", "two")

    assert len(await desk.store.bundles(limit=9)) == (1 if key else 2)


async def test_a_sealed_digest_takes_no_more_alerts(desk: Desk) -> None:
    """Invariant 4."""
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    assert await to_seal(desk, DUE - 1) == ()
    assert await to_seal(desk, DUE) == (1,)

    await desk.store.seal_bundle(1, DUE)
    await publish(desk, "two")

    assert [(row.id, row.state, row.alerts) for row in await desk.store.bundles(limit=9)] == [
        (2, "open", 1),
        (1, "sealed", 1),
    ]
    assert await to_seal(desk, DUE) == ()


async def test_an_occasion_is_not_used_twice_after_the_clock_was_set_back(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await desk.store.seal_bundle(1, DUE)

    await publish(desk, "two")

    assert (await bundle(desk, 2)).due_at == DUE + HOUR


async def test_what_a_digest_is_given_as_is_written_once(desk: Desk) -> None:
    """Invariant 2."""
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await desk.store.seal_bundle(1, DUE)
    assert await given(desk) == [(1, "", b"")]
    await desk.store.keep_digest(1, SerializedEvent("M1", b'{"id":"M1"}'), None)

    await desk.store.keep_digest(1, SerializedEvent("M2", b'{"other": 1}'), None)

    assert await given(desk) == [(1, "M1", b'{"id":"M1"}')]
    assert (await desk.store.due_bundles("mail", DUE, limit=9, under_way=[1])).to_give == ()


async def test_the_end_of_a_digest_is_the_end_of_all_its_alerts(desk: Desk) -> None:
    """Invariant 3."""
    await routed(desk, gathering(DUE))
    await publish(desk, "one", "two")
    await seal(desk)
    await end(desk, "waiting", next_at=DUE + HOUR)
    assert await given(desk) == []
    assert [name for _, name, _ in await given(desk, DUE + HOUR)] == ["M1"]
    state = await desk.store.channel_state("mail")
    assert (state.gathered, state.accepted_at) == (2, None)

    await end(desk)

    assert await places(desk, "one") == await places(desk, "two") == {"mail": "accepted"}
    state = await desk.store.channel_state("mail")
    assert (state.accepted, state.gathered, state.accepted_at) == (2, 0, DUE)
    assert ((await bundle(desk)).tries, await given(desk, DUE + DAY)) == (2, [])


async def test_digests_of_one_route_are_given_in_order(desk: Desk) -> None:
    def by_route(draft: AlertDraft, *_: object) -> list[Routed]:
        return [digest(route="other" if draft.id.endswith("three") else "daily", due_at=DUE)]

    await routed(desk, ScriptedRouter(by_route), routes=("daily", "other"))
    await publish(desk, "one")
    await seal(desk)
    await publish(desk, "two", "three")
    await seal(desk, 2, "M2")
    await seal(desk, 3, "M3")

    await end(desk, "waiting", next_at=DUE + DAY)

    assert [name for _, name, _ in await given(desk)] == ["M3"]


async def test_an_alert_waits_for_a_sealed_digest_with_an_older_one_of_its_page_but_not_for_an_open_one(
    desk: Desk,
) -> None:
    """Invariant 6."""

    def first_gathered(draft: AlertDraft, *_: object) -> list[Routed]:
        return [digest("ops", due_at=DUE) if draft.id.endswith("one") else Routed("ops", "all")]

    await routed(desk, ScriptedRouter(first_gathered))
    await publish(desk, "one", "two", page_id=7)
    await publish(desk, "else", page_id=8)
    assert await due(desk, "ops") == ["two", "else"]

    await seal(desk)
    assert await due(desk, "ops") == ["else"]

    await end(desk)
    assert await due(desk, "ops", DUE) == ["else", "two"]


async def test_what_waits_for_a_digest_is_due_when_that_is_tried_again(desk: Desk) -> None:
    def first_gathered(draft: AlertDraft, *_: object) -> list[Routed]:
        if draft.id.endswith("mail"):
            return [digest("mail", due_at=DUE)]
        both = "ops", "mail"
        return [digest(name, due_at=DUE) if draft.id.endswith("one") else Routed(name, "all") for name in both]

    await routed(desk, ScriptedRouter(first_gathered))
    await publish(desk, "one", "two", page_id=7)
    await publish(desk, "three", page_id=8)
    await publish(desk, "four one", page_id=8)
    await publish(desk, "five mail", "six", page_id=9)
    for number in (1, 2):
        await seal(desk, number, f"M{number}")
    await end(desk, "waiting", 1, next_at=DUE + HOUR)

    assert await due(desk, "ops") == ["three", "six"]

    waits = desk.behind.look("select channel, position, next_at from deliveries where state = 'waiting' order by 1, 2")
    assert waits == [
        *(("mail", position, NOW) for position in (2, 3, 6)),
        ("ops", 2, DUE + HOUR), ("ops", 3, NOW), ("ops", 6, NOW),
    ]  # fmt: skip
    assert await due(desk, "mail") == ["three"]


async def test_digests_of_a_channel_that_is_removed_are_dead_with_the_reason(desk: Desk) -> None:
    """Invariant 7."""
    await routed(desk, gathering(DUE))
    await publish(desk, "one")

    await routed(desk, None, "ops", routes=())

    row = await bundle(desk)
    assert (row.state, await places(desk, "one")) == ("dead", {"mail": "dead"})
    assert "no longer in the configuration" in (row.error or "")


async def test_a_digest_of_a_route_that_is_removed_is_due_at_once(desk: Desk) -> None:
    """Invariant 7."""
    await routed(desk, gathering(DUE))
    await publish(desk, "one")

    await routed(desk, AT_ONCE, routes=["all"])

    assert await to_seal(desk, NOW) == (1,)


async def test_a_promised_digest_is_sealed_without_alerts_and_the_next_one_opened(desk: Desk) -> None:
    router = ScriptedRouter(lambda *_: [], promised=[("mail", "daily")])
    await routed(desk, router)
    await routed(desk, router)
    (opened,) = await desk.store.bundles(limit=9)

    await desk.store.seal_bundle(opened.id, opened.due_at)

    after, before = await desk.store.bundles(limit=9)
    assert (before.state, before.alerts, after.state, after.due_at) == ("sealed", 0, "open", before.due_at + HOUR)
    await routed(desk, AT_ONCE)
    assert [row.state for row in await desk.store.bundles(limit=9)] == ["sealed"]


@pytest.mark.parametrize(("state", "counted"), [("dead", 2), ("accepted", 0)])
async def test_a_digest_is_replayed_whole_and_the_same(desk: Desk, state: str, counted: int) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one", "two")
    await seal(desk)
    await end(desk, state)
    assert await desk.store.count_dead("mail") == counted
    assert len(await desk.store.alerts(limit=9, dead=True)) == counted

    assert await desk.store.replay_bundle(1, NOW + DAY) == 2

    assert await given(desk, NOW + DAY) == [(1, "M1", b'{"id":"M1"}')]
    assert await places(desk, "one") == {"mail": "gathered"}
    assert await desk.store.replay_bundle(1, NOW + DAY) == 0


async def test_dead_digests_are_among_all_dead_letters(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one", "two")
    await seal(desk)
    await end(desk, "dead")

    assert await desk.store.replay_dead(channel=None, now=NOW + DAY) == 2

    assert (await bundle(desk)).state == "sealed"


async def test_alerts_of_dead_digests_are_listed_once_though_two_channels_did_not_take_them(desk: Desk) -> None:
    both = ScriptedRouter(lambda *_: [digest("mail", due_at=DUE), digest("ops", due_at=DUE)])
    await routed(desk, both)
    await publish(desk, "one", "two", "three")
    for number in (1, 2):
        await seal(desk, number, f"M{number}")
        await end(desk, "dead", number)
    await routed(desk, AT_ONCE)
    await publish(desk, "four", "five")
    await record(desk, "four", "dead", channel="ops")

    parts: list[list[str]] = []
    cursor: str | None = None
    while not parts or cursor is not None:
        part = await desk.store.browse_alerts(AlertQuery(dead=True), limit=2, cursor=cursor)
        parts.append([row.id.lstrip("0") for row in part.rows])
        cursor = part.next

    assert parts == [["four", "three"], ["two", "one"]]
    assert await desk.store.tally_alerts(AlertQuery(dead=True)) == BoundedCount(4)
    assert await desk.store.tally_alerts(AlertQuery(digest=1)) == BoundedCount(3)
    assert await desk.store.tally_alerts(AlertQuery(digest=3)) == BoundedCount(0)


async def test_an_alert_is_replayed_alone_out_of_its_digest(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one", "two")
    assert await desk.store.replay("one".rjust(26, "0"), channel=None, now=NOW) == 0

    assert await desk.store.replay("one".rjust(26, "0"), channel="mail", now=NOW) == 1

    assert await due(desk, "mail") == ["one"]
    assert (await bundle(desk)).alerts == 1
    await seal(desk)
    assert await desk.store.replay("two".rjust(26, "0"), channel="mail", now=NOW) == 0
    await end(desk)
    assert await desk.store.replay("two".rjust(26, "0"), channel=None, now=NOW) == 1
    assert await places(desk, "two") == {"mail": "waiting"}
    assert await desk.store.check() == []


async def test_alerts_published_before_go_to_the_channels_of_a_route(desk: Desk) -> None:
    await routed(desk, ScriptedRouter(lambda *_: []))
    await publish(desk, "one", "two", page_id=7)
    await desk.store.write_alert(alert("three", 7, at=NOW + DAY))
    await routed(desk, AT_ONCE)
    await publish(desk, "four", page_id=7)
    router = ScriptedRouter(lambda *_: [Routed("ops", "all"), digest(due_at=DUE)])

    assert await desk.store.replay_route(router, "all", since=NOW - 1, now=NOW, dry_run=True) == 3
    assert await desk.store.replay_route(router, "all", since=NOW - 1, now=NOW) == 3
    assert await desk.store.replay_route(router, "daily", since=NOW + SECOND, now=NOW) == 1

    assert await due(desk, "ops") == ["one"]
    assert await places(desk, "three") == {"ops": "waiting", "mail": "gathered"}
    assert (await places(desk, "four"), desk.behind.look("select * from unrouted")) == ({"ops": "waiting"}, [])
    assert await desk.store.check() == []


class Limits:
    """Asks for room of at most two alerts in a window."""

    def __init__(self) -> None:
        self.start = NOW

    def __call__(self, _: AlertDraft, __: Instant, context: RoutingContext) -> list[Routed]:
        limit = RateLimit(2, self.start, self.start + HOUR)
        alone = context.take("ops", "all", limit)
        return [Routed("ops", "all") if alone else digest("ops", "all", due_at=limit.end)]


async def test_at_most_is_counted_in_the_transaction_that_publishes(desk: Desk) -> None:
    limits = Limits()
    await routed(desk, ScriptedRouter(limits))

    await publish(desk, "one", "two", "three")
    limits.start += HOUR
    await publish(desk, "four")

    assert await due(desk, "ops") == ["one", "two", "four"]
    assert (await bundle(desk)).alerts == 1


async def test_the_route_of_a_page_is_that_of_the_page_its_group_or_all(desk: Desk) -> None:
    seen: dict[str, str | None] = {}

    def look(draft: AlertDraft, _: Instant, context: RoutingContext) -> list[Routed]:
        seen[draft.id.lstrip("0")] = context.page_route(draft.page_id or 0)
        return []

    async def tell() -> list[str | None]:
        """Publish an alert of each page in one transaction."""
        tasks = {url: await desk.task(url) for url in (A, B, C)}
        drafts = {url: alert(f"{desk.now} {url[-1]}", task.page_id) for url, task in tasks.items()}
        await desk.store.commit(desk.claim, [desk.result(tasks[url], "1", alerts=(drafts[url],)) for url in tasks])
        desk.now += DAY
        return [seen[draft.id.lstrip("0")] for draft in drafts.values()]

    _, other = await desk.watch(A, B)
    await desk.watch(C, group="press")
    await routed(desk, ScriptedRouter(look))

    assert await tell() == [None, None, None]
    await desk.store.edit_group(None, desk.now, settings={"route": "all"}, unset=())
    assert await tell() == ["all", "all", "all"]
    await desk.store.edit_group("press", desk.now, settings={"route": "group"}, unset=())
    assert await tell() == ["all", "all", "group"]
    await desk.edit(other, settings={"route": "own"})
    assert await tell() == ["all", "own", "group"]


async def test_silences_are_known_to_the_next_alert_and_counted_beside_the_digest(desk: Desk) -> None:
    def silenced(_: AlertDraft, __: Instant, context: RoutingContext) -> list[Routed]:
        number = next((each.id for each in context.silences), None)
        return [Routed("mail", "daily", "", DUE, is_digest=True, silence=number)]

    await routed(desk, ScriptedRouter(silenced))
    await publish(desk, "one")
    made = await desk.store.add_silence({"host": ["a"]}, from_at=NOW, until_at=None, reason="relaunch", who="me")
    await publish(desk, "two", "three")
    assert await desk.store.end_silence(made.id, NOW)
    await publish(desk, "four")
    await desk.store.seal_bundle(1, DUE)

    assert (await places(desk, "two"), await places(desk, "four")) == ({"mail": "silenced"}, {"mail": "gathered"})
    assert (await bundle(desk)).silenced == 2
    assert not await desk.store.end_silence(made.id, NOW)
    assert [each.ended_at for each in await desk.store.silences(limit=9)] == [NOW]
    assert await desk.store.replay("two".rjust(26, "0"), channel="mail", now=NOW) == 1
    assert await places(desk, "two") == {"mail": "waiting"}


async def test_silences_of_the_configuration_begin_and_end_with_it(desk: Desk) -> None:
    await desk.store.add_silence({"host": ["own"]}, from_at=NOW, until_at=None, reason="", who="me")
    (one,) = await desk.store.silences(limit=9)

    for declared in ([one], [one], []):
        await desk.store.declare_silences(declared, NOW)

    assert [(each.who, each.ended_at) for each in await desk.store.silences(limit=9)] == [
        ("configuration", NOW),
        ("me", None),
    ]


async def test_a_digest_counts_what_it_does_not_show(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from tocsin.adapters.stores.sql.awareness import bundles  # noqa: PLC0415 - to make it small

    monkeypatch.setattr(bundles, "SHOWN", 2)
    monkeypatch.setattr(bundles, "_STEP", 2)
    monkeypatch.setattr(bundles, "_NAMED", 1)
    (page,) = await desk.watch(A)
    await routed(desk, gathering(DUE))
    for number, page_id in enumerate([None, page, 99, page, page, page]):
        await desk.store.write_alert(alert(f"n{number}", page_id, at=NOW + number))
    await desk.store.seal_bundle(1, DUE)

    made = await desk.store.digest(1)

    assert [event["id"] for event in made.events] == ["n0", "n1"]
    assert (made.first_at, made.last_at, made.bundle.alerts) == (NOW, NOW + 5, 6)
    assert made.rest == (("", "one.example", 3), ("", "", 1))


async def _of_each_state(desk: Desk) -> None:
    """Make a bundle of each state: 1 is open, 2 sealed, 3 accepted, 4 dead."""
    for name in ("four", "three", "two", "one"):
        await routed(desk, gathering(DUE, route=name), routes=("one", "two", "three", "four"))
        await publish(desk, name)
    for number, state in ((2, "dead"), (1, "accepted")):
        await seal(desk, number, f"M{number}")
        await end(desk, state, number)
    await seal(desk, 3, "M3")


@pytest.mark.parametrize(("state", "routes"), [("open", ["one"]), ("sealed", ["two"]), ("dead", ["three"])])
async def test_digests_are_listed_by_state_the_newest_first(desk: Desk, state: BundleState, routes: list[str]) -> None:
    await _of_each_state(desk)

    assert [row.route for row in await desk.store.bundles(limit=9, state=state)] == routes
    assert [row.route for row in await desk.store.bundles(limit=2)] == ["one", "two"]
    assert [row.route for row in await desk.store.bundles(limit=9, before=2)] == ["four"]
    assert [row.route for row in await desk.store.bundles(limit=9, state="accepted", before=2)] == ["four"]
    assert await desk.store.bundles(limit=9, state="accepted", before=1) == []


async def test_the_alerts_of_a_digest_are_listed_in_parts(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one", "two", "three")
    await routed(desk, gathering(DUE, route="other"), routes=("daily", "other"))
    await publish(desk, "four")

    first = await desk.store.browse_alerts(AlertQuery(digest=1), limit=2)
    rest = await desk.store.browse_alerts(AlertQuery(digest=1), limit=2, cursor=first.next)

    assert [[row.id.lstrip("0") for row in part.rows] for part in (first, rest)] == [["three", "two"], ["one"]]
    assert rest.next is None
    assert (await desk.store.browse_alerts(AlertQuery(digest=9), limit=2)).rows == ()


async def test_a_digest_that_waits_is_due_at_once_if_asked_for(desk: Desk) -> None:
    await _of_each_state(desk)
    await desk.store.record_deliveries([DeliveryResult("M3", "mail", "waiting", DUE, DUE + DAY, "503", 7, -3)])

    assert [await desk.store.hasten_bundle(number, NOW + SECOND) for number in (1, 2, 3, 4, 9)] == [
        False, False, True, True, False,
    ]  # fmt: skip

    assert await to_seal(desk, NOW + SECOND) == (4,)
    assert [number for number, *_ in await given(desk, NOW + SECOND)] == [3]
    # One that is due already is not put off.
    assert await desk.store.hasten_bundle(4, NOW + DAY)
    assert (await bundle(desk, 4)).due_at == NOW + SECOND


async def test_a_digest_that_is_given_up_is_a_dead_letter_that_can_be_sent_later(desk: Desk) -> None:
    await _of_each_state(desk)

    given_up = [await desk.store.give_up_bundle(number, NOW, error="given up by kim") for number in (1, 2, 3, 4, 9)]

    assert given_up == [False, False, True, True, False]
    assert ((await bundle(desk, 3)).state, (await bundle(desk, 3)).error) == ("dead", "given up by kim")
    assert (await places(desk, "one"))["mail"] == "dead"
    assert await given(desk, DUE + DAY) == []
    assert await desk.store.replay_bundle(4, DUE) == 1
    # Its content is written when it is first given.
    await desk.store.keep_digest(4, SerializedEvent("M4", b'{"id":"M4"}'), None)
    assert [number for number, *_ in await given(desk)] == [4]


async def test_a_promised_digest_that_is_given_up_is_followed_by_the_next(desk: Desk) -> None:
    router = ScriptedRouter(lambda *_: [], promised=[("mail", "daily")])
    await routed(desk, router)

    await desk.store.give_up_bundle(1, NOW, error="given up by kim")

    assert [(row.id, row.state) for row in await desk.store.bundles(limit=9)] == [(2, "open"), (1, "dead")]


async def test_the_occasion_of_another_route_is_free(desk: Desk) -> None:
    later = {"1": DUE + DAY, "2": DUE}

    def by_route(draft: AlertDraft, *_: object) -> list[Routed]:
        return [digest(route=draft.id[-1], due_at=later[draft.id[-1]])]

    await routed(desk, ScriptedRouter(by_route), routes=("1", "2"))
    await publish(desk, "of 1", "of 2")

    assert [(await bundle(desk, number)).due_at for number in (1, 2)] == [DUE + DAY, DUE]


async def test_a_digest_waits_on_where_the_clock_was_not_set_back(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await seal(desk)
    await end(desk, "waiting", next_at=DUE + DAY)

    for at, next_at in ((DUE, DUE + DAY), (DUE + HOUR, DUE + DAY), (DUE - HOUR, DUE - HOUR + DAY)):
        await desk.store.resume_deliveries("mail", at)
        assert (await bundle(desk)).next_at == next_at, at


async def test_a_digest_that_failed_only_while_its_channel_did_is_due_when_that_is_back(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await seal(desk)
    await end(desk, "waiting", next_at=DUE + DAY)

    for since, next_at in ((DUE + 1, DUE + DAY), (DUE, DUE)):
        await desk.store.save_channel_state(ChannelState("mail", failures=3, since=since))
        await desk.store.save_channel_state(ChannelState("mail", accepted_at=DUE + HOUR))
        assert (await bundle(desk)).next_at == next_at


async def test_a_digest_that_was_not_tried_yet_is_due_at_once_only_where_the_clock_was_set_back(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await seal(desk)
    sealed = (await bundle(desk)).next_at
    assert sealed is not None

    for at, next_at in ((sealed, sealed), (sealed - 1, sealed - 1)):
        await desk.store.resume_deliveries("mail", at)
        assert (await bundle(desk)).next_at == next_at


async def test_a_digest_that_is_replayed_does_not_wait_for_a_clock_that_was_set_back(desk: Desk) -> None:
    await routed(desk, gathering(DUE))
    await publish(desk, "one")
    await seal(desk)
    await end(desk)
    await desk.store.replay_bundle(1, DUE + DAY)

    await desk.store.resume_deliveries("mail", DUE + HOUR)

    assert (await bundle(desk)).next_at == DUE + HOUR


async def test_an_alert_waits_for_no_other_digest_than_those_before_it_with_one_of_its_page(desk: Desk) -> None:
    names: dict[str, list[tuple[str, str, str]]] = {
        "a": [("mail", "daily", ""), ("ops", "weekly", "")],
        "x": [("ops", "daily", "x")],
        "b": [("mail", "daily", ""), ("ops", "daily", "")],
        "c": [("ops", "daily", "")],
        "e": [("ops", "late", "")],
    }

    def by_name(draft: AlertDraft, *_: object) -> list[Routed]:
        found = names.get(draft.id[-1], [])
        return [digest(*each, due_at=DUE) for each in found] or [Routed("ops", "all")]

    await routed(desk, ScriptedRouter(by_name), routes=("daily", "weekly", "late", "all"))
    await publish(desk, "a", "x", page_id=8)
    await publish(desk, "b", page_id=7)
    await seal(desk, 4, "M4")
    await publish(desk, "c", page_id=9)
    await publish(desk, "d", "e", page_id=7)
    for number in (1, 2, 3, 5, 6):
        await seal(desk, number, f"M{number}")
        await end(desk, "waiting", number, next_at=DUE + DAY)
    await end(desk, "waiting", 4, next_at=DUE + HOUR)

    assert await due(desk, "ops") == []
    assert desk.behind.look("select next_at from deliveries where state = 'waiting'") == [(DUE + HOUR,)]
