"""Pages that declare nothing, from the wire to the alert, assessed by this process and by fetchers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.crew import Crew
from tests.engine.visiting.test_standing_in import CHALLENGE
from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, json_ld, page
from tests.origin import Origin, Page
from tocsin.settings import FetchSettings

EDITED = (FIRST, SECOND, THIRD, NEWS)
EVERYWHERE = pytest.mark.parametrize("fetchers", [0, 1])


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        yield origin


async def alerts(crew: Crew) -> list[dict[str, Any]]:
    """The alerts so far, the oldest first."""
    return [row.event for row in reversed(await crew.store.alerts(limit=10))]


@EVERYWHERE
async def test_a_paragraph_that_is_new_is_told_with_how_we_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin, fetchers: int
) -> None:
    site.pages["/a"] = Page(page())
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), fetch=FetchSettings(fetchers=fetchers)) as crew:
        first = (await crew.check())["a"]
        site.pages["/a"] = Page(page(*EDITED))
        second = (await crew.check())["a"]
        third = (await crew.check())["a"]
        (alert,) = await alerts(crew)

    assert [report.outcome for report in (first, second, third)] == ["first", "minor", "unchanged"]
    assert (second.basis, second.rule, second.signals) == ("inferred", "S2", ("content",))
    data = alert["data"]
    assert (alert["type"], data["outcome"], data["reason"]) == ("tocsin.page.changed.v1", "minor", None)
    assert [step["rule"] for step in data["trace"]] == ["T42", "S2"]
    assert data["difference"]["added"] == [NEWS]
    assert data["rendering"]["error"] is None


@EVERYWHERE
async def test_what_stands_in_for_a_page_changes_nothing_until_the_page_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin, fetchers: int
) -> None:
    there = Page(page(head=json_ld(dateModified="2026-11-02")), etag='"page"')
    site.pages["/a"] = there
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), fetch=FetchSettings(fetchers=fetchers)) as crew:
        await crew.check()
        site.pages["/a"] = Page(CHALLENGE, etag='"challenge"')
        suspects = [(await crew.check())["a"].outcome for _ in range(2)]
        site.pages["/a"] = Page(CHALLENGE, status=202)
        accepted = (await crew.check())["a"].outcome
        site.pages["/a"] = there
        back = (await crew.check())["a"]
        told = [alert["type"] for alert in await alerts(crew)]

    assert (*suspects, accepted) == ("suspect", "suspect", "suspect")
    assert (back.outcome, back.not_modified) == ("unchanged", True)
    assert told == ["tocsin.page.suspect.v1"]
    assert [asked.headers.get("if-none-match") for asked in site.asked("/a")] == [None, *['"page"'] * 4]


async def test_an_edit_between_a_check_and_its_rendering_is_told_by_the_next_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin
) -> None:
    versions = [page(), page(FIRST, SECOND, NEWS), page(*EDITED), page(*EDITED)]
    site.pages["/a"] = [Page(body, etag=f'"{number}"') for number, body in enumerate(versions)]
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), fetch=FetchSettings(fetchers=0)) as crew:
        outcomes = [(await crew.check())["a"].outcome for _ in range(3)]

    assert outcomes == ["first", "minor", "minor"]
    assert "if-none-match" not in site.asked("/a")[3].headers


@EVERYWHERE
async def test_what_a_watched_sitemap_says_of_a_page_is_told_though_the_page_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin, fetchers: int
) -> None:
    def sitemap(date: str) -> Page:
        url = f"<url><loc>{site.url('/a')}</loc><lastmod>{date}</lastmod></url>"
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{url}</urlset>'
        return Page(body, content_type="application/xml")

    site.pages |= {"/a": Page(page(), etag='"a"'), "/sitemap.xml": sitemap("2026-11-01")}
    urls = site.url("/a"), site.url("/sitemap.xml")
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=FetchSettings(fetchers=fetchers)) as crew:
        quiet = [(await crew.check())["a"] for _ in range(2)]
        site.pages["/sitemap.xml"] = sitemap("2026-11-21")
        loud = [(await crew.check())["a"] for _ in range(3)]

    assert [report.outcome for report in quiet] == ["first", "unchanged"]
    assert sorted(str(report.outcome) for report in loud) == ["minor", "unchanged", "unchanged"]
    (told,) = (report for report in loud if report.outcome == "minor")
    assert (told.not_modified, told.basis, told.signals) == (True, "contradicted", ("sitemap",))


@EVERYWHERE
async def test_what_differs_in_a_page_that_speaks_for_itself_is_found_by_its_renderings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin, fetchers: int
) -> None:
    def version(day: int, *paragraphs: str) -> Page:
        return Page(page(*paragraphs, head=f'<meta name="topper-minor" content="2026-11-0{day}">'))

    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), fetch=FetchSettings(fetchers=fetchers)) as crew:
        reports = []
        for version_of_day in (version(1), version(2), version(3, *EDITED), version(4, *EDITED)):
            site.pages["/a"] = version_of_day
            reports.append((await crew.check())["a"])
        told = [alert["data"]["difference"] for alert in await alerts(crew)]
        texts = [each and {name: each[name] for name in ("added", "removed", "cut")} for each in told]

    assert [(report.outcome, report.basis) for report in reports[1:]] == [("minor", "declared")] * 3
    assert texts == [None, {"added": [NEWS], "removed": [], "cut": False}, None]
