"""How many requests are under way together."""

from __future__ import annotations

import asyncio

from tocsin.engine.hosts.request_slots import FEWEST_PAGES, LATE_S, PageAllowance, RequestSlots


async def test_so_many_places_are_taken_at_once_and_no_more() -> None:
    in_flight = RequestSlots(2)

    taken = [in_flight.take_at_once() for _ in range(3)]

    assert taken == [True, True, False]


async def test_who_has_waited_longest_is_given_the_place_that_is_given_back() -> None:
    in_flight, order = RequestSlots(1), list[str]()

    async def wait(name: str) -> None:
        await in_flight.take()
        order.append(name)
        in_flight.give_back()

    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        group.create_task(wait("first"))
        group.create_task(wait("second"))
        await asyncio.sleep(0)
        in_flight.give_back()

    assert order == ["first", "second"]
    assert in_flight.free == 1


async def test_a_place_that_was_handed_to_somebody_cancelled_is_not_lost() -> None:
    in_flight = RequestSlots(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        in_flight.give_back()
        waiting.cancel()

    assert in_flight.free == 1


async def test_who_is_cancelled_while_waiting_is_passed_over() -> None:
    in_flight = RequestSlots(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        waiting.cancel()
        in_flight.give_back()

    assert in_flight.free == 1


async def test_what_is_urgent_is_given_the_next_place_before_all_who_waited_longer() -> None:
    in_flight, order = RequestSlots(1), list[str]()

    async def wait(name: str, *, urgent: bool) -> None:
        await in_flight.take(urgent=urgent)
        order.append(name)
        in_flight.give_back()

    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        group.create_task(wait("check", urgent=False))
        group.create_task(wait("another check", urgent=False))
        group.create_task(wait("rendering", urgent=True))
        await asyncio.sleep(0)
        in_flight.give_back()

    assert order == ["rendering", "check", "another check"]
    assert in_flight.taken == 0


def test_a_process_that_is_late_has_fewer_pages_in_hand_but_never_none() -> None:
    allowance, pages = PageAllowance(1000), [1000]

    for _ in range(12):
        allowance.adapt(LATE_S * 3, in_hand=allowance.pages)
        pages.append(allowance.pages)

    assert pages == sorted(pages, reverse=True)
    assert pages[-1] == FEWEST_PAGES


def test_a_process_that_is_late_is_cut_by_what_it_has_and_not_by_what_it_may_have() -> None:
    allowance = PageAllowance(1000)

    allowance.adapt(LATE_S * 1.25, in_hand=200)

    assert allowance.pages == 160


def test_a_process_that_is_late_no_longer_has_all_its_pages_again() -> None:
    allowance = PageAllowance(1000)
    allowance.adapt(60.0, in_hand=10)

    for _ in range(20):
        allowance.adapt(0.0, in_hand=0)

    assert allowance.pages == 1000


def test_little_lag_changes_nothing() -> None:
    allowance = PageAllowance(1000)
    allowance.adapt(60.0, in_hand=400)

    allowance.adapt(LATE_S * 0.75, in_hand=200)

    assert allowance.pages == 200


def test_where_few_requests_are_let_through_few_pages_are_the_fewest() -> None:
    allowance = PageAllowance(4)

    allowance.adapt(60.0, in_hand=4)

    assert allowance.pages == 4
