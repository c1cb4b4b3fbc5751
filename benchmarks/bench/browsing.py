"""Lists that people look at: each as it is asked for first after a start, and one part after the other."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.size_stores import Shape, make_store, site_port
from tocsin.adapters.stores import open_store
from tocsin.model import AlertQuery, PageQuery, View

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from benchmarks.bench.measure import Figure, Sizes
    from tocsin.ports import Store

    Look = Callable[[Store, str | None], Awaitable[str | None]]

LONGEST_MS: Final = 100
_PARTS: Final = 40

# Pages of every list, by the number of each: as years of checks leave them. Nothing that is measured writes.
_DRESS: Final = """
with recursive n (i) as (select 0 union all select i + 1 from n where i < 49)
insert or ignore into groups (name) select 'g' || i from n;
insert or ignore into groups (name) values ('rare');
update pages set group_id = (
  select id from groups where name = 'g' || (pages.id * 50 / (select max(id) + 1 from pages))
) where id % 3 = 0;
update pages set group_id = (select id from groups where name = 'rare') where id in (7, 13);
update pages set paused = 1 where id % 50 = 1;
update pages set last_changed_at = last_checked_at - id * 7919 % 1000003 where id % 5 = 2;
update pages set outcome = 6 where id % 40 = 3;
update pages set outcome = null where id % 10 = 4;
update pages set declares = id % 20 = 5;
update pages set next_at = null, next_why = 'off' where id % 30 = 6;
insert into questions (host_id, cause, opened_at, announce_at, announced_at, during, attempts)
select id, 'connect', 0, 0, 0, 'check', '[]' from hosts limit 500;
update pages set question_id = (select q.id from questions q where q.host_id = pages.host_id) where id % 40 = 3;
insert into alerts (id, position, page_id, type, created_at, event)
select printf('%026d', id), row_number() over (order by id), id, 'tocsin.page.changed.v1', 0,
  json_object('subject', null, 'data', json_object('text', printf('%.2000c', 'x')))
from pages limit 20000;
insert into alert_marks (position, kind, outcome, page_group, seen_at)
select position, iif(position % 9, 'changed', 'suspect'), iif(position % 4, 'minor', 'major'), 'g' || (position % 9),
  iif(position % 3, 0, null) from alerts;
update groups set pages = (select count(*) from pages where group_id = groups.id);
update questions set pages = (select count(*) from pages where question_id = questions.id);
"""


class _Seen(NamedTuple):
    """How long a list took: its first part on a connection of its own, the parts after it, and its tally."""

    first_ms: float
    parts_ms: list[float]


async def measure(sizes: Sizes) -> list[Figure]:
    """Look at every list that is offered, with every filter, of the longest store."""
    pages = sizes.watched[-1]
    with tempfile.TemporaryDirectory() as name:
        path = await make_store(Shape.usual(pages), site_port(), Path(name))
        _dress(path)
        lines = []
        for what, look in _looks(path):
            seen = await _look(path, look)
            lines.append(figure(f"{what}, of {pages:,} pages: first after opening", [seen.first_ms], "ms", aim=_AIM))
            rising = sorted(seen.parts_ms)
            note = f"half of them under {rising[len(rising) // 2]:.1f} ms"
            lines.append(figure("… then, 19 of 20", [rising[len(rising) * 19 // 20]], "ms", aim=_AIM, note=note))
    return lines


_AIM: Final = Aim("<=", LONGEST_MS)


def _dress(path: Path) -> None:
    """Let a store have pages in all lists."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(f"begin; {_DRESS} commit; pragma wal_checkpoint(truncate);")


def _looks(path: Path) -> Iterator[tuple[str, Look]]:
    with closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("select max(id) / 2 from pages").fetchone()
        (host,) = db.execute("select min(name) from hosts").fetchone()
    for view in View:
        for group in (None, "main", "g1", "rare"):
            in_group = "" if group is None else f" in {group}"
            yield f"{view.value}{in_group}", _pages(PageQuery(view, group))
    yield "of one host", _pages(PageQuery(host=host))
    for what, words in (
        ("all have", "page"),
        ("all begin with", "p"),
        ("one has", str(number)),
        ("none has", "nothingofthekind"),
        ("three that all have", "page benchmark some"),
        ("of three one that none has", "page of nothingofthekind"),
        ("three letters", "1 2 3"),
    ):
        yield f"words: {what}", _pages(PageQuery(words=words))
    for what, query in (
        ("all", AlertQuery()),
        ("unseen", AlertQuery(unseen=True)),
        ("unseen and major", AlertQuery(unseen=True, outcome="major")),
        ("minor", AlertQuery(outcome="minor")),
        ("of a kind", AlertQuery(kind="suspect")),
        ("of a group", AlertQuery(group="g1")),
        ("of a page", AlertQuery(page_id=7)),
        ("dead", AlertQuery(dead=True)),
    ):
        yield f"alerts: {what}", _alerts(query)
    yield "questions: open", _questions


def _pages(query: PageQuery) -> Look:
    async def look(store: Store, cursor: str | None) -> str | None:
        part = await store.browse_pages(query, cursor=cursor)
        if cursor is None:
            await store.tally_pages(query)
        return part.next

    return look


def _alerts(query: AlertQuery) -> Look:
    async def look(store: Store, cursor: str | None) -> str | None:
        part = await store.browse_alerts(query, cursor=cursor)
        if cursor is None:
            await store.tally_alerts(query)
        return part.next

    return look


async def _questions(store: Store, cursor: str | None) -> str | None:
    return (await store.browse_questions(cursor=cursor)).next


async def _look(path: Path, look: Look) -> _Seen:
    """Open the store anew, and look at the list from its beginning; where it is short, again and again."""
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        times: list[float] = []
        cursor: str | None = None
        for _ in range(1 + _PARTS):
            began = time.perf_counter()
            cursor = await look(store, cursor)
            times.append((time.perf_counter() - began) * 1000)
        return _Seen(times[0], times[1:])
