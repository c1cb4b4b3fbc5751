from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences.compare import By, compare_texts
from tocsin.spec.differences.rows import AROUND, LINE_END, DiffGap, DiffRow, folded, to_rows

TEXTS = st.lists(st.sampled_from(["The bell", " rings", " twice", ".", "\n", "\n\n"]), max_size=20).map("".join)
MARKS = {"same": "  ", "removed": "- ", "added": "+ ", None: "~ "}


def shown(before: str, latest: str, by: By = "words") -> list[str]:
    return [MARKS[row.kind] + row.text for row in to_rows(compare_texts(before, latest, by=by))]


def test_lines_are_the_same_gone_new_or_changed_within() -> None:
    before = "Hours\nWe open at nine sharp.\nOld\nEnd\n"
    latest = "Hours\nWe open at ten sharp.\nEnd\nBrand new words\n"

    assert shown(before, latest) == [
        "  Hours",
        "~ We open at nineten sharp.",
        "- Old",
        "  End",
        "+ Brand new words",
    ]


def test_what_changed_within_a_line_is_in_its_pieces() -> None:
    (row,) = to_rows(compare_texts("We open at nine.\n", "We open at ten.\n", by="words"))

    assert row == DiffRow(None, (("same", "We open at "), ("removed", "nine"), ("added", "ten"), ("same", ".")))


def test_by_lines_no_line_changes_within() -> None:
    assert shown("a b\nc\n", "a d\nc\n", "lines") == ["- a b", "+ a d", "  c"]


def test_an_empty_line_that_went_is_a_line() -> None:
    assert shown("a\n\nb\n", "a\nb\n", "lines") == ["  a", "- ", "  b"]


def test_a_line_that_was_broken_in_two_shows_where() -> None:
    rows = to_rows(compare_texts("one two three\n", "one two\nthree\n", by="words"))

    assert any(LINE_END in row.text or row.kind is None for row in rows)


@given(TEXTS, TEXTS)
def test_rows_hold_both_texts_line_by_line(before: str, latest: str) -> None:
    rows = to_rows(compare_texts(before + "\n", latest + "\n", by="lines"))

    assert [row.text for row in rows if row.kind != "added"] == before.split("\n")
    assert [row.text for row in rows if row.kind != "removed"] == latest.split("\n")


@given(st.lists(st.sampled_from(["same", "same", "same", "same", "same", "same", "added", "removed"]), max_size=60))
def test_folding_hides_what_is_the_same_and_far_from_changes_and_nothing_else(kinds: list[str]) -> None:
    # Nothing tells that a strategy's texts are literals.
    rows = [DiffRow(kind, ((kind, str(number)),)) for number, kind in enumerate(kinds)]  # type: ignore[arg-type]

    items = list(folded(rows))

    whole = [row for item in items for row in (item.rows if isinstance(item, DiffGap) else [item])]
    assert whole == rows
    for item in items:
        if isinstance(item, DiffGap):
            assert len(item.rows) > 1
            assert all(row.kind == "same" for row in item.rows)
    places = {place for place, row in enumerate(rows) if row.kind != "same"}
    near = {place + step for place in places for step in range(-AROUND, AROUND + 1)}
    hidden = {row.text for item in items if isinstance(item, DiffGap) for row in item.rows}
    assert not hidden & {str(place) for place in near}
