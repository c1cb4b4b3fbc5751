"""The program as a process of its own, as its users run it: started, told to stop, killed, asked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import SystemRandom
from typing import Any, TypeVar

from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.system import SystemClock
from tocsin.model import NewPage
from tocsin.spec.html.urls import watch_url

T = TypeVar("T")
PATIENCE_S = 150.0
"""How long anything is waited for: it ends what never comes, and a machine with other work does not reach it."""
STOPS_WITHIN_S = 120.0
"""How long the program may take to stop; a test lets it wait for a site for longer."""

PORTS = range(20_000, 28_000)
"""Of which nobody is given one by chance: systems take theirs from above, also for connections to elsewhere."""

CONFIGURATION = """\
[instance]
contact = "tests"
[store]
url = "sqlite:tocsin.db"
[pages]
every = "1300ms"
min_gap = "0s"
[hosts]
concurrency = 8
delay = "0s"
[network]
allow = ["127.0.0.0/8"]
[questions]
gather = "1s"
[render]
limit = 1
[channels.journal]
type = "file"
path = "alerts.jsonl"
[http]
listen = "127.0.0.1:0"
"""

RARELY = CONFIGURATION.replace('every = "1300ms"', 'every = "1h"')
"""For tests that count checks, or say themselves when a page is checked: none comes in between by itself."""


def free_port() -> int:
    """A port of loopback that nobody holds, and that stays free until the service takes it, and takes it again."""
    while True:
        port = SystemRandom().choice(PORTS)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


async def until(probe: Callable[[], Awaitable[T | None]], *, what: str) -> T:
    """Ask again and again until the answer is something; what never comes is named."""
    found: T | None = None
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not (found := await probe()):  # noqa: ASYNC110 - rows and files of another process give no signal
                await asyncio.sleep(0.05)
    except TimeoutError as exc:
        message = f"this never came: {what}"
        raise AssertionError(message) from exc
    return found


def pages_of(*urls: str) -> list[NewPage]:
    """Make pages of URLs, as the list takes them."""
    found = [watch_url(url) for url in urls]
    return [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]


class Home:
    """A folder with a configuration, a store and alerts, in which the program is run.

    log  everything that services said, of all of them that ran here
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "service.log"
        self.log.touch()
        self.services: list[Service] = []
        self.store_url = f"sqlite:{folder / 'tocsin.db'}"
        self.configure(CONFIGURATION)

    def configure(self, text: str) -> None:
        """Write the configuration."""
        (self.folder / "tocsin.toml").write_text(text, "utf-8")

    @asynccontextmanager
    async def store(self, *, engine: bool = False) -> AsyncIterator[SqlStore]:
        """Open the store, also beside a service; with `engine`, make it where there is none."""
        store = await open_store(self.store_url, engine=engine, create=engine)
        try:
            yield store
        finally:
            await store.close()

    async def watch(self, *urls: str) -> None:
        """Put pages on the list, to be checked at once."""
        now = SystemClock().now()
        async with self.store(engine=True) as store:
            # In one step: a page that is requested after its first check is checked once more.
            await store.add_pages(pages_of(*urls), now, request=await store.open_request(now))

    async def start(self, node: str = "") -> Service:
        """Run the service; it may still be starting.

        node  its name among the nodes of its store; else that of this machine
        """
        self.services.append(Service(await self._spawn("run", logged=True, node=node)))
        return self.services[-1]

    async def begin(self, *arguments: str) -> Service:
        """Run a command that goes on."""
        return Service(await self._spawn(*arguments))

    async def call(self, *arguments: str, patience_s: float = PATIENCE_S) -> Called:
        """Run a command to its end."""
        process = await self._spawn(*arguments)
        async with asyncio.timeout(patience_s):
            out, err = await process.communicate()
        return Called(process.returncode, out.decode(), err.decode())

    def alerts(self) -> list[dict[str, Any]]:
        """What the file channel was given so far: whole lines."""
        journal = self.folder / "alerts.jsonl"
        text = journal.read_text("utf-8") if journal.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    async def alert(self, kind: str, url: str | None = None, **data: object) -> dict[str, Any]:
        """Wait for an alert of this kind (`changed`), page and data."""

        async def probe() -> dict[str, Any] | None:
            return next(
                (
                    alert
                    for alert in self.alerts()
                    if alert["type"].split(".")[-2] == kind
                    and url in {None, alert["subject"]}
                    and all(alert["data"][key] == value for key, value in data.items())
                ),
                None,
            )

        return await self._until(probe, f"alert {kind} of {url} with {data}")

    async def outcome(self, url: str, *outcomes: str) -> str:
        """Wait until the page's last check ended in one of these ways."""
        async with self.store() as store:

            async def probe() -> str | None:
                page = await store.page(url)
                outcome = page.last.report["outcome"] if page is not None and page.last.report else None
                return outcome if outcome in outcomes else None

            return await self._until(probe, f"{' or '.join(outcomes)} of {url}")

    def said(self) -> list[dict[str, Any]]:
        """The log's lines."""
        text = self.log.read_text("utf-8")
        lines = text[: text.rfind("\n") + 1].splitlines()
        return [json.loads(line) if line.startswith("{") else {"event": line} for line in lines]

    async def hears(self, event: str) -> dict[str, Any]:
        """Wait for a line of the log."""

        async def probe() -> dict[str, Any] | None:
            return next((line for line in self.said() if line["event"] == event), None)

        return await self._until(probe, f"{event} in the log")

    async def _until(self, probe: Callable[[], Awaitable[T | None]], what: str) -> T:
        """Wait for it as long as the service lives."""

        async def attentive() -> T | None:
            died = [service.pid for service in self.services if service.has_died]
            assert not died, f"{what} cannot come any more: {self.said()[-3:]}"
            return await probe()

        return await until(attentive, what=what)

    async def _spawn(self, *arguments: str, logged: bool = False, node: str = "") -> asyncio.subprocess.Process:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        if node:
            environ["TOCSIN_CLUSTER__NODE"] = node
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "tocsin.cli", *arguments),
                cwd=self.folder,
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log if logged else asyncio.subprocess.PIPE,
                stderr=log if logged else asyncio.subprocess.PIPE,
            )


