"""Adding and removing pages, inside a transaction."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from unicodedata import normalize

from tocsin.adapters.stores.sql.attention.questions import SQL as ATTENTION
from tocsin.adapters.stores.sql.codec import to_json_or_null
from tocsin.adapters.stores.sql.packing import url_key
from tocsin.adapters.stores.sql.pages.requests import give_up
from tocsin.adapters.stores.sql.pages.word_index import change_words, keep_words, pages_named
from tocsin.adapters.stores.sql.role import ids, touch_hosts
from tocsin.adapters.stores.sql.schedule import spread_at, window_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.lists.pages import GroupNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import Instant, NewPage

SQL = queries("watchlist")
GROUPS = queries("browsing")


def insert_pages(db: Session, pages: Sequence[NewPage], now: Instant, *, of: int) -> list[int | None]:
    """Add pages that are not watched yet, hosts and groups with them; returns ids, None for the others.

    of  how many are added in all, these included: their first checks are spread by them all
    """
    seen = {row[0] for row in db.execute(SQL["known"], {"urls": ids(page.url for page in pages)})}
    (last,) = db.execute(SQL["last_id"]).fetchone()
    # Pages that were removed count too: what matters is the order of magnitude.
    window = window_us(last + of)
    added: list[int | None] = []
    rows = []
    for page in pages:
        if page.url in seen:
            added.append(None)
            continue
        seen.add(page.url)
        last += 1
        added.append(last)
        rows.append(
            {
                "id": last,
                "key": url_key(page.url),
                "url": page.url,
                "given": page.given if page.given != page.url else None,
                "host": page.host,
                "shard": page.shard,
                "group": page.group,
                "settings": to_json_or_null(page.settings),
                "secrets": to_json_or_null(page.secrets),
                "text": page.text,
                "paused": page.paused,
                "now": now,
                "next_at": spread_at(last, now, window),
            }
        )
    hosts = {row["host"]: row for row in rows}
    db.executemany(SQL["insert_host"], hosts.values())
    make_groups(db, [row["group"] for row in rows])
    db.executemany(SQL["insert_page"], rows)
    keep_words(db, last)
    count_pages(db, [row["group"] for row in rows])
    if rows:
        touch_hosts(db, [row[0] for row in db.execute(SQL["hosts_named"], {"names": ids(hosts)})])
    return added


def make_groups(db: Session, names: Iterable[str]) -> None:
    """Make the groups that are not there yet; raises UsageError for a name that differs only in capitals.

    A group whose name an older version took in another form of Unicode gets the name that is wanted now (NFC).
    """
    wanted = [name for name in dict.fromkeys(names) if not db.execute(GROUPS["group_named"], {"name": name}).fetchone()]
    if not wanted:
        return
    known = [row[0] for row in db.execute(SQL["group_names"])]
    there = GroupNames(known)
    composed = {normalize("NFC", name): name for name in known}
    renamed = [{"name": name, "old": composed[name]} for name in wanted if name in composed]
    db.executemany(SQL["rename_group"], renamed)
    db.executemany(SQL["insert_group"], [{"name": there.take(name)} for name in wanted])


def groups_of(db: Session, page_ids: Sequence[int]) -> list[str]:
    """Name the group of each of these pages."""
    return [row[0] for row in db.execute(SQL["groups_of"], {"ids": ids(page_ids)})]


def count_pages(db: Session, groups: Iterable[str], *, sign: int = 1) -> None:
    """Let groups have a page more, or less: one entry for each page."""
    db.executemany(SQL["count_pages"], [(sign * pages, name) for name, pages in Counter(groups).items()])


def remove(db: Session, page_ids: Sequence[int]) -> int:
    """Take pages off the list with all that is stored of them; what asked for them waits for them no longer."""
    place = {"ids": ids(page_ids)}
    rows = db.execute(SQL["touched"], place).fetchall()
    give_up(db, [row[3] for row in rows])
    change_words(db, pages_named(db, page_ids))
    count_pages(db, groups_of(db, page_ids), sign=-1)
    db.execute(SQL["remove"], place)
    questions = {row[2] for row in rows if row[2] is not None}
    if questions:
        (now,) = db.execute("select unixepoch() * 1000000").fetchone()
        db.executemany(ATTENTION["close_if_left"], [{"question": question, "at": now} for question in questions])
    touch_hosts(db, {row[1] for row in rows})
    return len(rows)
