"""Fetcher processes: started, watched and ended by their parent."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import tocsin
from tocsin.adapters.processes.stream import MessageStream, NameTag, new_name_tag, to_fetcher
from tocsin.errors import ProcessError
from tocsin.ports.messages import FromFetcher, ToFetcher
from tocsin.ports.processes import FetcherProcess, FetcherStarter

MODULE = "tocsin.app.fetcher"


class LocalFetcher:
    """Implements `ports.FetcherProcess`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        stream: MessageStream[ToFetcher, FromFetcher],
        tag: NameTag,
    ) -> None:
        self.pid = process.pid
        self._process, self._stream, self._tag = process, stream, tag
        self._last_named: int | None = None

    async def send(self, messages: Sequence[ToFetcher]) -> None:
        """Send these in order; waits while the process does not read."""
        await self._stream.send(messages)

    async def receive(self) -> Sequence[FromFetcher]:
        """Wait for its next messages; empty: the process is gone."""
        return await self._stream.receive()

    def named(self) -> int | None:
        """Give the id of the page that it is working on, or was when it died."""
        return self._last_named if self._process.returncode is not None else self._tag.read()

    def resident_bytes(self) -> int | None:
        """Give its memory in bytes; None where the machine does not tell."""
        with suppress(OSError):
            pages = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]
            return int(pages) * resource.getpagesize()
        return None

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self, grace_s: float) -> int:
        """Close the stream, wait `grace_s`, then kill it; returns its exit status, negative for a signal."""
        try:
            await self._stream.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    return await self._process.wait()
        finally:
            self.kill()
            self._last_named = self._tag.read()
            self._tag.close()
        return await self._process.wait()


class LocalStarter:
    """Implements `ports.FetcherStarter`.

    module  that the process runs
    """

    def __init__(self, module: str = MODULE) -> None:
        self._module = module

    async def start(self) -> LocalFetcher:
        """Start a process; raises ProcessError where the machine refuses."""
        try:
            return await self._start()
        except OSError as exc:
            mend = "allow more processes and open files, or set fetch.fetchers = 0"
            raise ProcessError(f"a fetcher process cannot be started: {exc}; {mend}") from exc

    async def _start(self) -> LocalFetcher:
        with ExitStack() as stack:
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            stack.enter_context(theirs)
            tag = new_name_tag()
            stack.callback(tag.close)
            descriptors = (theirs.fileno(), tag.descriptor)
            # -P: files of the working folder must not be imported in place of modules.
            arguments = ("-P", "-m", self._module, *map(str, descriptors), str(os.getpid()))
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *arguments,
                pass_fds=descriptors,
                stdin=asyncio.subprocess.DEVNULL,
                # Standard output is for results; errors go to standard error.
                stdout=asyncio.subprocess.DEVNULL,
                env=environment(),
                # A Ctrl-C at the terminal is for the parent alone.
                start_new_session=True,
            )
            stack.pop_all()
        theirs.close()
        return LocalFetcher(process, await to_fetcher(ours), tag)


def environment() -> dict[str, str]:
    """Give the environment of a child process: this one's, with the folder of this very package on its path."""
    here = str(Path(tocsin.__path__[0]).parent)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{known}{os.pathsep}{here}" if known else here}


class EarlyStarter:
    """Implements `ports.FetcherStarter`: the first processes load while the main process is still starting.

    starter  of the processes
    """

    def __init__(self, starter: FetcherStarter) -> None:
        self._starter = starter
        self._started: list[FetcherProcess] = []

    @asynccontextmanager
    async def ahead(self, count: int) -> AsyncIterator[None]:
        """Start `count` processes now; those that are left at the end are ended. Raises ProcessError."""
        try:
            for _ in range(count):
                self._started.append(await self._starter.start())
            yield
        finally:
            for process in self._started:
                await process.end(0)
            self._started.clear()

    async def start(self) -> FetcherProcess:
        """Give a process that was started, or start one; raises ProcessError."""
        return self._started.pop() if self._started else await self._starter.start()
