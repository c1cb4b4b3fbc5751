"""What a page says beside its twelve fields is heard, one verdict comes of it, and its basis is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import digest_of, stored, task
from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, json_ld, page

if TYPE_CHECKING:
    from tocsin.model import CheckResult

EDITED = (FIRST, SECOND, THIRD, NEWS)
TOPPER = '<meta name="topper-minor" content="2026-01-01">'
REFRESH = '<meta http-equiv="refresh" content="172800">'


_PIECES = [
    b"<!doctype html>", b"<main>", b"</main>", b"<p>", NEWS.encode(), b"<meta name=topper content=2026>", b"<title>x",
    b'<script type="application/ld+json">{"@type": "Article", "dateModified": ', b'"2026-11-21"}</script>', b"\xff\xfe",
    b'<time datetime="2026-11-21" class=updated>', b"<template>", b"<svg>", b"<rss><channel><item>",
    b"<input type=password>",
]  # fmt: skip


def said(result: CheckResult) -> tuple[str, str | None, str | None]:
    return result.report.outcome, result.report.basis, result.report.rule


def trace(result: CheckResult) -> list[tuple[str, str]]:
    assert result.verdict is not None
    return [(step["rule"], step["says"]) for step in result.verdict.data["trace"]]


def test_a_page_that_declares_nothing_is_told_of_when_its_content_changes() -> None:
    watched = Watched()
    watched.check(page())

    result = watched.check(page(*EDITED))

    assert said(result) == ("minor", "inferred", "S2")
    assert result.report.signals == ("content",)
    assert result.verdict is not None
    assert result.verdict.awareness
    assert result.verdict.reason is None
    assert trace(result) == [("T42", "unchanged"), ("S2", "minor")]


def test_T54_a_change_by_content_makes_nobody_aware_who_wants_major_ones_only() -> None:
    watched = Watched(tell="major")
    watched.check(page())

    result = watched.check(page(*EDITED))

    assert result.verdict is not None
    assert not result.verdict.awareness


def test_T42_the_state_of_a_page_that_changed_by_its_content_is_the_same_state() -> None:
    watched = Watched()
    watched.check(page())

    result = watched.check(page(*EDITED))

    assert result.state is not None
    assert result.state.equal


def test_T47_a_change_of_the_twelve_fields_stays_what_it_is_and_is_declared() -> None:
    watched = Watched()
    watched.check(page(head="<meta name=created content=2026>"))

    result = watched.check(page(*EDITED, head="<meta name=created content=2027>"))

    assert said(result) == ("minor", "declared", "T47")
    assert result.report.signals == ("content",)


def test_T44_signals_never_make_less_or_more_of_the_specifications_verdict() -> None:
    watched = Watched(signals="all", signal_rules=("content: ignore",))
    watched.check(page(head='<meta name="topper-major" content="2026">'))

    result = watched.check(page(head='<meta name="topper-major" content="2026 2027">'))

    assert said(result) == ("major", "contradicted", "T44")
    assert result.report.reason == "topper-major"


def test_fields_that_change_while_the_content_does_not_are_contradicted() -> None:
    watched = Watched()
    watched.check(page(head="<meta name=created content=2026>"))

    result = watched.check(page(head="<meta name=created content=2027>"))

    assert said(result) == ("minor", "contradicted", "T47")


def test_T45_what_time_alone_makes_a_change_is_contradicted_by_nothing() -> None:
    watched = Watched()
    watched.check(page(), days=90)

    result = watched.check(page() + b"<!-- other bytes -->")

    assert said(result) == ("major", "declared", "T45")


def test_another_declaration_that_changes_along_with_the_content_is_named() -> None:
    watched = Watched()
    first = watched.check(page(head=json_ld(dateModified="2026-11-02")))

    result = watched.check(page(*EDITED, head=json_ld(dateModified="2026-11-21")))

    assert first.known is not None
    assert result.known is not None
    assert said(result) == ("minor", "declared", "S1")
    assert result.report.signals == ("json-ld.modified", "content")
    assert result.verdict is not None
    assert result.verdict.data["signals"][0] == {
        "signal": "json-ld.modified",
        "previous": first.known.values["json-ld.modified"],
        "latest": result.known.values["json-ld.modified"],
        "says": "minor",
        "rule": "S1",
    }


def test_another_declaration_that_changes_alone_is_contradicted() -> None:
    watched = Watched()
    watched.check(page(head=json_ld(dateModified="2026-11-02")))

    result = watched.check(page(head=json_ld(dateModified="2026-11-21")))

    assert said(result) == ("minor", "contradicted", "S1")


def test_content_that_changes_while_the_pages_own_date_does_not_is_contradicted() -> None:
    watched = Watched()
    watched.check(page(head=json_ld(dateModified="2026-11-02")))

    result = watched.check(page(*EDITED, head=json_ld(dateModified="2026-11-02")))

    assert said(result) == ("minor", "contradicted", "S2")


def test_an_entity_tag_that_changes_alone_gives_way_to_the_content() -> None:
    watched = Watched()
    watched.check(page(), headers={"etag": '"1"'})

    result = watched.check(page() + b"<!-- other bytes -->", headers={"etag": '"2"'})

    assert said(result) == ("unchanged", "declared", "T42")
    assert result.report.signals == ()


def test_an_entity_tag_is_heard_where_the_user_says_so() -> None:
    watched = Watched(signal_rules=("etag: major",))
    watched.check(page(), headers={"etag": '"1"'})

    result = watched.check(page() + b"<!-- other bytes -->", headers={"etag": '"2"'})

    assert result.report.outcome == "major"


@pytest.mark.parametrize(
    ("rule", "outcome"), [("json-ld.version: major", "major"), ("json-ld.version: ignore", "unchanged")]
)
def test_a_rule_of_the_user_says_what_a_signal_makes_of_the_page(rule: str, outcome: str) -> None:
    watched = Watched(signal_rules=(rule,))
    watched.check(page(head=json_ld(version="1.0")))

    result = watched.check(page(head=json_ld(version="2.0")))

    assert result.report.outcome == outcome


def test_a_large_change_of_the_content_is_major_where_the_user_says_so() -> None:
    watched = Watched(signal_rules=("content by 30 %: major",))
    watched.check(page())

    large = watched.check(page(FIRST, NEWS, NEWS.replace("boat", "ship").replace("hour", "day")))
    small = watched.check(page(FIRST, NEWS, NEWS.replace("boat", "ship").replace("hour", "week")))

    assert (large.report.outcome, small.report.outcome) == ("major", "minor")
    assert trace(large)[1] == ("S4", "major")


def test_content_is_not_compared_across_selectors() -> None:
    watched = Watched()
    watched.check(page())
    watched.set(look_at="p:first-of-type")

    result = watched.check(page(*EDITED))

    assert said(result) == ("unchanged", "declared", "T42")
    assert result.known is not None


def test_what_was_asked_for_otherwise_is_not_compared() -> None:
    watched = Watched()
    watched.check(page())
    watched.set(headers={"Accept-Language": "de"})

    german = watched.check(page("Das Hafenamt öffnet um acht und schließt, wenn das letzte Boot zu den Inseln fährt."))

    assert said(german) == ("unchanged", "declared", "T42")


@pytest.mark.parametrize("policy", [{"mode": "auto"}, {"signals": "none"}])
def test_no_signals_are_heard_where_nobody_wants_them(policy: dict[str, Any]) -> None:
    watched = Watched(**policy)
    watched.check(page(head=TOPPER))

    result = watched.check(page(*EDITED, head=TOPPER))

    assert result.report.outcome == "unchanged"
    assert result.known is None


def test_a_page_that_speaks_for_itself_is_not_read_whole() -> None:
    watched = Watched()
    first = watched.check(page(head=TOPPER))
    edited = watched.check(page(*EDITED, head=TOPPER))
    changed = watched.check(page(head=TOPPER.replace("2026", "2027")))

    assert (said(edited), said(changed)) == (("unchanged", "declared", "T42"), ("minor", "declared", "T47"))
    assert [(result.known, result.snapshot) for result in (first, edited, changed)] == [(None, None)] * 3


def test_a_page_that_speaks_for_itself_is_read_whole_where_all_signals_are_wanted() -> None:
    watched = Watched(signals="all")
    watched.check(page(head=TOPPER))

    result = watched.check(page(*EDITED, head=TOPPER))

    assert said(result) == ("minor", "contradicted", "S2")


def test_T43_what_came_too_soon_is_not_learnt() -> None:
    watched = Watched()
    watched.check(page(head=REFRESH))

    result = watched.check(page(*EDITED, head=f"{REFRESH}<meta name=created content=2027>"))

    assert result.report.outcome == "too-soon"
    assert (result.known, result.snapshot) == (None, None)


def test_a_page_whose_signals_were_never_read_is_read_though_its_bytes_are_known() -> None:
    body = page()
    watched = Watched()
    watched.task = task(state=stored(), body_digest=digest_of(body), beside=None)

    result = watched.check(body)

    assert result.report.outcome == "unchanged"
    assert result.known is not None


def test_an_unchanged_page_leaves_what_is_known_as_it_is() -> None:
    watched = Watched()
    watched.check(page())

    same = watched.check(page())
    not_modified = watched.check(status=304)
    other_bytes = watched.check(page() + b"<!-- other bytes -->")

    assert [result.known for result in (same, not_modified, other_bytes)] == [None, None, None]


def test_a_page_that_may_not_be_parsed_is_not_tried_again_and_again() -> None:
    deep = page(head="<meta name=created content=2026>") + b"<div>" * 5000
    watched = Watched()

    first = watched.check(deep)

    assert first.report.outcome == "first"
    assert first.known is not None
    assert first.known.values == {}


def test_no_change_that_was_asked_for_says_what_was_heard() -> None:
    watched = Watched(report=("unchanged",))
    watched.check(page(), headers={"etag": '"1"'})

    result = watched.check(page() + b"<!-- other bytes -->", headers={"etag": '"2"'})

    (alert,) = result.alerts
    assert [step["rule"] for step in alert.event["data"]["trace"]] == ["T42", "S5"]


@given(
    st.binary(max_size=400) | st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join),
    st.binary(max_size=400) | st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join),
    st.sampled_from(["text/html", "application/xhtml+xml", "application/pdf", "application/rss+xml", ""]),
)
def test_nothing_raises_on_any_bytes(before: bytes, latest: bytes, content_type: str) -> None:
    watched = Watched(signals="all")
    for body in (before, latest, before):
        watched.check(body, headers={"content-type": content_type, "etag": '"1"'})


def test_a_page_whose_markup_alone_differs_is_not_read_for_its_content() -> None:
    watched = Watched()
    watched.check(page())

    result = watched.check(page() + b"<script>token = 81</script><!-- other bytes -->")
    edited = watched.check(page(*EDITED))

    assert (result.report.outcome, result.known) == ("unchanged", None)
    assert (edited.report.outcome, edited.report.signals) == ("minor", ("content",))
