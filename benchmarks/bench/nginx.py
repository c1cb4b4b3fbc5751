"""nginx on loopback, as the site of the benchmarks: one worker, on the first core, that sends files."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

HOW_TO_GET = "Debian, Ubuntu: apt install nginx-light; macOS: brew install nginx"
_PATIENCE_S = 60.0
_LOOK_S = 0.02


class Ports(NamedTuple):
    """Where it listens: one port for each way to answer.

    plain          with validators
    unconditional  always 200, without validators
    """

    plain: int
    unconditional: int


class NoNginx(OSError):
    """It does not start."""


def find() -> str | None:
    """Where nginx is; folders of the system's own programs are looked into, too."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")


def version() -> str | None:
    """What it says of its version; None where it is not there."""
    program = find()
    if program is None:
        return None
    run = subprocess.run([program, "-v"], capture_output=True, text=True, check=False)  # noqa: S603 - found above
    return (run.stdout + run.stderr).strip()


def configuration(folder: Path, ports: Ports, *, core: int | None, user: str | None) -> str:
    """Its configuration as text: pages from `folder`/pages, and all that it writes below `folder`.

    core  that its worker is pinned to; None leaves that to the system
    user  that the worker runs as; None where it may only be the one who starts it
    """
    servers = [
        (f"{ports.plain} backlog=4096", "location = /-/stats { stub_status; access_log off; }"),
        (f"{ports.unconditional} backlog=4096", "etag off; if_modified_since off;"),
    ]
    blocks = "\n".join(f"  server {{ listen {listen}; {more} }}" for listen, more in servers)
    temporary = "\n".join(f"  {kind}_temp_path {folder}/{kind};" for kind in _KINDS)
    return f"""daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_processes 1;
{f"worker_cpu_affinity {1 << core:b};" if core is not None else ""}
{f"user {user};" if user is not None else ""}
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; multi_accept on; }}
http {{
  access_log off;
  default_type text/html;
  root {folder}/pages;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 60;
  keepalive_requests 100000000;
{temporary}
{blocks}
}}
"""


_KINDS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@asynccontextmanager
async def running(program: str, folder: Path, ports: Ports) -> AsyncIterator[None]:
    """Run it on a folder that holds the pages, until the block ends."""
    cores = sorted(os.sched_getaffinity(0))
    text = configuration(
        folder,
        ports,
        core=cores[0] if len(cores) > 1 else None,
        user=getpass.getuser() if os.geteuid() == 0 else None,
    )
    path = folder / "nginx.conf"
    path.write_text(text, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        program,
        *("-p", str(folder), "-e", str(folder / "error.log"), "-c", str(path)),
        stdin=subprocess.DEVNULL,
    )
    try:
        await _until_it_listens(process, folder, ports.plain)
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _until_it_listens(process: asyncio.subprocess.Process, folder: Path, port: int) -> None:
    for _ in range(int(_PATIENCE_S / _LOOK_S)):
        if process.returncode is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        await asyncio.sleep(_LOOK_S)
    log = folder / "error.log"
    said = log.read_text(encoding="utf-8", errors="replace")[-1000:] if log.exists() else ""
    raise NoNginx(f"nginx does not listen on port {port}: {said or 'it wrote no log'}")
