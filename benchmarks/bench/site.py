"""The site of a row: nginx where there is one, else an origin of our own; both serve the same pages and versions.

A page's number says which document it is and at which of the hosts (addresses of loopback) it stands. A site is
described by a value, so that the client in its own process may speak to it, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.request import urlopen

import msgspec

from benchmarks.bench import nginx
from benchmarks.bench.corpus import DOCUMENTS, Document, documents, has_changed
from benchmarks.bench.processes import Origin
from benchmarks.ports import free_ports

HOSTS = 200
_BIRTH_S = 1_700_000_000
Kind = Literal["plain", "unconditional"]


class Seen(NamedTuple):
    """How many connections a site has taken, and how many requests."""

    connections: int
    requests: int


class Site(msgspec.Struct, frozen=True):
    """A site that runs.

    folder  of nginx: its pages are files below; "" for the origin of our own
    ports   by kind
    hosts   how many addresses of loopback it is asked at
    """

    folder: str
    ports: nginx.Ports
    hosts: int = HOSTS

    @property
    def name(self) -> str:
        """Who serves it."""
        return "nginx" if self.folder else "our own origin"

    def url(self, number: int, kind: Kind = "plain") -> str:
        """The URL of a page: numbers that differ by the number of documents are one document at different hosts."""
        host = (number + number // DOCUMENTS * 13) % self.hosts + 1
        path = "p" if self.folder or kind == "plain" else "n"
        return f"http://127.0.0.{host}:{getattr(self.ports, kind)}/{path}/{number % DOCUMENTS}"

    def seen(self) -> Seen:
        """Tell what it has had so far, each question of this kind included."""
        with urlopen(f"http://127.0.0.1:{self.ports.plain}/-/stats") as answer:
            said = answer.read().decode()
        if not self.folder:
            told = json.loads(said)
            return Seen(told["connections"], told["requests"])
        # "Active connections: 1 / server accepts handled requests / 1 1 1 / ...", with a line for each.
        accepted, _, requests = said.splitlines()[2].split()
        return Seen(int(accepted), int(requests))

    def publish(self, version: int, *, percent: int = 100, token: int | None = None) -> set[int]:
        """Give so many percent of the documents another version; returns their numbers.

        token  if given, all pages are written anew with it: other bytes, which mean the same where the version stayed
        """
        changed = {number for number in range(DOCUMENTS) if has_changed(number, version, percent)}
        if not self.folder:
            query = f"version={version}&percent={percent}" + (f"&token={token}" if token is not None else "")
            with urlopen(f"http://127.0.0.1:{self.ports.plain}/-/set?{query}"):
                return changed
        pages = Path(self.folder, "pages", "p")
        made = _documents()
        for number in range(DOCUMENTS) if token is not None else changed:
            _write(pages / str(number), made[number], version if number in changed else None, token, version)
        return changed


def _documents() -> list[Document]:
    if not _MADE:
        _MADE.extend(documents())
    return _MADE


_MADE: list[Document] = []


def _write(path: Path, document: Document, version: int | None, token: int | None, second: int) -> None:
    """Put a page in the place of the one before at once; its time is another one, else its ETag were the same."""
    body = bytearray(path.read_bytes() if path.exists() else b"".join(document.parts(0)))
    for start, piece in document.places(version, token):
        body[start : start + len(piece)] = piece
    made = path.with_suffix(".new")
    made.write_bytes(body)
    os.utime(made, (_BIRTH_S + second, _BIRTH_S + second))
    made.replace(path)


@asynccontextmanager
async def serve(*, pinned: bool = True, hosts: int = HOSTS) -> AsyncIterator[Site]:
    """Run the site, with nginx if it is there.

    pinned  to the first core; nginx always is, where there are two
    """
    async with AsyncExitStack() as stack:
        program = nginx.find()
        if program is None:
            origin = await stack.enter_async_context(Origin(pinned=pinned))
            ports = nginx.Ports(origin.port, origin.port)
            yield Site("", ports, hosts)
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-site-")))
        ports = nginx.Ports(*free_ports(len(nginx.Ports._fields)))
        site = Site(str(folder), ports, hosts)
        (folder / "pages" / "p").mkdir(parents=True)
        await asyncio.to_thread(site.publish, 0, token=0)
        await stack.enter_async_context(nginx.running(program, folder, ports))
        yield site
