"""What is kept of a page's text, what is told of its host at once, and what lists say of it."""

from __future__ import annotations

import pytest

from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, page
from tocsin.model import KeptContents
from tocsin.spec.signals.texts import unpack_text

EDITED = (FIRST, SECOND, THIRD, NEWS)
TOPPER = '<meta name="topper-minor" content="2026-01-01">'


def test_a_text_is_kept_when_it_is_first_read_and_when_it_has_changed() -> None:
    watched = Watched()
    first = watched.check(page())
    same = watched.check(page() + b"<!-- other bytes -->")
    changed = watched.check(page(*EDITED))

    assert same.snapshot is None
    assert first.snapshot is not None
    assert changed.snapshot is not None
    assert NEWS not in unpack_text(first.snapshot.packed)
    assert NEWS in unpack_text(changed.snapshot.packed)
    assert changed.snapshot.at == changed.checked_at


def test_no_text_is_kept_where_none_is_wanted() -> None:
    watched = Watched(keeps=KeptContents(texts=False))
    first, changed = watched.check(page()), watched.check(page(*EDITED))

    assert (first.snapshot, changed.snapshot) == (None, None)
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
    assert first.listing is not None
    assert changed.listing is not None
    assert (first.listing.name, first.listing.entries) == ("sitemap", (("http://site.example/a", "2026-11-01"),))
    assert changed.listing.entries == (("http://site.example/a", "2026-11-21"),)
    assert (same.listing, not_modified.listing) == (None, None)


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
