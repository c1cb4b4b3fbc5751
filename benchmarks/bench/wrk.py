"""What the server can do: wrk asks for the same pages, from the last core."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING

from benchmarks.bench.corpus import DOCUMENTS, MEAN_BYTES, documents
from benchmarks.bench.measure import Figure, on_last_core

if TYPE_CHECKING:
    from benchmarks.bench.site import Site

HOW_TO_GET = "Debian, Ubuntu: apt install wrk; macOS: brew install wrk"
SECONDS = 1
_RATE = re.compile(r"Requests/sec: +([0-9.]+)")
_WRONG = re.compile(r"Non-2xx or 3xx responses: ([0-9]+)|Socket errors: (.*)")


async def measure(site: Site) -> list[Figure]:
    """Ask for one page again and again; nothing if wrk is not there."""
    program = shutil.which("wrk")
    if program is None:
        return []
    # The page whose length is nearest to the mean says the same as all of them.
    lengths = [document.length for document in documents()]
    typical = min(range(DOCUMENTS), key=lambda number: abs(lengths[number] - MEAN_BYTES))
    with on_last_core():
        process = await asyncio.create_subprocess_exec(
            program,
            *("-t1", "-c200", f"-d{SECONDS}s", site.url(typical, "unconditional")),
            stdout=asyncio.subprocess.PIPE,
        )
    said = (await process.communicate())[0].decode()
    rate, wrong = _RATE.search(said), _WRONG.search(said)
    if rate is None or wrong is not None:
        raise RuntimeError(f"wrk could not measure {site.name}: {said}")
    note = f"one page of 52 KB, 200 connections, {site.name}"
    return [Figure("what the server can do (wrk)", float(rate[1]), "1/s", note=note)]
