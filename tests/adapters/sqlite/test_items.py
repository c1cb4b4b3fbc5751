"""A law of the items that are kept, over whatever is found of pages in whatever order."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.contract.desk import NOW, A
from tocsin.adapters.stores.sql.knowledge.kept import changes_by_state, keep_changes, keep_items
from tocsin.adapters.stores.sql.values import url_key
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.model import NO_ITEMS, PageItems

PAGES = (1, 2, 3)
FINDING = st.tuples(st.sampled_from(PAGES), st.sampled_from(["one", "two", None]))


def items(text: str, at: int) -> PageItems:
    """A page's items; the store does not look into them."""
    return PageItems(at, text.encode(), text.encode(), 1)


@given(st.lists(FINDING, max_size=20))
def test_the_latest_items_of_each_page_are_kept_and_the_changes_since_none_was_wanted(
    findings: list[tuple[int, str | None]],
) -> None:
    kept: dict[int, tuple[int, int, str]] = {}
    changes: dict[int, list[int]] = {page_id: [] for page_id in PAGES}
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as db:
        list(apply_migrations(db, ":memory:"))
        db.execute("insert into hosts (id, name, shard) values (1, 'one.example', 7)")
        for page_id in PAGES:
            row = (page_id, url_key(f"{A}{page_id}"), f"{A}{page_id}")
            db.execute("insert into pages (id, key, url, host_id, added_at) values (?, ?, ?, 1, 0)", row)
        for at, (page_id, text) in enumerate(findings, 1):
            keep_items(db, page_id, NO_ITEMS if text is None else items(text, at))
            if text is None:
                kept.pop(page_id, None)
                changes[page_id].clear()
                continue
            first, _, before = kept.get(page_id, (at, at, text))
            kept[page_id] = (first if before == text else at, at, text)
            if before != text:
                db.execute("insert into renderings values (?, ?, ?, '{}', null)", (at, page_id, at))
                keep_changes(db, page_id, at, at, {"changes": []})
                changes[page_id].append(at)

        rows = db.execute("select page_id, first_at, at, packed from items").fetchall()
        assert {page_id: (first, at, packed.decode()) for page_id, first, at, packed in rows} == kept
        for page_id in PAGES:
            (found,) = changes_by_state(db, f"{A}{page_id}", [0], are_all=True)
            assert [change.rendering_id for change in found] == changes[page_id]


@given(st.lists(st.integers(1, 9), max_size=12), st.lists(st.integers(0, 10), min_size=1, max_size=4, unique=True))
def test_every_change_stands_with_one_state_the_latest_of_those_before_it(ats: list[int], begins: list[int]) -> None:
    begins.sort(reverse=True)
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as db:
        list(apply_migrations(db, ":memory:"))
        db.execute("insert into hosts (id, name, shard) values (1, 'one.example', 7)")
        db.execute("insert into pages (id, key, url, host_id, added_at) values (1, ?, ?, 1, 0)", (url_key(A), A))
        for rendering_id, at in enumerate(sorted(ats), 1):
            db.execute("insert into renderings values (?, 1, ?, '{}', null)", (rendering_id, at))
            keep_changes(db, 1, rendering_id, at, {"changes": []})

        by_state = changes_by_state(db, A, begins, are_all=True)

    shown = [change.at for changes in reversed(by_state) for change in changes]
    assert shown == sorted(ats)
    for begin, changes, until in zip(begins, by_state, [11, *begins], strict=False):
        assert all((begin <= change.at or begin == begins[-1]) and change.at < until for change in changes)


def test_equal_items_are_read_anew_without_their_bytes_being_written_anew(tmp_path: Path) -> None:
    path, log = tmp_path / "tocsin.db", tmp_path / "tocsin.db-wal"
    packed = bytes(100_000)
    written: list[int] = []
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db:
        db.execute("pragma journal_mode = wal")
        list(apply_migrations(db, str(path)))
        for at in (NOW, NOW + 1):
            before = log.stat().st_size
            with transaction(db):
                keep_items(db, 1, PageItems(at, b"digest", packed, 1))
            written.append(log.stat().st_size - before)

    first, again = written
    assert first > len(packed)
    assert again < 10_000
