"""Thousands of pages through one browser's worker: what it holds in memory, and in files, must not grow."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.adapters.browser.process_trees import ProcessTrees
from tocsin.adapters.processes.cell import PROXY_PORT
from tocsin.app.browser import CellBrowser, open_browser
from tocsin.ports.browser import BrowserVisit
from tocsin.ports.browser_link import StartBrowser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PROGRAM: Final = "chromium-headless-shell"
# The processes of a page end a moment after it.
_REST_S: Final = 3.0
# What a process may have in the second half, of what it had in the first.
_MOST_GROWTH: Final = 1.25
_NEVER: Final = 10**9
# Process by what its command line holds; a browser's other processes are below its first.
_PARTS: Final = {"worker": b"\0tocsin.app.browser_worker\0", "driver": b"run-driver", "egress": b"browser_egress"}
_WARDEN: Final = b"/warden.py\0"
_HTML: Final = """<!doctype html><title>Page {number}</title><link rel=stylesheet href=/style.css><h1>Page {number}</h1>
<main></main><script src=/script.js></script>"""
_SCRIPT: Final = """fetch('/data' + location.pathname).then(each => each.json()).then(lines => {
  for (const line of lines) document.querySelector('main').append(
    Object.assign(document.createElement('p'), {textContent: line}))
})"""


class Holding(Struct, frozen=True):
    """What the browser's processes have after some pages, at rest.

    slots_mib  of the browsers, on average
    files      in the worker's folder
    """

    pages: int
    seconds: float
    slots_mib: float
    worker_mib: float
    driver_mib: float
    egress_mib: float
    files: int


async def browse(pages: int, slots: int, step: int, *, recycle: bool, rest_s: float = _REST_S) -> list[Holding]:
    """Visit pages; returns what was found after each `step`, which is printed as it comes."""
    start = StartBrowser(slots=slots, path=_PROGRAM, first_port=PROXY_PORT)
    if not recycle:
        start = StartBrowser(slots=slots, path=_PROGRAM, first_port=PROXY_PORT, recycle_pages=_NEVER, recycle_s=_NEVER)
    looks: list[Holding] = []
    print(_row("pages", "s", "a slot", "worker", "driver", "egress", "files"), "(PSS, MiB)", flush=True)
    async with _site() as port, open_browser(start, ("127.0.0.1/32",), lambda _: None) as browser:
        began = time.monotonic()
        for first in range(0, pages, step):
            await _visit(browser, port, range(first, min(first + step, pages)))
            await asyncio.sleep(rest_s)
            looks.append(_look(min(first + step, pages), time.monotonic() - began))
            look = looks[-1]
            mib = (f"{each:.0f}" for each in (look.slots_mib, look.worker_mib, look.driver_mib, look.egress_mib))
            print(_row(look.pages, f"{look.seconds:.0f}", *mib, look.files), flush=True)
    return looks


def grown(looks: list[Holding]) -> list[str]:
    """Say what grew; the first look is no measure, since libraries fill their caches."""
    found = []
    for name in ("slots_mib", "worker_mib", "driver_mib", "egress_mib", "files"):
        values = [getattr(look, name) for look in looks[1:]]
        # Each alone swings: a browser was just replaced, or a driver has just given back what it no longer needs.
        half = len(values) // 2
        if half and statistics.mean(values[-half:]) > _MOST_GROWTH * statistics.mean(values[:half]):
            found.append(f"{name} grew from {values[0]:.0f} to {values[-1]:.0f}")
    return found


async def _visit(browser: CellBrowser, port: int, numbers: range) -> None:
    left: Iterator[int] = iter(numbers)

    async def visit_all() -> None:
        for number in left:
            url = f"http://127.0.0.1:{port}/{number}"
            page = await browser.visit(BrowserVisit(url, total_s=90.0, ready_s=60.0), _admit)
            if f"<p>line 9 of {number}</p>".encode() not in page.body:
                raise RuntimeError(f"{url} was not read as it is")

    async with asyncio.TaskGroup() as group:
        for _ in range(browser.slots):
            group.create_task(visit_all())


async def _admit(_url: str) -> None:
    """Admit each document."""


def _look(pages: int, seconds: float) -> Holding:
    trees = ProcessTrees()
    trees.look()
    lines = {pid: _read(pid, "cmdline") for pid in trees.tree(os.getpid())[1:]}
    browsers = [pid for pid, line in lines.items() if b"--tocsin-slot=" in line and b"--type=" not in line]
    parts = {
        name: sum(_pss_mib(pid) for pid, line in lines.items() if mark in line and _WARDEN not in line)
        for name, mark in _PARTS.items()
    }
    # Debian's program is a script that starts the browser: one of the two is below the other.
    all_pids = {pid for root in browsers for pid in trees.tree(root)}
    roots = [pid for pid in browsers if not any(pid in trees.tree(each)[1:] for each in browsers)]
    slots_mib = sum(map(_pss_mib, all_pids)) / max(len(roots), 1)
    worker = next(pid for pid, line in lines.items() if _PARTS["worker"] in line and _WARDEN not in line)
    variables = dict(each.partition(b"=")[::2] for each in _read(worker, "environ").split(b"\0"))
    files = sum(1 for _ in Path(os.fsdecode(variables[b"TMPDIR"])).rglob("*"))
    return Holding(pages, seconds, slots_mib, parts["worker"], parts["driver"], parts["egress"], files)


def _pss_mib(pid: int) -> float:
    lines = _read(pid, "smaps_rollup").decode("ascii", "replace").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _row(*values: object) -> str:
    return "".join(f"{value!s:>8}" for value in values)


@asynccontextmanager
async def _site() -> AsyncIterator[int]:
    """Serve the pages; gives the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        content_type, body = _answer_to(head.split()[1].decode())
        writer.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def _answer_to(path: str) -> tuple[str, str]:
    match path.split("/"):
        case ["", "style.css"]:
            return "text/css", "p { margin: 1em }"
        case ["", "script.js"]:
            return "text/javascript", _SCRIPT
        case ["", "data", number]:
            lines = ", ".join(f'"line {line} of {number}"' for line in range(200))
            return "application/json", f"[{lines}]"
        case _:
            return "text/html", _HTML.format(number=path[1:])
