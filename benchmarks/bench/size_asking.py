"""The site of the rows of size, from where it is asked."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any, Self
from urllib.request import urlopen

from benchmarks.bench.measure import environment

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class SizeSite:
    """Runs the site in a process of its own, for as long as the context lasts.

    port  that it is to have; 0 for any
    tls   it speaks https, with the certificate and key in this folder
    """

    def __init__(self, port: int = 0, *, tls: Path | None = None) -> None:
        self._wanted, self._tls = port, tls
        self._process: asyncio.subprocess.Process | None = None
        self.port = self._control = 0

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        command: tuple[str, ...] = ("-m", "benchmarks.bench.size_site", "--port", str(self._wanted))
        command += ("--tls", str(self._tls)) if self._tls else ()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdin=pipe, stdout=pipe, env=environment()
        )
        if self._process.stdout is not None:
            line = await self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the site did not start; is port {self._wanted} free?")
            self.port, self._control = map(int, line.split())
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()

    async def ask(self, command: str) -> dict[str, Any]:
        """Tell it something; returns what it has seen."""

        def ask() -> dict[str, Any]:
            with urlopen(f"http://127.0.0.1:{self._control}/-/{command}") as answer:
                told: dict[str, Any] = json.load(answer)
                return told

        return await asyncio.to_thread(ask)
