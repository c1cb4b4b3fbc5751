"""What is known of pages beside their states, and the noise of hosts."""

from __future__ import annotations

import pytest
from msgspec import structs

from tests.builders import with_changes
from tests.contract.desk import DAY, NOW, A, B, C, Desk
from tocsin.adapters.stores.sql.checking.results import is_same
from tocsin.engine.judging.noise import HOST_MUTES_AT, muted_keys
from tocsin.model import CheckResult, PageKnowledge, PageNoise, SignalContext, Snapshot

KNOWN = PageKnowledge(
    "1", {"json-ld.modified": "2026-01-02"}, b"\x00fingerprint", (PageNoise(7, "a counter", 2),), (1, 2**63 - 1)
)


async def test_what_a_check_learnt_stands_beside_the_state_at_the_next(desk: Desk) -> None:
    await desk.watch(A)

    await desk.check(A, "1", known=KNOWN)

    assert (await desk.task(A)).beside == SignalContext(KNOWN)


async def test_a_page_that_nothing_is_known_of_has_no_row(desk: Desk) -> None:
    await desk.watch(A)

    await desk.check(A, "1")

    assert (await desk.task(A)).beside is None
    assert desk.behind.look("select count(*) from learnt") == [(0,)]


async def test_an_unchanged_page_may_have_learnt_something(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    desk.now += DAY
    later = structs.replace(KNOWN, values={})

    await desk.check(A, "1", known=later)

    assert (await desk.task(A)).beside == SignalContext(later)


async def test_a_check_that_learnt_nothing_new_leaves_what_is_known(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    desk.now += DAY

    await desk.check(A, "1")

    assert (await desk.task(A)).beside == SignalContext(KNOWN)


async def test_what_a_refused_result_learnt_is_not_kept(desk: Desk) -> None:
    """Its page was stored anew meanwhile: what it knew was compared with another state."""
    await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    outdated = desk.result(await desk.task(A), "1", known=structs.replace(KNOWN, values={}))
    desk.now += DAY
    await desk.check(A, "2")

    await desk.store.commit(desk.claim, [outdated])

    assert (await desk.task(A)).beside == SignalContext(KNOWN)


async def test_what_an_unchanged_page_learnt_needs_no_look_at_its_row(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    text = Snapshot(b"digest", b"packed", desk.now)

    assert is_same(desk.result(await desk.task(A), "1", known=KNOWN, snapshot=text))


async def test_of_a_batch_one_of_whose_pages_is_another_by_now_the_others_are_learnt(desk: Desk) -> None:
    pages = await desk.watch(A, B)
    for url in (A, B):
        await desk.check(url, "1")
    desk.now += DAY
    results = [desk.result(await desk.task(url), "1", known=KNOWN) for url in (A, B)]
    await desk.check(B, "2")

    await desk.store.commit(desk.claim, results)

    assert (await desk.task(A)).beside == SignalContext(KNOWN)
    assert (await desk.task(B)).beside is None
    assert desk.behind.look("select page_id from learnt") == [(pages[0],)]


async def test_nothing_is_known_of_a_page_that_was_removed(desk: Desk) -> None:
    (page,) = await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    late = desk.result(await desk.task(A), "1", known=KNOWN)

    await desk.store.remove_pages([page])
    await desk.store.commit(desk.claim, [late])

    assert desk.behind.look("select count(*) from learnt") == [(0,)]


@pytest.mark.parametrize("damage", [b"", b"\0", b"\x93\xa1\x31", b"\xc1", bytes(5000)])
async def test_of_a_damaged_value_nothing_is_known_and_the_check_of_the_store_tells(desk: Desk, damage: bytes) -> None:
    await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    desk.behind.alter("update learnt set known = ?", damage)

    beside = (await desk.task(A)).beside

    assert beside is not None
    assert beside.known is None
    assert await desk.store.check() == [
        "page 1: what is known of it cannot be read, and counts as nothing until it is written anew"
    ]
    await desk.check(A, "1", known=KNOWN)


async def test_a_suspicion_is_remembered_until_the_page_is_back(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")

    await desk.check(A, "1", suspected=True, state=None)
    suspected = (await desk.task(A)).suspected
    await desk.check(A, "1")

    assert (suspected, (await desk.task(A)).suspected) == (True, False)


async def test_a_rendering_writes_what_it_learnt(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")

    await desk.render(A, known=KNOWN)

    assert (await desk.task(A)).beside == SignalContext(KNOWN)


async def test_a_rendering_is_given_what_is_known(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2", known=KNOWN)

    assert (await desk.job(A)).task.beside == SignalContext(KNOWN)


# Noise ------------------------------------------------------------------------------------------------------------


def muting(desk: Desk, result: CheckResult, *keys: int) -> CheckResult:
    """The same check, having muted these places just now."""
    noise = tuple(PageNoise(key, f"place {key}", 3, since=desk.now + 1) for key in keys)
    return with_changes(result, known=structs.replace(KNOWN, noise=noise))


async def mute_on(desk: Desk, *urls: str, key: int = 7) -> None:
    """Let checks of these pages mute a place."""
    tasks = {task.url: task for task in await desk.due()}
    await desk.store.commit(desk.claim, [muting(desk, desk.result(tasks[url], "1"), key) for url in urls])


def pages_of(host: str, count: int) -> list[str]:
    """So many URLs of a host."""
    return [f"https://{host}/{number}" for number in range(count)]


async def test_what_enough_pages_of_a_host_mute_is_muted_on_all(desk: Desk) -> None:
    urls = pages_of("one.example", HOST_MUTES_AT)
    await desk.watch(*urls, A, C)

    await mute_on(desk, *urls[:-1])
    before = (await desk.task(A)).beside
    await mute_on(desk, urls[-1])

    assert before is None or before.host_muted == ()
    after = (await desk.task(A)).beside
    assert after is not None
    assert muted_keys(after) == {7}
    assert (await desk.task(C)).beside is None


async def test_a_page_counts_once_for_its_host(desk: Desk) -> None:
    await desk.watch(A)

    for _ in range(2 * HOST_MUTES_AT):
        await mute_on(desk, A)
        desk.now += DAY

    (noise,) = await desk.store.noise_of_host("one.example")
    assert (noise.key, noise.what, noise.pages, noise.muted_at) == (7, "place 7", (1,), None)


async def test_what_was_muted_before_is_not_counted_again(desk: Desk) -> None:
    await desk.watch(A)
    task = await desk.task(A)
    old = structs.replace(KNOWN, noise=(PageNoise(7, "a counter", 3, since=desk.now - 1),))

    await desk.store.commit(desk.claim, [desk.result(task, "1", known=old)])

    assert await desk.store.noise_of_host("one.example") == []


async def test_the_user_hears_of_a_place_of_one_page(desk: Desk) -> None:
    page, _ = await desk.watch(A, B)
    await mute_on(desk, A, B)

    await desk.store.hear(page, [7], muted=False)

    assert muted_keys((await desk.task(A)).beside) == set()
    assert muted_keys((await desk.task(B)).beside) == {7}


async def test_what_the_user_heard_of_is_muted_again_on_demand(desk: Desk) -> None:
    (page,) = await desk.watch(A)
    await mute_on(desk, A)
    await desk.store.hear(page, [7, 8], muted=False)

    await desk.store.hear(page, [7], muted=True)

    beside = (await desk.task(A)).beside
    assert beside is not None
    assert beside.heard == (8,)
    assert muted_keys(beside) == {7}


async def test_the_user_hears_of_a_place_of_all_pages_of_a_host(desk: Desk) -> None:
    urls = pages_of("one.example", HOST_MUTES_AT)
    await desk.watch(*urls, A)
    await mute_on(desk, *urls)

    await desk.store.hear_host("one.example", [7, 8], muted=False)
    heard = [muted_keys((await desk.task(url)).beside) for url in (urls[0], A)]
    await desk.store.hear_host("one.example", [7], muted=True)

    assert heard == [set(), set()]
    assert [muted_keys((await desk.task(url)).beside) for url in (urls[0], A)] == [{7}, {7}]
    assert [noise.key for noise in await desk.store.noise_of_host("one.example")] == [7]


async def test_what_is_known_of_a_page_is_read_by_its_url(desk: Desk) -> None:
    (page,) = await desk.watch(A)
    nothing = await desk.store.learnt(A)
    await desk.check(A, "1", known=KNOWN)

    assert nothing == (page, SignalContext())
    assert await desk.store.learnt(A) == (page, SignalContext(KNOWN))
    assert await desk.store.learnt(B) is None


async def test_a_page_that_is_gone_is_not_heard_of(desk: Desk) -> None:
    await desk.store.hear(99, [7], muted=False)
    await desk.store.hear_host("gone.example", [7], muted=False)

    assert desk.behind.look("select count(*) from learnt") == [(0,)]


async def test_of_a_host_a_bounded_number_of_places_is_remembered(desk: Desk) -> None:
    await desk.watch(A)
    task = await desk.task(A)
    await desk.store.commit(desk.claim, [muting(desk, desk.result(task, "1"), *range(1, 400))])

    assert len(await desk.store.noise_of_host("one.example")) == 256


async def test_the_store_keeps_what_it_knows_when_it_is_opened_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1", known=KNOWN)
    await desk.store.close()

    again = await desk.again()
    async with again.store:
        again.now = NOW
        assert (await again.task(A)).beside == SignalContext(KNOWN)
    desk.store = (await desk.again()).store
