"""Processes aside: each does one job at a time, in a cell or without one, and is killed where it is late."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Final

from tocsin.adapters.processes import cell
from tocsin.adapters.processes.starting import environment
from tocsin.adapters.processes.stream import belong_to
from tocsin.errors import ProcessError

_CELL_MODULE: Final = "tocsin.adapters.processes.cell"
_PROXY_URL: Final = f"http://127.0.0.1:{cell.PROXY_PORT}"
# Clients differ in the case that they read.
_PROXIES: Final = {
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _PROXY_URL),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
}
_LENGTH: Final = Struct("!I")
_MOST_ANSWER_BYTES: Final = 16 * 2**20
_START_S: Final = 20.0
# Of the environment, a process in a cell gets these alone: the rest holds secrets of ours, and of the operator.
_PASSED_ON: Final = (
    *("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    "PYTHONDONTWRITEBYTECODE",
)
_SYSCTLS: Final = (
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "15000"),
    ("user/max_net_namespaces", "0", "15000"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)


class LocalAside:
    """A process that answers one job at a time.

    listener  of one in a cell: the socket on which its proxy is to be served
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        listener: socket.socket | None,
    ) -> None:
        self.pid = process.pid
        self.listener = listener
        self._process, self._reader, self._writer = process, reader, writer

    @property
    def is_alive(self) -> bool:
        """Whether it can take a job."""
        return self._process.returncode is None and not self._reader.at_eof()

    async def ask(self, job: bytes) -> bytes:
        """Give it a job, and wait for the answer; a caller that is cancelled kills it. Raises ProcessError."""
        try:
            self._writer.writelines((_LENGTH.pack(len(job)), job))
            await self._writer.drain()
            return await self._read_answer()
        except (asyncio.IncompleteReadError, ConnectionError) as exc:
            raise ProcessError(f"process {self.pid} ended amid a job") from exc
        except BaseException:
            # Its answer would be taken for the one to the next job.
            self.kill()
            raise

    async def _read_answer(self) -> bytes:
        (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
        if length > _MOST_ANSWER_BYTES:
            raise ProcessError(f"process {self.pid} gave an answer of {length} bytes")
        return await self._reader.readexactly(length)

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """End it, and wait until it has ended."""
        self.kill()
        self._writer.close()
        if self.listener is not None:
            self.listener.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()
        await self._process.wait()


class SingleAside:
    """A process aside that starts with its first job, and ends once it had none for a while.

    module     that it runs
    within_s   that one job may take; after that it is killed
    most_jobs  after which another process takes over, since libraries leak
    idle_s     after which one without a job is ended
    in_cell    where the machine allows cells, it is in one: nothing serves its way out, so it has no network
    """

    def __init__(
        self, module: str, within_s: float, *, most_jobs: int = 500, idle_s: float = 60.0, in_cell: bool = True
    ) -> None:
        self._module, self._within_s, self._most_jobs, self._idle_s = module, within_s, most_jobs, idle_s
        self._in_cell = in_cell
        self._one = asyncio.Lock()
        self._process: LocalAside | None = None
        self._jobs = 0
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, job: bytes) -> bytes:
        """Wait for the process, give it a job, and wait for the answer; raises ProcessError and TimeoutError."""
        async with self._one:
            self._stop_timer()
            process = await self._take()
            try:
                async with asyncio.timeout(self._within_s):
                    return await process.ask(job)
            except BaseException:
                await self._end()
                raise
            finally:
                self._timer = asyncio.get_running_loop().call_later(self._idle_s, process.kill)

    async def close(self) -> None:
        """End the process; it has no job any more."""
        self._stop_timer()
        await self._end()

    async def _take(self) -> LocalAside:
        if self._process is None or not self._process.is_alive or self._jobs >= self._most_jobs:
            await self._end()
            in_cell = self._in_cell and await asyncio.to_thread(why_no_cells) is None
            self._process, self._jobs = await start_aside(self._module, in_cell=in_cell), 0
        self._jobs += 1
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def start_aside(module: str, *, in_cell: bool) -> LocalAside:
    """Start a process that runs this module, which calls `serve_jobs`; its arguments are a descriptor and our id.

    Raises ProcessError, also where the machine allows no cell, with the mend.
    """
    ours, theirs = socket.socketpair()
    listener: socket.socket | None = None
    try:
        with theirs:
            descriptor = theirs.fileno()
            # -P: files of the working folder must not be imported in place of modules.
            program = (sys.executable, "-P", "-m", module, str(descriptor), str(os.getpid()))
            if in_cell:
                process, (listener,) = await start_in_cell(program, few_variables(), (descriptor,))
            else:
                process = await _start(program, environment(), (descriptor,))
        return LocalAside(process, *await asyncio.open_unix_connection(sock=ours), listener)
    except BaseException:
        ours.close()
        raise


