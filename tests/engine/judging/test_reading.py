"""What is read of an answer beside the twelve fields, a row for each way that it can differ."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.builders import received, task
from tests.engine.watching import FIRST, SECOND, THIRD, Watched, page
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.reading import read_text
from tocsin.model import JsonObject
from tocsin.settings import PageSettings

HTML = b"<!doctype html><title>T</title><main><p>The first paragraph.</p><p class=note>The second one.</p></main>"


@pytest.mark.parametrize(
    ("body", "content_type", "settings", "text"),
    [
        (HTML, "text/html", {}, "T\nThe first paragraph.\nThe second one."),
        (HTML, "text/html", {"ignore": ".note"}, "T\nThe first paragraph."),
        (HTML, "text/html", {"look_at": ".note"}, "The second one."),
        (b"%PDF-1.7", "application/pdf", {}, ""),
        (HTML, "text/html", {"look_at": "["}, ""),
    ],
    ids=["whole", "ignored", "looked at", "no page", "no selector"],
)
def test_the_text_of_a_page_is_what_its_selectors_leave(
    body: bytes, content_type: str, settings: JsonObject, text: str
) -> None:
    assert read_text(body, content_type, replace(PageSettings(), **settings), nosniff=False) == text


@pytest.mark.parametrize("urls", [1, 2], ids=["one", "two"])
def test_a_list_says_how_many_entries_were_read(urls: int) -> None:
    entries = "".join(f"<url><loc>http://site.example/{n}</loc></url>" for n in range(urls))
    body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

    problem = Watched().check(body.encode(), headers={"content-type": "application/xml"}).report.problem

    assert problem is not None
    assert f"read as a sitemap of {urls} {'entry' if urls == 1 else 'entries'}" in problem


@pytest.mark.parametrize("own", [True, False], ids=["the page's own", "inherited"])
def test_only_a_selector_of_the_page_itself_has_to_match(own: bool) -> None:  # noqa: FBT001 - a row
    policy = replace(PageSettings(), ignore=".missing")
    conclusion = Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(
        task(settings={"ignore": ".missing"} if own else {"every": "2h"}), policy, START
    )

    result = conclusion.received(received(page()), START, conditional=False, tried=0)

    assert (result.report.problem is not None and ".missing" in result.report.problem) is own


@pytest.mark.parametrize(
    ("later", "outcome"),
    [
        (page(FIRST, SECOND, THIRD), "unchanged"),
        (page(FIRST, SECOND, THIRD, head="<!-- other bytes -->"), "unchanged"),
        (page(FIRST, SECOND), "minor"),
        (page(""), "minor"),
    ],
    ids=["the same bytes", "the same text", "less text", "no text"],
)
def test_a_content_is_compared_by_its_text(later: bytes, outcome: str) -> None:
    watched = Watched()
    watched.check(page(FIRST, SECOND, THIRD))

    assert watched.check(later).report.outcome == outcome
