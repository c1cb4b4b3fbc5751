"""What is made once for all who want it: whose turn it is, and who gives up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from starlette.requests import ClientDisconnect

from tests.fakes import settle
from tocsin.errors import StoreError
from tocsin.server import making
from tocsin.server.making import Busy, Making, Waiter

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, nobody gives up; a test may be less patient."""
    monkeypatch.setattr(making, "WAIT_S", 3600)


class Client:
    """Somebody who asks, and hangs up when told to."""

    def __init__(self) -> None:
        self._gone = asyncio.Event()

    def leave(self) -> None:
        self._gone.set()

    async def hung_up(self) -> None:
        await self._gone.wait()


class Workshop:
    """What is made here waits until it is let go on.

    begun  in the order of their turns
    """

    def __init__(self, at_once: int = 1, *, most_bytes: int = making.MOST_BYTES) -> None:
        self.making: Making[str, str] = Making(at_once, most_bytes=most_bytes)
        self.begun: list[str] = []
        self.go_on = asyncio.Semaphore(0)
        self.stopping = asyncio.Event()
        self.failing: Exception | None = None

    async def want(self, key: str, client: Client | None = None, *, size: int = 0, is_large: bool = False) -> str:
        async def make() -> str:
            self.begun.append(key)
            await self.go_on.acquire()
            if self.failing is not None:
                raise self.failing
            return key.upper()

        waiter = Waiter((client or Client()).hung_up, self.stopping)
        return await self.making.get(key, make, waiter, size=size, is_large=is_large)

    def let_go(self, pieces: int) -> None:
        for _ in range(pieces):
            self.go_on.release()


async def wanted(workshop: Workshop, group: asyncio.TaskGroup, keys: Sequence[str]) -> list[asyncio.Task[str]]:
    """Want these, one after the other; capital letters are large."""
    tasks = []
    for key in keys:
        tasks.append(group.create_task(workshop.want(key, is_large=key.isupper())))
        await settle()
    return tasks


async def test_all_who_want_the_same_have_what_is_made_once() -> None:
    workshop = Workshop()
    async with asyncio.TaskGroup() as group:
        tasks = await wanted(workshop, group, "aaa")
        assert workshop.making.wanted == {"a": 3}
        workshop.let_go(1)

    assert ([task.result() for task in tasks], workshop.begun) == (["A"] * 3, ["a"])
    assert workshop.making.wanted == {}


async def test_what_was_made_is_not_kept_here() -> None:
    workshop = Workshop()
    workshop.let_go(2)

    await workshop.want("a")
    await workshop.want("a")

    assert workshop.begun == ["a", "a"]


@pytest.mark.parametrize(("at_once", "begun"), [(1, "a"), (2, "ab"), (3, "abc")])
async def test_no_more_are_made_at_one_time_than_may_be(at_once: int, begun: str) -> None:
    workshop = Workshop(at_once)
    async with asyncio.TaskGroup() as group:
        await wanted(workshop, group, "abc")
        at_first = "".join(workshop.begun)
        workshop.let_go(3)

    assert (at_first, "".join(workshop.begun)) == (begun, "abc")


@pytest.mark.parametrize(
    ("came", "made"), [("AbCd", "AbdC"), ("ABCd", "AdBC"), ("aBCd", "aBdC"), ("Abcd", "Abcd"), ("ABC", "ABC")]
)
async def test_of_large_pieces_one_alone_is_before_a_small_one(came: str, made: str) -> None:
    workshop = Workshop()
    async with asyncio.TaskGroup() as group:
        await wanted(workshop, group, came)
        workshop.let_go(len(came))

    assert "".join(workshop.begun) == made


@pytest.mark.parametrize("leaving", [0, 1])
async def test_what_somebody_still_wants_is_made_whoever_of_them_hangs_up(leaving: int) -> None:
    workshop, clients = Workshop(), (Client(), Client())
    async with asyncio.TaskGroup() as group:
        first = group.create_task(workshop.want("a"))
        await settle()
        tasks = [group.create_task(_gone(workshop, "b", client)) for client in clients]
        await settle()
        clients[leaving].leave()
        await settle()
        assert workshop.making.wanted == {"a": 1, "b": 1}
        workshop.let_go(2)

    assert first.result() == "A"
    # Who came first makes it for the other one, and has it, too.
    assert [task.result() for task in tasks] == (["B", "B"] if leaving == 0 else ["B", "gone"])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_what_nobody_wants_any_more_is_not_begun_and_leaves_its_place_to_the_next(order: tuple[int, int]) -> None:
    workshop, clients = Workshop(), (Client(), Client())
    async with asyncio.TaskGroup() as group:
        await wanted(workshop, group, "a")
        tasks = [group.create_task(_gone(workshop, "b", client)) for client in clients]
        await settle()
        for number in order:
            clients[number].leave()
            await settle()
        are_gone = [task.done() for task in tasks]
        again = await wanted(workshop, group, "cb")
        workshop.let_go(3)

    assert (are_gone, [task.result() for task in tasks]) == ([True, True], ["gone", "gone"])
    assert ([task.result() for task in again], workshop.begun) == (["C", "B"], ["a", "c", "b"])


