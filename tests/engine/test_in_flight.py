"""How many requests are under way together."""

from __future__ import annotations

import asyncio

from tocsin.engine.in_flight import InFlight


async def test_so_many_places_are_taken_at_once_and_no_more() -> None:
    in_flight = InFlight(2)

    taken = [in_flight.take_at_once() for _ in range(3)]

    assert taken == [True, True, False]


async def test_who_has_waited_longest_is_given_the_place_that_is_given_back() -> None:
    in_flight, order = InFlight(1), list[str]()

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
    in_flight = InFlight(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        in_flight.give_back()
        waiting.cancel()

    assert in_flight.free == 1


async def test_who_is_cancelled_while_waiting_is_passed_over() -> None:
    in_flight = InFlight(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        waiting.cancel()
        in_flight.give_back()

    assert in_flight.free == 1