class Called:
    """What a command left."""

    def __init__(self, status: int | None, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    def records(self) -> list[dict[str, Any]]:
        """Its lines of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


class Service:
    """A process that goes on until it is told to end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._is_told = False
        self.pid = process.pid

    @property
    def has_died(self) -> bool:
        """Whether it ended although nobody told it to."""
        return self._process.returncode is not None and not self._is_told

    async def line(self) -> str:
        """Wait for a line on its standard output."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            return (await self._process.stdout.readline()).decode()

    async def unheard(self) -> int:
        """Stop reading its standard output, and wait for its end; returns its status."""
        output = self._process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # no public way to close it
        output.close()
        async with asyncio.timeout(PATIENCE_S):
            return await self._process.wait()

    async def stop(self) -> int:
        """End it with SIGTERM, within the bound; returns its status."""
        return await self.end(signal.SIGTERM)

    async def end(self, number: signal.Signals) -> int:
        """Send a signal that ends it; returns its status."""
        self._is_told = True
        self._process.send_signal(number)
        async with asyncio.timeout(STOPS_WITHIN_S):
            await self._process.communicate()
        assert self._process.returncode is not None
        return self._process.returncode

    async def ended(self) -> int:
        """Wait until it ends by itself; returns its status."""
        self._is_told = True
        async with asyncio.timeout(PATIENCE_S):
            return await self._process.wait()

    def tell(self, number: signal.Signals) -> None:
        """Send a signal that does not end it."""
        self._process.send_signal(number)

    async def clear(self) -> None:
        """Kill it if a test left it running."""
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
