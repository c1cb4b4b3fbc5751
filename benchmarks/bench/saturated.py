"""What becomes of alerts where there is more to check than a processor can do: the real service, held to one core.

    python -m benchmarks.bench.saturated     the site: prints its port; ends when its standard input does

Nearly all pages declare nothing, so that each is read whole; one in ten declares another date each time it is asked
for, and is owed an alert each time.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import uvloop

from benchmarks.bench.corpus import date_of, documents
from benchmarks.bench.fetchers import watch_due
from benchmarks.bench.measure import Figure, Sizes, figure, on_last_core
from benchmarks.bench.processes import ServingProcess
from benchmarks.bench.size_service import Service

HOSTS = 200
DECLARING = 10
"""One page in so many declares its changes."""
IN_FLIGHT = 1000
"""As it is by default."""
_LOOK_S, _PATIENCE_S = 0.5, 120.0
_PAGES, _MEASURED_S = 2000, 20.0
_META = re.compile(rb"<meta name=[^>]*>|<meta property=[^>]*>|<script type=.application/ld.json.>.*?</script>")
_CHANNEL = """
[channels.lines]
type = "file"
path = "{folder}/alerts.jsonl"
"""


class Seen(NamedTuple):
    """What a service did in the time measured.

    checks    that were written
    owed      of them, those whose page declared a change
    alerts    given to the channel
    late_s    how long the page was due that was due the longest
    lag_s     how long the loop of a process kept waiting what was ready, at most; None: the service does not tell
    answer_s  how long its web server took to answer, at most
    """

    checks: float
    owed: float
    alerts: int
    late_s: float
    lag_s: float | None
    answer_s: float


async def measure(sizes: Sizes) -> list[Figure]:
    """Let a service with two fetchers work on one core, with all pages due all the time."""
    seconds = _MEASURED_S if sizes.rounds > 1 else _LOOK_S
    pages = min(sizes.fetched, _PAGES)
    async with ServingProcess("saturated") as site:
        seen = await _run(site.port, pages, seconds)
    rate = seen.checks / seconds
    note = f"{pages:,} pages, two fetchers, one core"
    figures = [
        figure("saturated, alerts told", [seen.alerts / seconds], "1/s", note=note),
        figure("… beside", [seen.alerts / seconds], "1/s", beside="changes found", reference=[seen.owed / seconds]),
        figure("… checks", [rate], "1/s"),
        figure("… oldest lateness", [seen.late_s], "s"),
        figure("… web server's answer, the slowest", [seen.answer_s], "s"),
    ]
    if seen.lag_s is not None:
        figures.append(figure("… loop lag, the longest", [seen.lag_s], "s"))
    return figures


async def _run(port: int, pages: int, seconds: float) -> Seen:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        urls = [f"http://127.0.{number % HOSTS // 100}.{number % 100 + 1}:{port}/{number}" for number in range(pages)]
        await watch_due(urls, folder)
        with on_last_core():
            service = Service(folder, in_flight=IN_FLIGHT, fetchers=2, more=_CHANNEL.format(folder=folder))
            await service.__aenter__()
        try:
            await _warm(service, pages)
            before, alerts = await _metrics(service), _alerts(folder)
            late_s, lags, answers = 0.0, list[float](), list[float]()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                await asyncio.sleep(_LOOK_S)
                began = time.monotonic()
                now = await _metrics(service)
                answers.append(time.monotonic() - began)
                late_s = max(late_s, now["tocsin_lateness_seconds"])
                lags += [value for key, value in now.items() if key.startswith("tocsin_loop_lag_seconds")]
            after = await _metrics(service)
            told = _alerts(folder) - alerts
        finally:
            await service.__aexit__(None, None, None)
    grown = Counter(after)
    grown.subtract(before)
    checks = _checks(grown)
    owed = sum(grown[f'tocsin_checks_total{{outcome="{outcome}"}}'] for outcome in ("major", "minor"))
    return Seen(checks, owed, told, late_s, max(lags, default=None), max(answers, default=0.0))


async def _warm(service: Service, pages: int) -> None:
    """Wait until as many checks were made as there are pages: a first check tells of no change."""
    until, checks = time.monotonic() + _PATIENCE_S, 0.0
    while checks < pages:
        if time.monotonic() > until:
            raise RuntimeError(f"{checks:.0f} checks of {pages} pages within {_PATIENCE_S:.0f} s")
        await asyncio.sleep(_LOOK_S)
        # Beside a busy engine its web server takes a while to start.
        with suppress(HTTPError):
            checks = _checks(await _metrics(service))


async def _metrics(service: Service) -> dict[str, float]:
    """Ask for its metrics."""

    def ask() -> str:
        with urlopen(f"{service.url()}/metrics") as answer:  # noqa: S310 - of our own service
            return str(answer.read().decode())

    lines = (await asyncio.to_thread(ask)).splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def _checks(metrics: Mapping[str, float]) -> float:
    return sum(value for key, value in metrics.items() if key.startswith("tocsin_checks_total"))


def _alerts(folder: Path) -> int:
    path = folder / "alerts.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


class _Pages:
    """What the site says."""

    def __init__(self) -> None:
        parts = [document.parts(0) for document in documents()]
        self._silent = [_META.sub(b"", b"".join(document)) for document in parts]
        self._asked: Counter[int] = Counter()

    def answer(self, number: int) -> bytes:
        """Give a page's answer; each has other bytes than the one before."""
        self._asked[number] += 1
        asked = self._asked[number]
        body = self._silent[number % len(self._silent)]
        if number % DECLARING == 0:
            body = body.replace(b"</title>", b'</title><meta name="topper-major" content="%s">' % _date(asked), 1)
        body = body.replace(b"<body ", b'<body data-request="%d" ' % asked, 1)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, pages: _Pages) -> None:
        self._pages = pages
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment] # of a stream

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._head += data
        while b"\r\n\r\n" in self._head:
            head, _, self._head = self._head.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].lstrip(b"/")
            if path.isdigit():
                self._transport.write(self._pages.answer(int(path)))
            else:
                self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


def _date(asked: int) -> bytes:
    return date_of(asked).encode()


async def _serve() -> None:
    loop, pages = asyncio.get_running_loop(), _Pages()
    server = await loop.create_server(lambda: _Connection(pages), "0.0.0.0", 0, backlog=4096)  # noqa: S104 - hosts are addresses of loopback
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    uvloop.run(_serve())
