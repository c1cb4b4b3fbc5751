"""The lower bound: aiohttp as it comes, asking for the same pages and doing nothing with them.

python -m benchmarks.bench.bare FILE IN_FLIGHT     gets the pages of a list once
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import aiohttp
import uvloop


class NotWhole(RuntimeError):
    """A page was not answered as it was to be."""


async def get_all(
    urls: Sequence[str],
    *,
    in_flight: int,
    validators: Mapping[str, str] | None = None,
    connector: aiohttp.TCPConnector | None = None,
) -> dict[str, str]:
    """Get every page whole, so many at once; returns the validators given.

    validators  sent with each request, if given: the answers must then be 304
    connector   aiohttp's own, if none is given
    Raises NotWhole for an answer that is another one.
    """
    wanted = 304 if validators else 200
    given: dict[str, str] = {}

    async def work(session: aiohttp.ClientSession, waiting: Iterator[str]) -> None:
        for url in waiting:
            headers = {"If-None-Match": validators[url]} if validators else None
            async with session.get(url, headers=headers) as response:
                body = await response.read()
                if response.status != wanted or bool(body) != (wanted == 200):
                    raise NotWhole(f"{url} was answered with {response.status} and {len(body)} bytes")
                given[url] = response.headers.get("ETag", "")

    waiting = iter(urls)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        for number in range(in_flight):
            group.create_task(work(session, waiting), name=f"bare-{number}")
    return given


async def _main(urls: Sequence[str], in_flight: int) -> None:
    await get_all(urls, in_flight=in_flight, connector=aiohttp.TCPConnector(limit=in_flight))


if __name__ == "__main__":
    uvloop.run(_main(Path(sys.argv[1]).read_text(encoding="utf-8").split(), int(sys.argv[2])))
