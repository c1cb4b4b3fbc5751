"""`docs/following.md` says what is so, and its program works."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from tests.house.sources import ROOT
from tocsin.model import Scope
from tocsin.server.streams import events, feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.streams.conftest import Desk

DOCUMENT = (ROOT / "docs/following.md").read_text("utf-8")


def told(heading: str) -> list[str]:
    """The first column of the table under this heading."""
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_parameter_of_the_stream_is_told() -> None:
    (route,) = events.router.routes
    known = {found.alias for found in route.dependant.query_params}  # type: ignore[attr-defined]  # it is FastAPI's

    assert sorted(told("`/events`")) == sorted(known)


def test_every_feed_is_told() -> None:
    routes = feed.router.routes
    paths = [route.path for route in routes]  # type: ignore[attr-defined]  # as above
    known = {re.sub(r"{\w*?(id|name)(?::path)?}", lambda found: found[1].upper(), path) for path in paths}

    assert set(told("Feeds")) == known


def test_the_bounds_are_those_that_are_told() -> None:
    assert f"{events.MOST} streams" in DOCUMENT
    assert f"{events.MOST_OF_A_TOKEN} with one token" in DOCUMENT
    assert f"{events.MOST_OF_AN_ADDRESS} from one address" in DOCUMENT
    assert f"every {events.HEARTBEAT_S:.0f} seconds" in DOCUMENT
    assert "thirty entries" in DOCUMENT
    assert feed.ENTRIES == 30


async def test_the_program_follows_and_takes_up_where_it_was(desk: Desk) -> None:
    scope: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)\n```", DOCUMENT, re.DOTALL)[0], scope)  # noqa: S102 - what readers are to copy
    token = await desk.rig.token(Scope.READ)
    url = f"http://localhost:{desk.address[1]}/events"
    await desk.publish("a", "b", "c")

    def following(position: str) -> Iterator[tuple[str, dict[str, Any]]]:
        found: Iterator[tuple[str, dict[str, Any]]] = scope["follow"](url, token, position)
        return found

    def two(position: str) -> list[tuple[str, str]]:
        stream = following(position)
        heard = [next(stream) for _ in range(2)]
        stream.close()  # type: ignore[attr-defined]  # it is a generator
        return [(place, event["id"]) for place, event in heard]

    first = await asyncio.to_thread(two, "0")
    await desk.publish("d")
    second = await asyncio.to_thread(two, first[-1][0])

    assert first + second == [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")]
