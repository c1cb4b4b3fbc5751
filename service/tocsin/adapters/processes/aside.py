"""A process that works aside: started when there is work, ended when there was none for a while."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING, Final

from tocsin.adapters.processes.starting import environment
from tocsin.errors import ProcessError, TooComplex

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

MODULE: Final = "tocsin.app.aside"
LIMIT_S: Final = 30.0
IDLE_S: Final = 60.0
LENGTH: Final = Struct("!I")
_GRACE_S: Final = 5.0


class ProcessAside:
    """Implements `ports.Aside` with one process at most.

    module   what it runs: frames on its standard input, of each a length and a piece of work, and the same back
    limit_s  what one piece may take, the start of the process too; one that takes longer is killed
    idle_s   it is ended when nothing was to be done for so long, and gives its memory back
    """

    def __init__(self, module: str = MODULE, *, limit_s: float = LIMIT_S, idle_s: float = IDLE_S) -> None:
        self._module, self._limit_s, self._idle_s = module, limit_s, idle_s
        self._process: asyncio.subprocess.Process | None = None
        self._killed: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        """Begin; nothing is started before there is work."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process, also in the midst of a piece of work."""
        self._forget_idle()
        await self._end()

    @property
    def pid(self) -> int | None:
        """The process, where there is one that has not ended."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def do(self, work: bytes) -> bytes:
        """See `ports.Aside`."""
        async with self._turn:
            self._forget_idle()
            is_done = False
            try:
                async with asyncio.timeout(self._limit_s):
                    done = await self._do(work)
                is_done = True
            except TimeoutError:
                raise ProcessError(f"it took longer than {self._limit_s:g} s and was ended") from None
            except (ConnectionError, EOFError) as exc:
                ended = await self._end(_GRACE_S)
                if ended < 0:
                    # Whatever it died of, the next one is likely to die of it, too.
                    raise TooComplex(f"the process that worked on it died of it (signal {-ended})") from exc
                raise ProcessError(f"the process that did it ended with status {ended}; the log says more") from exc
            except OSError as exc:
                raise ProcessError(f"the process that does it could not be started: {exc}") from exc
            finally:
                if not is_done:
                    await self._end()
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._kill)
            return done

    async def _do(self, work: bytes) -> bytes:
        # One that was ended by others while it had nothing to do says nothing of the work that comes next.
        if self._process is None or self.pid is None:
            await self._end()
            self._process = await self._start()
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None  # noqa: S101 - it was started with both
        assert told is not None  # noqa: S101 - the same
        asked.writelines((LENGTH.pack(len(work)), work))
        await asked.drain()
        (length,) = LENGTH.unpack(await told.readexactly(LENGTH.size))
        return await told.readexactly(length)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            # What lies in the folder where somebody called us is none of our modules.
            *("-P", "-m", self._module, str(os.getpid())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment(),
            # A Ctrl-C at the terminal is for the program that a person started.
            start_new_session=True,
        )

    def _kill(self) -> None:
        """End the process; whatever it works on, nobody waits for that any more."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._process, self._killed = None, self._process

    async def _end(self, grace_s: float = 0) -> int:
        """End the process, if there is one; returns its exit status, negative for a signal.

        grace_s  so long one that is ending by itself is waited for: killing it would lose what it ended of, as the
                 standard library looks whether it has ended and takes the status from whoever waits for it
        """
        if self._process is not None and grace_s:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._process.wait()
        self._kill()
        if self._killed is None:
            return 0
        status = await self._killed.wait()
        self._killed = None
        return status

    def _forget_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