async def test_a_large_piece_that_nobody_wants_any_more_holds_up_no_other_large_one() -> None:
    workshop, client = Workshop(), Client()
    async with asyncio.TaskGroup() as group:
        await wanted(workshop, group, "a")
        group.create_task(_gone(workshop, "B", client, is_large=True))
        await settle()
        await wanted(workshop, group, "C")
        client.leave()
        await settle()
        workshop.let_go(2)

    assert workshop.begun == ["a", "C"]


async def test_what_was_begun_is_made_to_its_end() -> None:
    workshop, client = Workshop(), Client()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(workshop.want("a", client))
        await settle()
        client.leave()
        await settle()
        workshop.let_go(1)

    assert task.result() == "A"


async def test_nobody_waits_for_their_turn_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    workshop = Workshop()
    async with asyncio.TaskGroup() as group:
        await wanted(workshop, group, "a")
        with monkeypatch.context() as hurried:
            hurried.setattr(making, "WAIT_S", 0)
            with pytest.raises(Busy, match="was not there within"):
                await workshop.want("a")
            with pytest.raises(Busy) as refused:
                await workshop.want("b")
        workshop.let_go(1)

    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "10"})
    assert (workshop.begun, workshop.making.wanted) == (["a"], {})


async def test_what_is_waited_for_in_turn_is_waited_for_no_longer_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Workshop(), Workshop()
    async with asyncio.TaskGroup() as group:
        await wanted(first, group, "a")
        await wanted(second, group, "b")
        with monkeypatch.context() as hurried:
            hurried.setattr(making, "WAIT_S", 0)
            waiter = Waiter(Client().hung_up, asyncio.Event())
        with pytest.raises(Busy):
            await first.making.get("a", _nothing, waiter)
        with pytest.raises(Busy):
            await second.making.get("b", _nothing, waiter)
        first.let_go(1)
        second.let_go(1)


async def test_at_a_stop_nobody_waits_any_longer_and_what_was_begun_is_made() -> None:
    workshop = Workshop()
    async with asyncio.TaskGroup() as group:
        (begun,) = await wanted(workshop, group, "a")
        waiting = [group.create_task(_failed(workshop, key)) for key in "abb"]
        await settle()
        workshop.stopping.set()
        told = [await each for each in waiting]
        was_begun_over = begun.done()
        workshop.let_go(1)

    assert {each.partition(":")[0] for each in told} == {"The service stops"}
    assert (was_begun_over, begun.result(), workshop.begun, workshop.making.wanted) == (False, "A", ["a"], {})


async def test_why_it_cannot_be_made_is_told_to_all_who_want_it() -> None:
    workshop = Workshop()
    workshop.failing = StoreError("the disk is full")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_failed(workshop, "a")) for _ in range(3)]
        await settle()
        workshop.let_go(1)

    assert [task.result() for task in tasks] == ["the disk is full"] * 3


async def test_where_whoever_makes_it_is_stopped_nobody_else_waits_for_ever() -> None:
    workshop = Workshop()
    async with asyncio.TaskGroup() as group:
        makers = await wanted(workshop, group, "ab")
        tasks = [group.create_task(_failed(workshop, key)) for key in "ab"]
        await settle()
        for maker in makers:
            maker.cancel()

    assert all("could not be made to its end" in task.result() for task in tasks)
    assert workshop.making.wanted == {}


async def test_what_waits_holds_no_more_bytes_than_may_be() -> None:
    workshop = Workshop(most_bytes=10)
    async with asyncio.TaskGroup() as group:
        for key, size in (("a", 11), ("b", 0)):
            group.create_task(workshop.want(key, size=size))
            await settle()
        with pytest.raises(Busy, match="waits for its turn"):
            await workshop.want("c", size=1)
        workshop.let_go(3)

    assert await workshop.want("c", size=1) == "C"


async def _gone(workshop: Workshop, key: str, client: Client, *, is_large: bool = False) -> str:
    """Want something; "gone" where whoever wants it is."""
    try:
        return await workshop.want(key, client, is_large=is_large)
    except ClientDisconnect:
        return "gone"


async def _nothing() -> str:
    return ""


async def _failed(workshop: Workshop, key: str) -> str:
    """Say why something could not be had."""
    with pytest.raises((Busy, StoreError)) as refused:
        await workshop.want(key)
    return str(refused.value)
