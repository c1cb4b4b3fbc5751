"""Processes beside a row: modules of the benchmarks that do what they are told until their standard input ends."""

from __future__ import annotations

import asyncio
import json
import sys
from types import TracebackType
from typing import Any, Self
from urllib.request import urlopen

from benchmarks.bench.measure import environment


class ModuleProcess:
    """Runs a module as a process, for as long as the context lasts."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = ("-m", f"benchmarks.bench.{module}", *arguments)
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *self._command, stdin=pipe, stdout=pipe, env=environment()
        )
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()

    async def read_line(self) -> bytes:
        """Give its next line. Raises RuntimeError if it has ended."""
        if self._process is None or self._process.stdout is None:
            raise RuntimeError(f"{self._command[1]} was not started")
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self._command)} ended with {await self._process.wait()}")
        return line

    def write_line(self, line: bytes) -> None:
        """Tell it something."""
        if self._process is None or self._process.stdin is None:
            raise RuntimeError(f"{self._command[1]} was not started")
        self._process.stdin.write(line + b"\n")


class ServingProcess(ModuleProcess):
    """A site that prints its ports when it listens, and is told at the last of them what to do.

    port  where its pages are
    """

    port = _control = 0

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        ports = [int(number) for number in (await self.read_line()).split()]
        self.port, self._control = ports[0], ports[-1]
        return self

    async def ask(self, command: str) -> dict[str, Any]:
        """Tell it something; returns what it has seen."""

        def ask() -> dict[str, Any]:
            with urlopen(f"http://127.0.0.1:{self._control}/-/{command}") as answer:
                told: dict[str, Any] = json.load(answer)
                return told

        return await asyncio.to_thread(ask)


class Origin(ServingProcess):
    """The site of the usual rows.

    pinned  to the first core, so that the client may have the second one to itself
    """

    def __init__(self, *, pinned: bool = False) -> None:
        super().__init__("origin", *(("--first-core",) if pinned else ()))

    def url(self, number: int, hosts: int) -> str:
        """A page's URL, where pages are dealt out to so many hosts."""
        return f"http://127.0.0.{number % hosts + 1}:{self.port}/p/{number}"


class SizeSite(ServingProcess):
    """The site of the rows of size.

    port  that it is to have, unless another row has it by then; 0 for any
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__("size_site", str(port))
