"""A law of the copies that are offered, over whatever pages name."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.stores.sql.knowledge.kept import copies_of, remember_copies
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.model import CopyLink

PAGES = ("http://one.example/", "http://two.example/", "http://three.example/")
MOST = 5
LINKS = st.builds(
    lambda target, number, day: CopyLink(
        target, f"http://copies.example/{number}", f"day {day}" if day else None, day, None, "mset"
    ),
    st.sampled_from(PAGES),
    st.integers(0, 9),
    st.none() | st.integers(-3, 3).filter(bool),
)


@given(st.lists(st.tuples(st.integers(1, 3), st.lists(LINKS, max_size=12)), max_size=6))
def test_what_pages_named_last_is_offered_each_once_the_newest_first(
    readings: list[tuple[int, list[CopyLink]]],
) -> None:
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as db:
        list(apply_migrations(db, ":memory:"))
        db.execute("insert into hosts (id, name, shard) values (1, 'one.example', 7)")
        page = "insert into pages (key, url, host_id, added_at) values (url_key(?1), ?1, 1, 0)"
        db.executemany(page, [[url] for url in PAGES])
        for page_id, links in readings:
            remember_copies(db, page_id, links, 0)

        for target in PAGES:
            named = [link for links in dict(readings).values() for link in first_naming(links) if link.target == target]
            offered = copies_of(db, target, most=MOST)

            newest = {link.url: max(same.made_at or -99 for same in named if same.url == link.url) for link in named}
            expected = sorted(newest, key=lambda url: (-newest[url], url))[:MOST]
            assert [copy.url for copy in offered] == expected


def first_naming(links: list[CopyLink]) -> list[CopyLink]:
    """Of one page the first naming of a copy counts."""
    return list({(link.target, link.url): link for link in reversed(links)}.values())
