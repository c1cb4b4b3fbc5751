"""Stores of many pages with their first states, made through the store itself: once for each shape, then copied.

Every page is one of a site of our own on loopback (`size_site`), so that the service can really check it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

from benchmarks.bench.size_site import BODY, ETAG, TYPE
from benchmarks.pairs.plan import pairs
from tests.claiming import claim_all
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.engine.judging.assess import assess
from tocsin.model import (
    CheckReport,
    CheckResult,
    Claim,
    DueTime,
    LearntContents,
    NewPage,
    NewState,
    PageKnowledge,
    Validators,
    phase_of,
)
from tocsin.ports import Store
from tocsin.spec.html.urls import shard_of
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.reading import ContentSelectors, read_signals
from tocsin.spec.topper.state import EMPTY

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build/bench-stores"
LARGE = 10_000
"""From so many pages on a store is kept for the next run."""

URL_BYTES = 85
_USUAL_HOSTS, _WIDE_HOSTS = 1000, 10_000
_PORTS = range(28_000, 28_100)
_AT_A_TIME = 10_000
_HOSTS_AT_A_TIME = 500
_DAY_US = 86_400_000_000
_NEVER = 2**60
# An answer of robots.txt holds for a day: a store that was kept longer would have every one asked for again.
_KEPT_S = 12 * 3600
_MOST_ROBOTS = 20_000
_SEED, _SILENT = 3, 24


class Shape(NamedTuple):
    """What is in a store.

    pages   how many
    hosts   that they are dealt out to, one after the other
    hot     so many of the pages are the first host's alone
    is_due  every page is due, and was checked a short time ago; else they are due over the next day
    silent  the pages declare nothing: of each the signals and the content are known instead
    """

    pages: int
    hosts: int
    hot: int = 0
    is_due: bool = True
    silent: bool = False

    @classmethod
    def usual(cls, pages: int) -> Self:
        """As many hosts for every length, so that only the length tells."""
        return cls(pages, max(1, min(_USUAL_HOSTS, pages // 10)))

    @classmethod
    def wide(cls, pages: int) -> Self:
        """Ten times as many hosts, and one host that has a tenth of all pages."""
        return cls(pages, max(1, min(_WIDE_HOSTS, pages // 10)), hot=pages // 10)

    def host(self, number: int) -> str:
        """The host of page `number`: an address of loopback."""
        place = 0 if number < self.hot else number % self.hosts
        return f"127.{1 + (place >> 16)}.{place >> 8 & 255}.{place & 255}"

    def url(self, number: int, port: int) -> str:
        """The URL of page `number`, 85 bytes long."""
        start = f"http://{self.host(number)}:{port}/{number}/"
        return (
            start
            + "page-of-the-benchmark-with-a-name-of-some-length-as-people-choose-them.html"[: URL_BYTES - len(start)]
        )


async def make_store(shape: Shape, port: int, folder: Path) -> Path:
    """Give a folder a store of this shape, `store.db`; returns its path."""
    path = folder / "store.db"
    if shape.pages < LARGE:
        await _fill(path, shape, port)
        return path
    kept = KEPT / fingerprint() / ("-".join(map(str, (port, *map(int, shape)))) + ".db")
    if not kept.exists() or time.time() - kept.stat().st_mtime > _KEPT_S:
        _forget_others(kept.parent)
        making = kept.with_suffix(".making")
        making.unlink(missing_ok=True)
        await _fill(making, shape, port)
        _keep(making, kept)
    shutil.copyfile(kept, path)
    return path


def postpone(path: Path) -> None:
    """Let a store be as one that was stopped a day ago: every page was checked too long ago, and is due far away."""
    with closing(connect(str(path), busy=timedelta(seconds=10), writes=True)) as db:
        db.execute("update pages set next_at = next_at + ?, last_checked_at = last_checked_at - ?", (_DAY_US, _DAY_US))


def site_port() -> int:
    """A port that the site can have: that of the stores that were kept, if it is free, else another one."""
    kept = sorted({int(path.name.split("-")[0]) for path in (KEPT / fingerprint()).glob("*.db")})
    ports: list[int] = [*kept, *_PORTS]
    return next(port for port in ports if _is_free(port))


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


def fingerprint() -> str:
    """Name the program that makes stores: another one makes others."""
    digest = hashlib.sha256()
    for folder, pattern in (
        ("migrations", "**/*.sql"),
        ("service/tocsin/adapters/stores/sqlite", "**/*.py"),
        ("service/tocsin/adapters/stores/sql", "**/*.py"),
        ("service/tocsin/adapters/stores/sql", "**/*.sql"),
        ("benchmarks/bench", "size_s[it]*.py"),
        ("service/tocsin/spec/signals", "fingerprint.py"),
    ):
        for path in sorted((ROOT / folder).glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _keep(making: Path, kept: Path) -> None:
    making.rename(kept)
    # The lock of those who made it: nobody holds it any more.
    making.with_name(f"{making.name}.lock").unlink(missing_ok=True)


def _forget_others(mine: Path) -> None:
    mine.mkdir(parents=True, exist_ok=True)
    for other in KEPT.iterdir():
        if other != mine:
            shutil.rmtree(other)


async def _fill(path: Path, shape: Shape, port: int) -> None:
    now = time.time_ns() // 1000
    # Where an engine holds the store, what adds pages leaves it room.
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        ids = await _add(store, shape, port, now)
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        claim = await claim_all(store, "tocsin")
        if claim is None:
            raise RuntimeError("a store of our own is claimed by somebody else")
        hosts = await _host_ids(store, claim)
        for start in range(0, shape.pages, _AT_A_TIME):
            await store.commit(claim, list(_first_results(shape, port, now, ids, hosts, start)))
        await _allow_all(store, shape, port, now)
        # As the service leaves it a minute after the first checks.
        await store.keep_titles()
    # A restart finds no lease of the one before.
    with closing(connect(str(path), busy=timedelta(seconds=10), writes=True)) as db:
        db.execute("delete from nodes")
        db.execute("update parts set node = null, left_at = 0")
        db.execute("pragma wal_checkpoint(truncate)")


async def _add(store: Store, shape: Shape, port: int, now: int) -> list[int]:
    ids: list[int] = []
    for start in range(0, shape.pages, _AT_A_TIME):
        new = []
        for number in range(start, min(start + _AT_A_TIME, shape.pages)):
            url, host = shape.url(number, port), shape.host(number)
            new.append(NewPage(url, url, host, shard_of(host)))
        ids += [page_id or 0 for page_id in await store.add_pages(new, now - _DAY_US)]
    return ids


async def _host_ids(store: Store, claim: Claim) -> dict[str, int]:
    ids = [host_id async for host_id, _ in await store.host_agenda(claim, since_revision=None)]
    known = {}
    for start in range(0, len(ids), _HOSTS_AT_A_TIME):
        for task in await store.due_pages(claim, ids[start : start + _HOSTS_AT_A_TIME], _NEVER, per_host=1):
            known[task.host] = task.host_id
    return known


def _first_results(
    shape: Shape, port: int, now: int, ids: list[int], hosts: dict[str, int], start: int
) -> Iterator[CheckResult]:
    """What the first checks of the next pages came to."""
    found = assess("", BODY, TYPE, None, None)
    etag = ETAG.decode()
    known = _knowledge() if shape.silent else (None,)
    for number in range(start, min(start + _AT_A_TIME, shape.pages)):
        url, host = shape.url(number, port), shape.host(number)
        # Every page has the place in its interval that the engine gives it.
        share = phase_of(ids[number])
        at = now - int(share * (600_000_000 if shape.is_due else _DAY_US)) - 1_000_000
        yield CheckResult(
            page_id=ids[number],
            host_id=hosts[host],
            report=CheckReport(
                url,
                "first",
                declares=("created", "dcterms.modified"),
                status=200,
                final_url=url,
                attempts=1,
                rule="T40",
                basis="declared",
                bytes=len(BODY) + 120,
                elapsed_ms=31,
            ),
            checked_at=at,
            set_at=at,
            due=DueTime(at + (500_000 if shape.is_due else _DAY_US), "every 24h (jittered)"),
            state=NewState(
                at,
                EMPTY.values if shape.silent else found.state.values,
                equal=False,
                validators=Validators(etag, None, url),
                body_digest=found.digest,
                body_bytes=len(BODY),
            ),
            verdict=None,
            received=True,
            learnt=LearntContents(known[number % len(known)], title=f"Notices of the town hall, {number}"),
        )


@cache
def _knowledge() -> tuple[PageKnowledge, ...]:
    """What a first check learns of pages like those of `./dev pairs`."""
    found = []
    for pair in pairs(_SEED, _SILENT):
        whole = parse_whole(pair.old, TYPE)
        if whole is not None:
            read = read_signals(whole, (), {}, ContentSelectors(), "")
            content = read.content.fingerprint if read.content is not None else None
            found.append(PageKnowledge(read.read_as, read.values, content, text=read.text))
    return tuple(found)


async def _allow_all(store: Store, shape: Shape, port: int, now: int) -> None:
    """Let the hosts' robots.txt be known: asking for them is no part of what is measured."""
    if shape.hosts > _MOST_ROBOTS:
        return
    first = shape.hot if shape.hot < shape.pages else 0
    for host in {shape.host(number) for number in (0, *range(first, min(first + shape.hosts, shape.pages)))}:
        origin = f"http://{host}:{port}"
        answer = {"asked_at": now, "said": "nothing", "hop_url": f"{origin}/robots.txt"}
        await store.save_robots(origin, json.dumps(answer))
