"""Throw-away PostgreSQL servers on loopback, which may be killed, started again, copied to a standby and promoted."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import psycopg

from benchmarks.ports import free_ports

HOW_TO_GET: Final = "PostgreSQL is not installed (initdb); Debian, Ubuntu: apt install postgresql"
USER, DATABASE = "tocsin", "tocsin"
_PLACES = "usr/lib/postgresql/*/bin"
_MEMORY: Final = ("/dev/shm",)  # noqa: S108 - a folder of our own within it
_WAIT_S = 60.0
_LOOK_S = 0.02
_SETTINGS: Final = {
    # A process that is killed loses nothing that it has written; only a machine that fails would.
    "fsync": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "checkpoint_timeout": "15min",
    "max_wal_size": "4GB",
    "wal_compression": "lz4",
    "wal_keep_size": "1GB",
    "log_min_messages": "warning",
}


def programs() -> Path | None:
    """Find the folder of PostgreSQL's programs; None where it is not installed."""
    folders = os.pathsep.join(map(str, sorted(Path("/").glob(_PLACES), reverse=True)))
    found = shutil.which("initdb") or shutil.which("initdb", path=folders)
    return Path(found).resolve().parent if found else None


class PostgresProcess:
    """A server with data of its own, in a folder that goes with it.

    settings  of the server, beside those that all have
    Raises FileNotFoundError where PostgreSQL is not installed.
    """

    def __init__(self, **settings: str) -> None:
        found = programs()
        if found is None:
            raise FileNotFoundError(HOW_TO_GET)
        self._programs, self._settings = found, {**_SETTINGS, **settings}
        # A disk that other work shares would tell of that work.
        memory = next((place for place in _MEMORY if os.access(place, os.W_OK)), None)
        self._folder = Path(tempfile.mkdtemp(prefix="tocsin-pg-", dir=memory))
        # As root the server refuses to start.
        self._user = ("nobody", "nogroup") if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self._folder, *self._user)
        self._data = self._folder / "data"
        (self.port,) = free_ports(1)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def create(self) -> None:
        """Make an empty server with one empty database, and start it."""
        self._run("initdb", "-D", self._data, "-U", USER, "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync")
        self.start()
        self.command(f"create database {DATABASE}", database="postgres")

    def copy(self, primary: PostgresProcess) -> None:
        """Become a standby of another server, and start."""
        self.kill()
        shutil.rmtree(self._data, ignore_errors=True)
        source = ("-h", "127.0.0.1", "-p", primary.port, "-U", USER)
        self._run("pg_basebackup", "-D", self._data, *source, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.start()

    def start(self) -> None:
        """Start the server; returns when it accepts connections."""
        settings = {"port": str(self.port), "unix_socket_directories": "", **self._settings}
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            # A child of ours: a dead one that is not waited for would seem to hold its files still.
            self._process = subprocess.Popen(  # noqa: S603 - our own
                command, stdout=log, stderr=log, cwd=self._folder, **self._as_user()
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it accepts connections."""
        end = time.monotonic() + _WAIT_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > end or self._process is None or self._process.poll() is not None:
                    raise RuntimeError(f"PostgreSQL does not start: {self.log()[-2000:]}") from None
                time.sleep(_LOOK_S)
            else:
                return

    def kill(self) -> None:
        """Kill it with all its processes (SIGKILL); nothing happens where it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with suppress(OSError):
            for pid in map(int, children.read_text(encoding="ascii").split()):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()

    def promote(self) -> None:
        """Make a standby the primary; it waits for no other standby."""
        self._run("pg_ctl", "-D", self._data, "-w", "-t", round(_WAIT_S), "promote")
        self.wait_for_standby(wanted=False)

    def wait_for_standby(self, *, wanted: bool) -> None:
        """Let durable commits wait for a standby, or no longer."""
        self.command(f"alter system set synchronous_standby_names = '{'*' if wanted else ''}'")
        self.command("select pg_reload_conf()")

    def url(self, database: str = DATABASE) -> str:
        """Name a database of it as settings do."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def command(self, text: str, *, database: str = DATABASE) -> None:
        """Run one command."""
        with psycopg.connect(self.url(database), autocommit=True) as db:
            db.execute(text.encode())

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(self.url(), autocommit=True) as db:
            return db.execute(query.encode()).fetchall()

    def cpu_s(self) -> float:
        """Seconds of processor that all its processes have taken, also those that have ended."""
        if self._process is None:
            return 0.0
        pid = self._process.pid
        # The numbers follow the name of the program, which is in brackets: its own time, then that of ended children.
        ticks = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:15]
        spent = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            with suppress(OSError):
                spent += int(Path(f"/proc/{child}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
        return spent

    def log(self) -> str:
        """What it wrote to its log."""
        with suppress(OSError):
            return (self._folder / "log").read_text(encoding="utf-8", errors="replace")
        return ""

    def _as_user(self) -> dict[str, Any]:
        return {"user": self._user[0], "group": self._user[1], "extra_groups": []} if self._user else {}

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(  # noqa: S603 - as above
            [str(self._programs / program), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            **self._as_user(),
        )
        if done.returncode:
            raise RuntimeError(f"{program} {arguments}: {done.stdout}{done.stderr}{self.log()[-2000:]}")
