"""A law of the texts that are kept, over whatever pages say."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.stores.sql.knowledge.kept import find_prunable, fit, keep_snapshots
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.model import NO_COPY, Snapshot
from tocsin.spec.signals.texts import pack_text

KEEPING = st.tuples(st.integers(1, 3), st.sampled_from(["one", "two", "three", None]))


@given(st.lists(KEEPING, max_size=20), st.integers(0, 4), st.integers(0, 20))
def test_what_is_kept_are_the_changes_of_each_page_that_are_new_enough(
    keepings: list[tuple[int, str | None]], per_page: int, before: int
) -> None:
    expected: dict[int, list[tuple[int, str]]] = defaultdict(list)
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as db:
        list(apply_migrations(db, ":memory:"))
        for at, (page_id, text) in enumerate(keepings):
            keep_snapshots(db, [(page_id, NO_COPY if text is None else Snapshot(*pack_text(text), at=at))])
            if text is None:
                expected[page_id].clear()
            elif not expected[page_id] or expected[page_id][-1][1] != text:
                expected[page_id].append((at, text))

        found = find_prunable(db, {"before": before, "per_page": per_page, "limit": 100})
        db.executemany("delete from snapshots where id = ?", [[snapshot_id] for snapshot_id in found])

        for page_id, texts in expected.items():
            number = len(texts) - per_page
            expected[page_id] = [
                (at, text)
                for place, (at, text) in enumerate(texts)
                if place >= number and (at >= before or place == len(texts) - 1)
            ]
        rows = db.execute("select page_id, at from snapshots order by page_id, at").fetchall()
        assert rows == [(page_id, at) for page_id in sorted(expected) for at, _ in expected[page_id]]
        texts_left = {text for texts in expected.values() for _, text in texts}
        assert db.execute("select count(*) from texts").fetchone() == (len(texts_left),)
        size = sum(len(pack_text(text)[1]) for text in texts_left)
        assert db.execute("select text_bytes from store").fetchone() == (size,)
        assert fit(db, total=0, limit=100) == len(rows)
        assert db.execute("select text_bytes from store").fetchone() == (0,)
