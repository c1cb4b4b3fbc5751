"""The watched site and the receivers of alerts: both note all that reaches them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, Self

from benchmarks.soak.versions import etag_of, html_of, version_in_event, version_of_etag
from benchmarks.soak.wire import Hangup, Request, Wire, answer

CHANGED: Final = "tocsin.page.changed.v1"
STEADY, FLAKY = "steady", "flaky"
# Of answers: some changes for every kind of trouble, and most checks find nothing new.
_GROWS = 0.006
_USUAL_S, _SLOW_S = 0.03, 1.5
_IS_SLOW = 0.005
_FAULT = 0.05
_HOSTS_A_NET = 200


class Requested(NamedTuple):
    """A request for a page, as the site saw it.

    at       when, in seconds since 1970
    node     which node asked
    had      the version that a check knew; None for the first check of a page, and where it is received once more
    version  that was sent, or confirmed
    """

    at: float
    url: str
    node: str
    had: int | None
    version: int


class Received(NamedTuple):
    """An alert that reached a receiver; `accepted` says what the receiver made of it, not what the node heard."""

    at: float
    receiver: str
    id: str
    url: str
    before: int
    after: int
    accepted: bool


class Journal:
    """Entries in memory for the judge, and on disk for people."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("w", encoding="utf-8")

    def write(self, entry: NamedTuple) -> None:
        """Append an entry as a line of JSON."""
        self._file.write(json.dumps(entry._asdict()) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ClusterSite:
    """Many hosts of some pages each, which always answer, and whose pages change at times after they were asked for."""

    def __init__(self, folder: Path, chance: Random, *, hosts: int, pages_a_host: int) -> None:
        self._chance, self._hosts, self._pages_a_host = chance, hosts, pages_a_host
        self._journal = Journal(folder / "requested.jsonl")
        self._wire = Wire(self._handle)
        self.versions: dict[str, int] = {}
        self.requested: list[Requested] = []
        self.is_frozen = False

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        for number in range(self._hosts * self._pages_a_host):
            net, host = divmod(number % self._hosts, _HOSTS_A_NET)
            self.versions[f"http://127.0.{net + 1}.{host + 1}:{self._wire.port}/{number // self._hosts}"] = 1
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.__aexit__(None, None, None)
        self._journal.close()

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        url = f"http://{request.host}:{self._wire.port}{request.path}"
        version = self.versions.get(url)
        if version is None:
            writer.write(answer(404))
            return
        validator = request.headers.get("if-none-match")
        had = version_of_etag(validator) if validator else None
        entry = Requested(time.time(), url, _node_of(request), had, version)
        self.requested.append(entry)
        self._journal.write(entry)
        is_slow = self._chance.random() < _IS_SLOW
        await self._wire.idle(self._chance.uniform(0, _SLOW_S if is_slow else _USUAL_S))
        status, body = (304, b"") if had == version else (200, html_of(url, version))
        writer.write(answer(status, body, ETag=etag_of(version), Content_Type="text/html; charset=utf-8"))
        if not self.is_frozen and self._chance.random() < _GROWS:
            self.versions[url] = max(self.versions[url], version + 1)


def _node_of(request: Request) -> str:
    """Read a node's name from its User-Agent: `Tocsin/1.0 (+mailto:n1@example.org)`."""
    return request.headers.get("user-agent", "").partition("mailto:")[2].partition("@")[0]


class ClusterReceivers:
    """Two receivers of webhooks, of which one fails at times."""

    def __init__(self, folder: Path, chance: Random) -> None:
        self._chance = chance
        self._journal = Journal(folder / "received.jsonl")
        self._wire = Wire(self._handle)
        self.received: list[Received] = []
        self.is_well = False

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._wire.__aexit__(None, None, None)
        self._journal.close()

    def url(self, receiver: str) -> str:
        """Where a receiver's alerts go."""
        return f"http://127.0.0.1:{self._wire.port}/{receiver}"

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        receiver, event = request.path.strip("/"), json.loads(request.body)
        fails = receiver == FLAKY and not self.is_well and self._chance.random() < _FAULT
        fault = self._chance.choice(("refused", "cut", "lost")) if fails else ""
        if event["type"] == CHANGED:
            # "lost": it is accepted, and the answer never arrives.
            self._note(receiver, event, accepted=fault in {"", "lost"})
        if fault in {"cut", "lost"}:
            raise Hangup
        writer.write(answer(500 if fault else 204))

    def _note(self, receiver: str, event: dict[str, Any], *, accepted: bool) -> None:
        data = event["data"]
        # What was received once more may be newer than what the check found; it is told in the same alert.
        latest = data["rendered"]["latest"] if data.get("rendered") else data["latest"]
        before, after = version_in_event(data["previous"]), version_in_event(latest)
        entry = Received(time.time(), receiver, event["id"], event["subject"], before, after, accepted)
        self.received.append(entry)
        self._journal.write(entry)


async def until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Wait for something, for a time; says whether it came."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not is_so():  # noqa: ASYNC110 - other processes give no signal
                await asyncio.sleep(0.1)
            return True
    return False
