from __future__ import annotations

from datetime import timedelta

import pytest

from tocsin.spec.measuring import (
    Case,
    ConfusionRow,
    Judged,
    PageVersion,
    count,
    is_well,
    judge,
    read_version,
    total,
)
from tocsin.spec.signals.reading import ContentSelectors
from tocsin.spec.signals.weigh import parse_rule
from tocsin.spec.topper.compare import DEFAULT_THRESHOLDS

DAY = timedelta(hours=24)
TOLD, SILENT = (Judged(is_told=told, is_content=told, change=None, why="") for told in (True, False))


def version(markup: str) -> PageVersion:
    return read_version(b"<!doctype html><title>t</title>" + markup.encode(), ContentSelectors())


def judged(old: str, new: str, *rules: str) -> Judged:
    read = [parse_rule(rule, ("open-graph.updated", "content")) for rule in rules]
    return judge(version(old), version(new), DAY, DEFAULT_THRESHOLDS, read)


def edits(right: int, wrong: int) -> list[Case]:
    return [Case(str(n), "edit", "title", "sentence", TOLD if n < right else SILENT) for n in range(right + wrong)]


def test_a_field_of_the_specification_that_changed_is_told_by_its_rule() -> None:
    found = judged("<meta name=topper-minor content=2014-01>", "<meta name=topper-minor content='2014-01 2014-02'>")

    assert found.is_told
    assert found.why.startswith("topper-minor changed (T4")


def test_equal_versions_are_not_told() -> None:
    assert not judged("<p>Words that stay.", "<p>Words that stay.").is_told


def test_another_declaration_that_changed_is_told_though_the_content_is_the_same() -> None:
    old, new = (f"<meta property=og:updated_time content=2025-01-0{day}><p>Words that stay." for day in (1, 2))

    found = judged(old, new)

    assert (found.is_told, found.is_content) == (True, False)


def test_a_paragraph_that_was_rewritten_is_told_by_the_content_alone() -> None:
    old = "<main><h1>Title of it</h1><p>The harbour was repaired by the people of the old town, who paid for it.</main>"
    found = judged(
        old, old.replace("repaired by the people of the old town, who paid", "sold to a stranger, who asked")
    )

    assert (found.is_told, found.is_content) == (True, True)


def test_a_rule_of_the_user_that_ignores_the_content_holds() -> None:
    found = judged("<main><p>The first text of this page.", "<main><p>Something else altogether.", "ignore content")

    assert (found.is_told, found.is_content) == (False, True)


def test_what_is_no_page_is_compared_with_nothing() -> None:
    pdf = read_version(b"%PDF-1.7 ...", ContentSelectors())

    found = judge(pdf, version("<p>Words."), DAY, DEFAULT_THRESHOLDS)

    assert (found.is_told, found.change) == (False, None)


def test_smaller_edits_noise_and_what_has_no_label_are_counted_apart() -> None:
    cases = [
        Case("a", "edit", "word", "word", SILENT),
        Case("b", "edit", "title", "sentence", TOLD),
        Case("c", "noise", "clock", "", TOLD),
        Case("d", "", "", "", TOLD),
        Case("e", "edit", "", "", SILENT),
    ]

    rows = [(row.group, row.kind, row.pairs, row.told, row.wrong) for row in count(cases)]

    assert rows == [
        ("edit", "", 1, 0, 1),
        ("edit", "title", 1, 1, 0),
        ("smaller edit", "word", 1, 0, 1),
        ("noise", "clock", 1, 1, 1),
        ("no label", "", 1, 1, None),
    ]


def test_the_sum_of_a_group_is_that_of_its_kinds() -> None:
    rows = [ConfusionRow("noise", "a", 2, 1, 0), ConfusionRow("noise", "b", 3, 1, 2)]

    assert total(rows) == [ConfusionRow("noise", "", 5, 2, 2)]


@pytest.mark.parametrize(("right", "wrong", "well"), [(100, 0, True), (99, 1, True), (98, 2, False), (9, 1, False)])
def test_one_percent_may_be_wrong(right: int, wrong: int, well: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_well(total(count(edits(right, wrong)))) is well


def test_smaller_edits_that_are_missed_hold_nothing_up() -> None:
    missed = [Case("a", "edit", "word", "word", SILENT)]

    assert is_well(total(count([*edits(3, 0), *missed])))
