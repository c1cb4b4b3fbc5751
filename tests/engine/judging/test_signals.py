"""Signals of a page: what they say, what is kept of them, and what is muted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import digest_of, stored, task
from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, json_ld, page
from tocsin.engine.judging.signals import _back
from tocsin.model import CheckResult, KeptContents
from tocsin.spec.signals.texts import unpack_text
from tocsin.spec.signals.weigh import Heard

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

    assert said(result) == ("major", "inferred", "T45")


def test_another_declaration_that_changes_along_with_the_content_is_named() -> None:
    watched = Watched()
    first = watched.check(page(head=json_ld(dateModified="2026-11-02")))

    result = watched.check(page(*EDITED, head=json_ld(dateModified="2026-11-21")))

    assert first.learnt.known is not None
    assert result.learnt.known is not None
    assert said(result) == ("minor", "declared", "S1")
    assert result.report.signals == ("json-ld.modified", "content")
    assert result.verdict is not None
    assert result.verdict.data["signals"][0] == {
        "signal": "json-ld.modified",
        "previous": first.learnt.known.values["json-ld.modified"],
        "latest": result.learnt.known.values["json-ld.modified"],
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

    assert said(result) == ("unchanged", None, "T42")
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

    assert said(result) == ("unchanged", None, "T42")
    assert result.learnt.known is not None


def test_what_was_asked_for_otherwise_is_not_compared() -> None:
    watched = Watched()
    watched.check(page())
    watched.set(headers={"Accept-Language": "de"})

    german = watched.check(page("Das Hafenamt öffnet um acht und schließt, wenn das letzte Boot zu den Inseln fährt."))

    assert said(german) == ("unchanged", None, "T42")


@pytest.mark.parametrize("policy", [{"mode": "auto"}, {"signals": "none"}])
def test_no_signals_are_heard_where_nobody_wants_them(policy: dict[str, Any]) -> None:
    watched = Watched(**policy)
    watched.check(page(head=TOPPER))

    result = watched.check(page(*EDITED, head=TOPPER))

    assert result.report.outcome == "unchanged"
    assert result.learnt.known is None


def test_a_page_that_speaks_for_itself_is_not_read_whole() -> None:
    watched = Watched()
    first = watched.check(page(head=TOPPER))
    edited = watched.check(page(*EDITED, head=TOPPER))
    changed = watched.check(page(head=TOPPER.replace("2026", "2027")))

    assert (said(edited), said(changed)) == (("unchanged", "declared", "T42"), ("minor", "declared", "T47"))
    assert [(result.learnt.known, result.learnt.snapshot) for result in (first, edited, changed)] == [(None, None)] * 3


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
    assert (result.learnt.known, result.learnt.snapshot) == (None, None)


def test_a_page_whose_signals_were_never_read_is_read_though_its_bytes_are_known() -> None:
    body = page()
    watched = Watched()
    watched.task = task(state=stored(), body_digest=digest_of(body), beside=None)

    result = watched.check(body)

    assert result.report.outcome == "unchanged"
    assert result.learnt.known is not None


def test_an_unchanged_page_leaves_what_is_known_as_it_is() -> None:
    watched = Watched()
    watched.check(page())

    same = watched.check(page())
    not_modified = watched.check(status=304)
    watched.check(page() + b"<!-- other bytes -->")  # its mark is kept now
    other_bytes = watched.check(page() + b"<!-- others again -->")

    assert [result.learnt.known for result in (same, not_modified, other_bytes)] == [None, None, None]


def test_a_page_that_may_not_be_parsed_is_not_tried_again_and_again() -> None:
    deep = page(head="<meta name=created content=2026>") + b"<div>" * 5000
    watched = Watched()

    first = watched.check(deep)

    assert first.report.outcome == "first"
    assert first.learnt.known is not None
    assert first.learnt.known.values == {}


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

    assert (result.report.outcome, result.learnt.snapshot) == ("unchanged", None)
    assert (edited.report.outcome, edited.report.signals) == ("minor", ("content",))


def test_a_text_is_kept_when_it_is_first_read_and_when_it_has_changed() -> None:
    watched = Watched()
    first = watched.check(page())
    same = watched.check(page() + b"<!-- other bytes -->")
    changed = watched.check(page(*EDITED))

    assert same.learnt.snapshot is None
    assert first.learnt.snapshot is not None
    assert changed.learnt.snapshot is not None
    assert NEWS not in unpack_text(first.learnt.snapshot.packed)
    assert NEWS in unpack_text(changed.learnt.snapshot.packed)
    assert changed.learnt.snapshot.at == changed.checked_at


def test_where_room_is_short_a_text_is_kept_when_it_has_changed_alone() -> None:
    watched = Watched()
    watched.task = task(is_short=True)
    first, changed = watched.check(page()), watched.check(page(*EDITED))

    assert first.learnt.known is not None
    assert first.learnt.snapshot is None
    assert changed.learnt.snapshot is not None


def test_no_text_is_kept_where_none_is_wanted() -> None:
    watched = Watched(keeps=KeptContents(texts=False))
    first, changed = watched.check(page()), watched.check(page(*EDITED))

    assert (first.learnt.snapshot, changed.learnt.snapshot) == (None, None)
    assert changed.report.outcome == "minor"


def test_the_same_change_on_two_pages_has_one_key() -> None:
    keys = []
    for place in ("north", "south"):
        watched = Watched()
        own = FIRST.replace("harbour", f"{place} harbour")
        watched.check(page(own, SECOND))
        verdict = watched.check(page(own, SECOND, NEWS)).verdict
        assert verdict is not None
        keys.append(verdict.storm_key)

    assert keys[0] is not None
    assert keys[0] == keys[1]


def test_a_change_that_a_page_declares_is_its_own() -> None:
    watched = Watched()
    watched.check(page(head="<meta name=created content=2026>"))

    verdict = watched.check(page(*EDITED, head="<meta name=created content=2027>")).verdict

    assert verdict is not None
    assert verdict.storm_key is None


@pytest.mark.parametrize("name", ["feed", "sitemap"])
def test_what_a_list_says_of_a_page_is_heard_though_the_page_is_not_sent_again(name: str) -> None:
    watched = Watched()
    watched.say(**{name: "2026-11-01T08:00:00Z"})
    watched.check(page())
    watched.say(**{name: "2026-11-21T08:00:00Z"})

    result = watched.check(status=304)
    again = watched.check(status=304)

    # The very bytes of before: that the page changed is contradicted.
    assert (result.report.outcome, result.report.basis, result.report.signals) == ("minor", "contradicted", (name,))
    assert again.report.outcome == "unchanged"


def test_a_page_that_a_list_begins_to_name_has_not_changed() -> None:
    watched = Watched()
    watched.check(page())
    watched.say(feed="2026-11-21T08:00:00Z")

    assert watched.check(status=304).report.outcome == "unchanged"


def test_a_page_that_leaves_a_list_has_not_changed_and_what_it_said_is_kept() -> None:
    watched = Watched()
    watched.say(feed="2026-11-01T08:00:00Z")
    watched.check(page())
    watched.say()
    gone = watched.check(page() + b"<!-- other bytes -->")
    watched.say(feed="2026-11-21T08:00:00Z")

    back = watched.check(status=304)

    assert gone.report.outcome == "unchanged"
    assert back.report.outcome == "minor"


def test_lists_are_not_heard_of_a_page_that_speaks_for_itself() -> None:
    watched = Watched()
    watched.say(feed="2026-11-01T08:00:00Z")
    watched.check(page(head=TOPPER))
    watched.say(feed="2026-11-21T08:00:00Z")

    assert watched.check(status=304).report.outcome == "unchanged"


def sitemap(date: str) -> bytes:
    url = f"<url><loc>http://site.example/a</loc><lastmod>{date}</lastmod></url>"
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{url}</urlset>'.encode()


@pytest.mark.parametrize("signals", ["auto", "none"])
def test_what_a_watched_list_says_of_pages_is_handed_on_where_its_bytes_are_new(signals: str) -> None:
    watched = Watched(signals=signals)
    answer = {"content-type": "application/xml"}
    first, same = (watched.check(sitemap("2026-11-01"), headers=answer) for _ in range(2))
    changed = watched.check(sitemap("2026-11-21"), headers=answer)
    not_modified = watched.check(status=304)

    assert first.report.problem is not None
    assert first.report.problem.endswith("read as a sitemap of 1 entry")
    assert first.learnt.listing is not None
    assert changed.learnt.listing is not None
    assert (first.learnt.listing.name, first.learnt.listing.entries) == (
        "sitemap",
        (("http://site.example/a", "2026-11-01"),),
    )
    assert changed.learnt.listing.entries == (("http://site.example/a", "2026-11-21"),)
    assert (same.learnt.listing, not_modified.learnt.listing) == (None, None)


def test_a_list_that_is_written_anew_with_the_same_entries_has_not_changed() -> None:
    watched = Watched()
    answer = {"content-type": "application/xml"}
    watched.check(sitemap("2026-11-01"), headers=answer)

    result = watched.check(sitemap("2026-11-01") + b"<!-- written at 08:00 -->", headers=answer)

    assert result.report.outcome == "unchanged"


def test_a_document_that_is_no_page_is_told_of_when_its_bytes_change() -> None:
    watched = Watched()
    answer = {"content-type": "application/pdf"}
    watched.check(b"%PDF-1.7 one", headers=answer)

    result = watched.check(b"%PDF-1.7 two", headers=answer)

    assert (result.report.outcome, result.report.basis) == ("minor", "inferred")


OTHER = (FIRST, NEWS, THIRD)


def outcomes(results: list[CheckResult]) -> list[str]:
    return [str(result.report.outcome) for result in results]


def test_a_declaration_that_changes_at_every_check_is_muted_and_says_so() -> None:
    watched = Watched(report=("unchanged",))
    results = [watched.check(page(head=json_ld(dateModified=f"2026-11-{day:02}"))) for day in range(1, 8)]

    told = outcomes(results)

    assert told[:3] == ["first", "minor", "minor"]
    assert told[-1] == "unchanged"
    (alert,) = results[-1].alerts
    assert alert.event["data"]["trace"][-1]["rule"] == "S6"


def test_a_declaration_that_changes_along_with_the_content_is_never_muted() -> None:
    watched = Watched()
    texts = [f"{NEWS} It was the boat number {day} of this week, and {day} more are to come." for day in range(1, 9)]
    results = [
        watched.check(page(FIRST, SECOND, text, head=json_ld(dateModified=f"2026-11-{day:02}")))
        for day, text in enumerate(texts, 1)
    ]

    assert {result.report.basis for result in results[1:] if result.report.outcome == "minor"} == {"declared"}
    assert outcomes(results)[-1] == "minor"


def test_what_goes_back_and_forth_is_told_once_each_way() -> None:
    watched = Watched()
    versions = [page(), page(*OTHER)]
    results = [watched.check(versions[number % 2]) for number in range(7)]

    assert outcomes(results) == ["first", "minor", "minor", *["unchanged"] * 4]
    back = results[2].verdict
    assert back is not None
    assert "back to an earlier version" in back.data["trace"][-1]["why"]


def test_a_signal_that_says_nothing_is_not_said_to_be_back() -> None:
    silent = Heard("content", None, None, "nothing", "S1", "unchanged")

    assert _back(silent, 1) is silent
    assert _back(silent, 2) is silent


def test_how_often_it_went_back_is_counted() -> None:
    watched = Watched(report=("unchanged",))
    versions = [page(), page(*OTHER)]
    results = [watched.check(versions[number % 2]) for number in range(6)]

    assert results[-1].learnt.known is not None
    assert results[-1].learnt.known.flaps == 4
    (alert,) = results[-1].alerts
    assert alert.event["data"]["trace"][-1] == {
        "rule": "S8",
        "says": "nothing",
        "why": "content went back to an earlier version 4 times in a row, which was told once",
    }


def test_a_new_version_is_told_however_often_the_content_went_back_and_forth() -> None:
    watched = Watched()
    versions = [page(), page(*OTHER)]
    for number in range(6):
        watched.check(versions[number % 2])

    result = watched.check(page(FIRST, SECOND, THIRD, NEWS))

    assert result.report.outcome == "minor"
    assert result.learnt.known is not None
    assert result.learnt.known.flaps == 0


def test_a_declaration_is_heard_while_the_content_goes_back_and_forth() -> None:
    watched = Watched()
    for number in range(6):
        watched.check(page(*((), OTHER)[number % 2], head=json_ld(dateModified="2026-11-01")))

    result = watched.check(page(head=json_ld(dateModified="2026-11-21")))

    assert (result.report.outcome, result.report.rule) == ("minor", "S1")
    assert result.report.signals == ("json-ld.modified", "content")


def test_what_goes_back_and_forth_with_its_own_date_is_told_once_each_way() -> None:
    watched = Watched()
    versions = [
        page(head=json_ld(dateModified="2026-11-01")),
        page(*OTHER, head=json_ld(dateModified="2026-11-02")),
    ]
    results = [watched.check(versions[number % 2]) for number in range(6)]

    assert outcomes(results) == ["first", "minor", "minor", *["unchanged"] * 3]


def test_an_earlier_text_with_a_new_date_is_a_new_version() -> None:
    watched = Watched()
    for day, text in enumerate(((), OTHER, (), OTHER), 1):
        watched.check(page(*text, head=json_ld(dateModified=f"2026-11-0{day}")))

    result = watched.check(page(head=json_ld(dateModified="2026-11-05")))

    assert (result.report.outcome, result.report.basis) == ("minor", "declared")


def test_a_line_that_names_the_request_is_quiet_after_three_checks() -> None:
    watched = Watched()
    names = ("7a4e8c1d4e0ad6bf", "0f91c2d3aa04b5e6", "9e8d7c6b5a4f3e21", "4b3c2d1e0f9a8b7c", "1a2b3c4d5e6f7089")

    results = [watched.check(page(FIRST, SECOND, THIRD, f"Request {name}")) for name in names]

    assert set(outcomes(results[3:])) == {"unchanged"}
    assert not any(result.alerts for result in results[3:])


def test_a_short_row_with_a_name_of_the_request_is_learnt_though_rows_are_facts() -> None:
    watched = Watched()
    row = "<table><tr><td>Served by<td>web-{}</table>"

    results = [watched.check(page(FIRST, SECOND, THIRD, row.format(name))) for name in ("a1", "b7", "c2", "d9", "e4")]

    assert outcomes(results)[-1] == "unchanged"
