"""The real program as a child process, with a configuration and a store of its own in one folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from tocsin.errors import TocsinError

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path
    from types import TracebackType

CONFIGURATION = "tocsin.toml"
STORE = "tocsin.db"
LOG = "service.log"
JOURNAL = "alerts.jsonl"
RENDER_LIMIT = 2
_STOP_WITHIN_S = 10.0
_LAST_LINES = 5
_LOOK_S = 0.05
LISTENING = '"http.listening"'
"""What stands in the one line of its log that tells the address."""


class ServiceEnded(TocsinError):
    """The service stopped although nobody told it to."""


def configuration(*, hook_url: str, secret: str, every_ms: int) -> str:
    """Write the configuration of the demo's service: its times are short, all else is the default."""
    return f"""\
# What `tocsin demo` runs with. Times are short, so that a minute shows what otherwise takes days.
[instance]
name = "demo"
contact = "the demonstration, on this machine only"
[store]
url = "sqlite:{STORE}"
[pages]
every = "{every_ms}ms"
min_gap = "500ms"
[hosts]
concurrency = 8
delay = "0s"
[network]
allow = ["127.0.0.0/8"]
[questions]
gather = "2s"
[render]
limit = {RENDER_LIMIT}
resume_at = {RENDER_LIMIT}
[channels.journal]
type = "file"
path = "{JOURNAL}"
[channels.hook]
type = "webhook"
url = "{hook_url}"
secret = "{secret}"
[http]
listen = "127.0.0.1:0"
"""


class Service:
    """`tocsin run` in a folder; ends with the block that it is entered for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None

    async def __aenter__(self) -> Self:
        """Start it; what it writes goes to a log in the folder."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        arguments = ("-m", "tocsin.cli", "--config", CONFIGURATION, "run")
        with (self._folder / LOG).open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                cwd=self._folder,
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A Ctrl-C on the terminal is meant for the demo, which ends the service in its turn.
                start_new_session=True,
            )
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def address(self) -> str:
        """Wait until its web pages can be looked at; returns their address. Raises ServiceEnded."""
        while (found := self._said_address()) is None:
            self.check()
            await asyncio.sleep(_LOOK_S)
        return found

    async def ended(self) -> None:
        """Wait until it has ended, by itself or otherwise."""
        if self._process is not None:
            await self._process.wait()

    def check(self) -> None:
        """Raise ServiceEnded, with the end of its log, if it does not run any more."""
        if self._process is None or self._process.returncode is None:
            return
        lines = (self._folder / LOG).read_text("utf-8", errors="replace").splitlines()[-_LAST_LINES:]
        said = "\n".join(lines) or "it said nothing"
        raise ServiceEnded(
            f"the service ended by itself with status {self._process.returncode}; its log ends with:\n{said}"
        )

    def _said_address(self) -> str | None:
        for line in (self._folder / LOG).read_text("utf-8", errors="replace").splitlines(keepends=True):
            # What is being written at this moment has no end yet.
            if LISTENING in line and line.endswith("\n"):
                url: str = json.loads(line)["url"]
                return url
        return None