async def start_in_cell(
    program: Sequence[str],
    variables: Mapping[str, str],
    descriptors: Sequence[int] = (),
    *,
    count: int = 1,
    may_be_root: bool = True,
) -> tuple[asyncio.subprocess.Process, list[socket.socket]]:
    """Start a program in a cell; returns it, and a listening socket for each of its proxies.

    variables    its environment, to which the address of the first proxy is added
    descriptors  that it inherits
    count        proxies, at 127.0.0.1:9080 and the ports after it
    may_be_root  False: where this process is root, the program runs as user 65534
    Raises ProcessError where the machine allows no cell, with the mend.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            control = theirs.fileno()
            given = (str(control), str(os.getpid()), str(count), "any" if may_be_root else "no-root")
            entering = (sys.executable, "-P", "-m", _CELL_MODULE, *given, *program)
            process = await _start(entering, {**variables, **_PROXIES}, (control, *descriptors))
        try:
            return process, await receive_listeners(ours, count)
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise


async def _start(
    program: Sequence[str], variables: Mapping[str, str], descriptors: Sequence[int]
) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *program,
            pass_fds=descriptors,
            stdin=asyncio.subprocess.DEVNULL,
            # Standard output is for results; errors go to standard error.
            stdout=asyncio.subprocess.DEVNULL,
            env=variables,
            # A Ctrl-C at the terminal is for the parent alone.
            start_new_session=True,
        )
    except OSError as exc:
        raise ProcessError(f"a process cannot be started: {exc}; allow more processes, open files or memory") from exc


async def receive_listeners(ours: socket.socket, count: int) -> list[socket.socket]:
    """Receive the listening sockets of a process that enters a cell, its first word; raises ProcessError."""
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    loop.add_reader(ours, is_readable.set)
    try:
        async with asyncio.timeout(_START_S):
            await is_readable.wait()
    except TimeoutError as exc:
        raise ProcessError(
            f"a process did not enter its cell within {_START_S:g} s; make the machine less busy"
        ) from exc
    finally:
        loop.remove_reader(ours)
    said, descriptors, _, _ = socket.recv_fds(ours, cell.MOST_REASON_BYTES, count)
    if not descriptors:
        raise ProcessError(_refusal(said.decode("utf-8", "replace")))
    return [socket.socket(fileno=each) for each in descriptors]


@cache
def why_no_cells() -> str | None:
    """Say why this machine allows no cells, with the mend; None if it does. The first call starts a process."""
    # -I and -S: the probe needs no packages, and so starts in 15 ms.
    program = [sys.executable, "-I", "-S", cell.__file__]
    try:
        probe = subprocess.run(program, capture_output=True, text=True, check=False, timeout=_START_S)  # noqa: S603 - ours
    except (OSError, subprocess.TimeoutExpired) as exc:
        return _refusal(str(exc))
    return None if probe.returncode == 0 else _refusal(probe.stdout)


def _refusal(why: str) -> str:
    named = why.strip() or "the process ended"
    return f"this machine allows no cell (user and network namespaces of its own) for a process: {named}; {_mend()}"


def _mend() -> str:
    if sys.platform != "linux":
        return "only Linux has them"
    for name, bad, good in _SYSCTLS:
        with suppress(OSError):
            if Path("/proc/sys", name).read_text("ascii").strip() == bad:
                return f"set the sysctl {name.replace('/', '.')} = {good} on the host"
    with suppress(OSError):
        if "\nSeccomp:\t2" in Path("/proc/self/status").read_text("ascii"):
            shown = "as docs/apprise.md and docs/browser.md show"
            return f"start the container with a seccomp profile that allows unshare, {shown}"
    return "allow unprivileged user namespaces"


def few_variables() -> dict[str, str]:
    """Give the environment of a process in a cell: of ours, what holds no secret."""
    few = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # A .netrc of the user would give its passwords to hosts that a URL names.
    return {**few, "PYTHONPATH": environment()["PYTHONPATH"], "NETRC": os.devnull}


def serve_jobs(descriptor: int, parent: int, answer: Callable[[bytes], bytes]) -> None:
    """Answer the jobs of the parent process, one after the other, until it says no more. Runs in the process aside."""
    belong_to(parent)
    with socket.socket(fileno=descriptor) as ours, ours.makefile("rwb") as pipe:
        while header := pipe.read(_LENGTH.size):
            given = answer(pipe.read(*_LENGTH.unpack(header)))
            pipe.write(_LENGTH.pack(len(given)) + given)
            pipe.flush()
