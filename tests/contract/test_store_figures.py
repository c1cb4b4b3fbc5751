from __future__ import annotations

from datetime import timedelta

from tests.contract.desk import DAY, HOUR, NOW, Desk, alert
from tests.routers import ScriptedRouter, digest
from tocsin.model import ChannelFigures, ChannelState, DeliveryResult, Instruction, Routed, SerializedEvent


async def test_an_empty_store_holds_nothing(desk: Desk) -> None:
    figures = await desk.store.figures(NOW)

    assert (figures.at, figures.pages, figures.position, figures.alerts, figures.channels) == (NOW, 0, 0, {}, {})
    assert (figures.renders_waiting, figures.renders_oldest_at) == (0, None)
    assert (figures.questions_open, figures.questions_oldest_at) == (0, None)
    assert figures.bytes > 10_000
    # What is free on the disk of a server is not ours to know.
    assert (figures.free_bytes is not None) == (desk.behind.kind == "sqlite")


async def test_pages_are_counted_as_they_come_and_go(desk: Desk) -> None:
    ids = await desk.watch(*(f"https://example.org/{number}" for number in range(5)))
    before = await desk.store.figures(NOW)

    await desk.store.remove_pages(ids[:2])

    assert (before.pages, (await desk.store.figures(NOW)).pages) == (5, 3)


async def test_alerts_are_counted_behind_a_position(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        await desk.store.write_alert(alert(name, None))

    assert (await desk.store.figures(NOW)).alerts == {}
    figures = await desk.store.figures(NOW, after=1)
    assert (figures.alerts, figures.position) == ({("changed", ""): 2}, 3)


async def test_each_channel_has_its_backlog_its_age_and_its_dead(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "desk"])
    for place, name in enumerate(("a", "b", "c")):
        await desk.store.write_alert(alert(name, None, at=NOW + place))
    ids = [row.id for row in await desk.store.alerts(limit=3)][::-1]
    await desk.store.record_deliveries(
        [
            DeliveryResult(ids[0], "ops", "accepted", NOW, None, None),
            DeliveryResult(ids[1], "ops", "dead", NOW, None, "no"),
        ]
    )
    await desk.store.save_channel_state(ChannelState("desk", 2, NOW + DAY, disabled=True, error="gone"))

    channels = (await desk.store.figures(NOW)).channels

    assert channels == {
        "ops": ChannelFigures(waiting=1, oldest_at=NOW + 2, dead=1),
        "desk": ChannelFigures(waiting=3, oldest_at=NOW, dead=0, is_disabled=True, is_failing=True),
    }


async def test_a_page_counts_as_waiting_for_its_rendering_unless_it_is_paused(desk: Desk) -> None:
    ids = await desk.watch("https://example.org/a", "https://example.org/b")
    for url in ("https://example.org/a", "https://example.org/b"):
        await desk.check(url, "2026-01-01")
        desk.now += 1
        await desk.check(url, "2026-01-01 2026-02-02")
    await desk.edit(ids[0], paused=True)

    figures = await desk.store.figures(desk.now)

    assert (figures.renders_waiting, figures.renders_oldest_at) == (1, desk.now)


async def test_a_question_counts_while_it_is_asked_and_not_answered(desk: Desk) -> None:
    await desk.watch("https://example.org/a")
    await desk.fail("https://example.org/a")
    gathering = await desk.store.figures(desk.now)
    (question,) = await desk.store.questions_to_announce(desk.now + DAY)
    await desk.store.announce(question.id, alert("q", None), desk.now + 5)

    figures = await desk.store.figures(desk.now)

    assert gathering.questions_open == 0
    assert (figures.questions_open, figures.questions_oldest_at) == (1, desk.now + 5)


async def test_a_question_that_was_answered_is_open_no_more(desk: Desk) -> None:
    await desk.watch("https://example.org/a")
    await desk.fail("https://example.org/a")
    (question,) = await desk.store.questions_to_announce(desk.now + DAY)
    await desk.store.announce(question.id, alert("q", None), desk.now)

    await desk.store.answer(question.id, Instruction("again"), scope="page", url=None, now=desk.now)

    assert (await desk.store.figures(desk.now)).questions_open == 0


async def test_digests_silenced_and_unrouted_alerts_are_counted(desk: Desk) -> None:
    answers = {"d": [digest(due_at=NOW + HOUR)], "s": [Routed("mail", "daily", silence=1)], "n": []}
    await desk.store.set_channels(["mail"])
    await desk.store.set_routes(ScriptedRouter(lambda draft, *_: answers[draft.id[-2]]), ["daily"], NOW)
    for name in ("d1", "d2", "s1", "n1"):
        await desk.store.write_alert(alert(name, None))
    await desk.store.seal_bundle(1, NOW + HOUR)
    await desk.store.keep_digest(1, SerializedEvent("M", b'{"id": "M"}'), None)
    await desk.store.record_deliveries([DeliveryResult("M", "mail", "dead", NOW, position=-1)])
    await desk.store.write_alert(alert("d3", None))

    figures = await desk.store.figures(NOW + HOUR)

    assert figures.channels["mail"] == ChannelFigures(
        dead=2, gathered=1, silenced=1, bundles={"dead": 1, "open": 1}, digest_due_at=NOW + 2 * HOUR
    )
    assert (figures.unrouted, (await desk.store.figures(NOW + 8 * DAY)).unrouted) == (1, 0)


async def test_nodes_are_counted_by_state_and_so_are_parts_without_one(desk: Desk) -> None:
    before = (await desk.store.figures(NOW)).nodes
    other = await desk.store.enter("other", timedelta(minutes=1), {})
    await desk.store.enter("drained", timedelta(minutes=1), {})
    await desk.store.drain_node("drained", draining=True)
    await desk.store.enter("gone", timedelta(), {})
    assert other is not None

    figures = await desk.store.figures(NOW)

    added = {state: number - before.get(state, 0) for state, number in figures.nodes.items()}
    assert added == {"working": 1, "draining": 1, "gone": 1}
    assert figures.parts_alone == await desk.store.parts_alone()
    await desk.store.take_parts(other, 4096, expired=True)
    assert (await desk.store.figures(NOW)).parts_alone == 0
