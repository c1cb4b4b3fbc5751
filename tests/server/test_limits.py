"""Limits on requests: what clients without a token may take of the loop."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

from starlette.types import Message, Receive, Scope, Send

from tocsin.server.access.limits import MOST_UNKNOWN, MOST_UNKNOWN_OF_AN_ADDRESS, RequestLimits
from tocsin.server.parts import SENDER, Sender


class Turns:
    """An application that answers at once; notes in which turn of the loop it made each answer."""

    def __init__(self) -> None:
        self.now = 0
        self.answered: list[int] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI has it
        self.answered.append(self.now)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(self, addresses: int, requests: int) -> int:
        """Send requests of unknown clients, all at once; returns the most that were answered in one turn."""
        limits = RequestLimits(self)
        async with asyncio.TaskGroup() as group:
            for number in range(requests):
                group.create_task(limits(_scope(f"192.0.2.{number % addresses}"), _nothing, _drop))
            while len(self.answered) < requests:
                await asyncio.sleep(0)
                self.now += 1
        return max(self.answered.count(turn) for turn in set(self.answered))


def _scope(address: str) -> Scope:
    sender = Sender(ip_address(address), believed=False, origin=None)
    return {"type": "http", "method": "GET", "path": "/static/a/b", "headers": [], SENDER: sender}


async def _nothing() -> Message:
    raise AssertionError("a request to read has no body")


async def _drop(_message: Message) -> None:
    return


async def test_a_turn_of_the_loop_makes_few_answers_to_unknown_clients() -> None:
    assert await Turns().ask(1, 200) <= MOST_UNKNOWN_OF_AN_ADDRESS


async def test_a_turn_of_the_loop_makes_few_answers_to_unknown_clients_of_many_addresses() -> None:
    assert await Turns().ask(100, 400) <= MOST_UNKNOWN
