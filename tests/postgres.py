"""A throw-away PostgreSQL server: made on first use, one for each process of the tests, and gone with it."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from tocsin.adapters.stores import open_store

# Nothing of it outlives the tests: it need not reach the disk.
_SPEED = (
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "autovacuum=off",
    "max_connections=60",
    "shared_buffers=64MB",
    "listen_addresses=",
)
# Far quicker than making another database: most tables are empty.
_EMPTY = """
do $$
declare
  each record;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid();
  set local session_replication_role = replica;
  for each in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    if each.relname not in ('store', 'positions', 'store_version', 'parts') then
      execute format('delete from %I', each.relname);
    end if;
  end loop;
  for each in select relname from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace loop
    perform setval(each.relname::regclass, 1, false);
  end loop;
  update parts set node = null, epoch = 0, left_at = 0;
  delete from store;
  update positions set position = 0;
  insert into store (one, installed_at) values (1, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
  insert into groups (name) values ('main');
end
$$
"""
_PLACES = "/usr/lib/postgresql/*/bin"


class PostgresServer:
    """A server on a socket in a folder of its own. A database that a test is done with is emptied for the next one."""

    def __init__(self, programs: Path, *options: str, port: int = 5432) -> None:
        self._programs, self._port = programs, port
        # The path of a socket is at most 107 bytes long.
        self.folder = Path(tempfile.mkdtemp(prefix="tocsin-pg-", dir="/tmp"))
        self._user = _other_user()
        if self._user:
            shutil.chown(self.folder, *self._user)
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-U", "tocsin", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync")
        given = " ".join(f"-c {option}" for option in (*_SPEED, f"port={port}", *options))
        self._run("pg_ctl", "-D", data, "-w", "-l", self.folder / "log", "-o", f"-k {self.folder} {given}", "start")
        atexit.register(self.stop)
        # The test that asks first may have a loop of its own.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self._make_template()).result()
        self._made = 0
        self._free: list[str] = []

    def url(self, database: str) -> str:
        """Name a database of it as settings do."""
        return f"postgresql://tocsin@/{database}?host={quote(str(self.folder))}&port={self._port}"

    def take(self) -> str:
        """Give the URL of a database that holds a new store."""
        if not self._free:
            self._made += 1
            self.command(f"create database store_{self._made} template template_store strategy file_copy")
            self._free.append(self.url(f"store_{self._made}"))
        return self._free.pop()

    def give_back(self, url: str) -> None:
        """Empty a database that `take` gave; who is connected to it still is thrown out."""
        with psycopg.connect(url, autocommit=True) as db:
            # What was deleted must not come back when a test kills the server.
            db.execute("set synchronous_commit = on")
            db.execute(_EMPTY)
        self._free.append(url)

    def command(self, text: str) -> None:
        """Run a command of the server."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            db.execute(text.encode())

    def restart(self) -> None:
        """Kill the server, and start it again: whoever is connected to it loses the connection."""
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-m", "immediate", "restart")

    def follow(self) -> None:
        """Start the server again as a standby of one that is not there."""
        (self.folder / "data" / "standby.signal").touch()
        self.restart()

    def own(self, *files: Path) -> None:
        """Give files to the server's user, and to no other one."""
        for file in files:
            file.chmod(0o600)
            if self._user:
                shutil.chown(file, *self._user)

    def as_user(self) -> dict[str, Any]:
        """Say how a program is started as the server's user."""
        user, group = self._user or (None, None)
        return {"user": user, "group": group, "extra_groups": [] if user else None, "cwd": self.folder}

    def stop(self) -> None:
        """End the server, and remove what it wrote."""
        atexit.unregister(self.stop)
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _make_template(self) -> None:
        self.command("create database template_store")
        store = await open_store(self.url("template_store"), engine=True)
        await store.close()

    def _run(self, program: str, *arguments: object) -> None:
        asked = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(asked, **self.as_user(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{asked}: {done.stdout}{done.stderr}")


@cache
def postgres() -> PostgresServer:
    """Start the server of this process; without PostgreSQL the test that asks is skipped."""
    return PostgresServer(programs())


def programs() -> Path:
    """Find the folder of PostgreSQL's programs; without them the test that asks is skipped."""
    found = shutil.which("initdb") or shutil.which("initdb", path=os.pathsep.join(map(str, _folders())))
    if found is None:
        pytest.skip("PostgreSQL is not installed (initdb): NOTHING IS TRIED ON IT")
    return Path(found).resolve().parent


def _folders() -> list[Path]:
    return sorted(Path("/").glob(_PLACES.lstrip("/")), reverse=True)


def _other_user() -> tuple[str, str] | None:
    """Name the user that the server runs as where we are root, whom it refuses."""
    return ("nobody", "nogroup") if os.geteuid() == 0 else None
