"""The nodes under test: real `tocsin run` processes, each with its own way to the databases."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final, Self

from benchmarks.cluster.proxy import Direction, Proxy
from benchmarks.cluster.site import FLAKY, STEADY, ClusterReceivers
from benchmarks.postgres import DATABASE, USER, PostgresProcess
from tocsin.settings import Settings

LEASE_S: Final = 5.0
_LIBRARIES = "usr/lib/*/faketime/libfaketime.so.1"
_SECRET: Final = "whsec_" + base64.b64encode(b"a secret of the soak, 32 bytes .").decode()
_SETTINGS: Final = """\
[instance]
name = "soak"
contact = "mailto:{node}@example.org"
[store]
url = "{url}"
{cluster}
[pages]
every = "{every_s}s"
min_gap = "0s"
tries = 1
[fetch]
fetchers = {fetchers}
unconditional_every = 1000000
[hosts]
delay = "100ms"
[network]
allow = ["127.0.0.0/8"]
[http]
listen = "127.0.0.1:0"
[log]
format = "json"
[channels.{steady}]
type = "webhook"
url = "{steady_url}"
secret = "{secret}"
timeout = "3s"
[channels.{flaky}]
type = "webhook"
url = "{flaky_url}"
secret = "{secret}"
timeout = "3s"
"""


class Node:
    """One node; its process may be started, stopped and killed again and again.

    name  of the node, as the cluster knows it
    app   how its connections are called in the database; another process of the same name has another one
    """

    def __init__(self, folder: Path, name: str, *, app: str = "", fetchers: int = 0) -> None:
        self.name, self.app, self._fetchers = name, app or name, fetchers
        self._folder = folder / self.app
        self._folder.mkdir(exist_ok=True)
        self._log = self._folder / "log.jsonl"
        self._proxies: list[Proxy] = []
        self._stack = AsyncExitStack()
        self.process: Process | None = None

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def connect(self, databases: list[PostgresProcess], receivers: ClusterReceivers, every_s: float) -> None:
        """Lay the ways to the databases, and write the configuration."""
        self._proxies = [await self._stack.enter_async_context(Proxy(server.port)) for server in databases]
        places = ",".join(f"127.0.0.1:{proxy.port}" for proxy in self._proxies)
        url = f"postgresql://{USER}@{places}/{DATABASE}?target_session_attrs=read-write&application_name={self.app}"
        has_nodes = "cluster" in Settings.__struct_fields__
        text = _SETTINGS.format(
            node=self.app,
            url=url,
            cluster=f'[cluster]\nnode = "{self.name}"\nlease = "{LEASE_S:.0f}s"' if has_nodes else "",
            every_s=round(every_s),
            fetchers=self._fetchers,
            steady=STEADY,
            steady_url=receivers.url(STEADY),
            flaky=FLAKY,
            flaky_url=receivers.url(FLAKY),
            secret=_SECRET,
        )
        (self._folder / "tocsin.toml").write_text(text, encoding="utf-8")

    async def __aexit__(self, *exc: object) -> None:
        await self.kill()
        await self._stack.aclose()

    @property
    def runs(self) -> bool:
        """Whether its process lives."""
        return self.process is not None and self.process.returncode is None

    async def start(self, *, ahead_s: float = 0) -> None:
        """Start `tocsin run`.

        ahead_s  how far its clock is ahead of ours; its monotonic clock stays right
        """
        environment = _environment()
        if ahead_s:
            environment |= {
                "LD_PRELOAD": str(clock_library()),
                "FAKETIME": f"{ahead_s:+.0f}",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "DONT_FAKE_MONOTONIC": "1",
            }
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._program("run"), stdout=log, stderr=log, env=environment
            )

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Run another command of the program to its end; returns its status and what it said."""
        process = await asyncio.create_subprocess_exec(
            *self._program(*arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=_environment(),
        )
        said, _ = await process.communicate()
        return process.returncode or 0, said.decode(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    async def kill(self) -> None:
        """Kill it (SIGKILL), also where it stands still."""
        self.send(signal.SIGKILL)
        if self.process is not None:
            await self.process.wait()

    async def leave(self, patience_s: float) -> int | None:
        """Ask it to end (SIGTERM); returns its status, None where it did not end in time."""
        self.send(signal.SIGTERM)
        if self.process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    return await self.process.wait()
        return None

    async def lose(self, direction: Direction, seconds: float) -> None:
        """Lose what goes between it and the databases in one direction."""
        async with asyncio.TaskGroup() as group:
            for proxy in self._proxies:
                group.create_task(proxy.lose(direction, seconds), name=f"lose-{self.app}")

    def refused(self) -> int:
        """Count the results that it says were refused, since another node had taken their parts."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []
        return sum(json.loads(line).get("results", 0) for line in lines if '"claim.lost"' in line and line[0] == "{")

    def last_words(self, most: int = 1500) -> str:
        """The end of its log."""
        return self._log.read_bytes()[-most:].decode(errors="replace") if self._log.exists() else ""

    def _program(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "tocsin.cli", "--config", str(self._folder / "tocsin.toml"), *arguments]


def clock_library() -> Path | None:
    """Find libfaketime, which gives a process another clock; None where it is not installed."""
    return next(iter(sorted(Path("/").glob(_LIBRARIES))), None)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
