"""Sitemaps behind URLs: what the user names is fetched, and nothing else (T62)."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.cli.calling import Answer, Installation
from tests.origin import Origin, Page, RawOrigin
from tocsin.cli.watch.exchange import SitemapImport, fetch_lists
from tocsin.lists.importing import Tally
from tocsin.settings import Settings

ELSEWHERE = "https://elsewhere.example/a"


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        await origin.start("127.0.0.2")
        yield origin


async def take(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, "watch", "import", *arguments)


async def watched(installation: Installation) -> list[str]:
    answer = await asyncio.to_thread(installation.call, "watch", "list")
    return [record["url"] for record in answer.records]


def asked(site: Origin) -> list[str]:
    return [request.path for request in site.log]


def far(site: Origin, path: str) -> str:
    """The URL of a path on the site's other address."""
    return site.url(path).replace("127.0.0.1", "127.0.0.2")


def sitemap(*urls: str) -> Page:
    body = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Page(f"<urlset>{body}</urlset>", content_type="application/xml")


def index(*urls: str) -> Page:
    body = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in urls)
    return Page(f"<sitemapindex>\n{body}</sitemapindex>", content_type="application/xml")


def robots(text: str) -> Page:
    return Page(text, content_type="text/plain")


async def test_T62_of_a_sitemap_named_by_its_url_only_the_sitemap_is_fetched(
    installation: Installation, site: Origin
) -> None:
    pages = [site.url("/a"), site.url("/b")]
    site.pages["/sitemap.xml"] = sitemap(*pages)

    answer = await take(installation, site.url("/sitemap.xml"), "--group", "news")

    counts = {"added": 2, "known": 0, "refused": 0, "sitemaps": 0}
    assert (answer.status, answer.records) == (0, [{"file": site.url("/sitemap.xml"), "taken": True, **counts}])
    assert await watched(installation) == pages
    assert asked(site) == ["/sitemap.xml"]


@pytest.mark.parametrize("coding", [{}, {"content-encoding": "gzip"}])
async def test_a_sitemap_may_be_compressed(installation: Installation, site: Origin, coding: dict[str, str]) -> None:
    body = gzip.compress(str(sitemap(site.url("/a")).body).encode())
    site.pages["/sitemap.xml.gz"] = Page(body, content_type="application/gzip", headers=coding)

    assert (await take(installation, site.url("/sitemap.xml.gz"))).records[0]["added"] == 1


async def test_a_sitemap_may_be_a_text(installation: Installation, site: Origin) -> None:
    site.pages["/sitemap.txt"] = robots(f"{site.url('/a')}\nnowhere\n{site.url('/b')}\n")

    answer = await take(installation, site.url("/sitemap.txt"))

    assert (answer.status, answer.records[0]["added"]) == (1, 2)
    assert f"{site.url('/sitemap.txt')}:2: nowhere: not a URL" in answer.err


async def test_T62_an_index_that_was_named_brings_its_sitemaps_and_says_how_many(
    installation: Installation, site: Origin
) -> None:
    site.pages["/index.xml"] = index(site.url("/1.xml"), site.url("/2.xml"), site.url("/1.xml"))
    site.pages["/1.xml"], site.pages["/2.xml"] = sitemap(site.url("/a")), sitemap(site.url("/b"), site.url("/a"))

    answer = await take(installation, site.url("/index.xml"))

    assert answer.status == 0
    assert (answer.records[0]["added"], answer.records[0]["known"], answer.records[0]["sitemaps"]) == (2, 1, 2)
    assert "an index of 2 sitemaps, fetched now" in answer.err
    assert asked(site) == ["/index.xml", "/robots.txt", "/1.xml", "/2.xml"]


async def test_T62_a_dry_run_shows_the_sitemaps_of_an_index_and_fetches_none(
    installation: Installation, site: Origin
) -> None:
    site.pages["/index.xml"] = index(site.url("/1.xml"))

    answer = await take(installation, site.url("/index.xml"), "--dry-run")

    assert (answer.status, answer.records[0]["taken"], answer.records[0]["sitemaps"]) == (0, False, 1)
    assert f"  {site.url('/1.xml')}" in answer.err
    assert asked(site) == ["/index.xml"]
    assert not (installation.folder / "tocsin.db").exists()


@pytest.mark.parametrize("named", ["/robots.txt", "/some/page"])
async def test_T62_what_robots_txt_offers_is_listed_and_not_fetched(
    installation: Installation, site: Origin, named: str
) -> None:
    site.pages["/robots.txt"] = robots(
        f"Sitemap: {site.url('/1.xml')}\nUser-agent: *\nSitemap: {far(site, '/2.xml')}\n"
    )
    option = [] if named == "/robots.txt" else ["--sitemaps"]

    answer = await take(installation, site.url(named), *option)

    assert answer.status == 0
    assert answer.records == [
        {
            "sitemap": site.url("/1.xml"),
            "named_by": site.url("/robots.txt"),
            "command": f"tocsin watch import {site.url('/1.xml')}",
        },
        {
            "sitemap": far(site, "/2.xml"),
            "named_by": site.url("/robots.txt"),
            "command": f"tocsin watch import {far(site, '/2.xml')} --any-host",
        },
    ]
    assert "2 sitemaps, not fetched" in answer.err
    assert asked(site) == ["/robots.txt"]


async def test_all_that_robots_txt_offers_is_fetched_when_the_user_says_so(
    installation: Installation, site: Origin
) -> None:
    site.pages["/robots.txt"] = robots(f"Sitemap: {site.url('/1.xml')}\nSitemap: {far(site, '/2.xml')}\nSitemap: x:")
    site.pages["/1.xml"] = sitemap(site.url("/a"))
    # A site's robots.txt is what lets another host name its pages.
    site.pages["/2.xml"] = sitemap(site.url("/b"), far(site, "/c"), ELSEWHERE)

    answer = await take(installation, site.url("/"), "--sitemaps", "--yes")

    assert answer.status == 1
    assert await watched(installation) == [site.url("/a"), site.url("/b"), far(site, "/c")]
    assert "1 page of elsewhere.example, which is not the sitemap's own host" in answer.err
    assert asked(site)[:2] == ["/robots.txt", "/1.xml"]


async def test_T62_a_dry_run_fetches_nothing_that_robots_txt_offers(installation: Installation, site: Origin) -> None:
    site.pages["/robots.txt"] = robots(f"Sitemap: {site.url('/1.xml')}")

    await take(installation, site.url("/"), "--sitemaps", "--yes", "--dry-run")

    assert asked(site) == ["/robots.txt"]


async def test_a_site_that_offers_nothing_is_told(installation: Installation, site: Origin) -> None:
    answer = await take(installation, site.url("/"), "--sitemaps")

    assert answer.status == 1
    assert "names no sitemap" in answer.err


async def test_a_robots_txt_with_an_error_is_told(installation: Installation, site: Origin) -> None:
    site.pages["/robots.txt"] = Page(status=503)

    answer = await take(installation, site.url("/"), "--sitemaps")

    assert answer.status == 1
    assert "robots.txt could not be read" in answer.err


async def test_pages_of_other_hosts_are_refused_with_the_mend(installation: Installation, site: Origin) -> None:
    site.pages["/sitemap.xml"] = sitemap(site.url("/a"), *[f"{ELSEWHERE}/{number}" for number in range(1000)])

    answer = await take(installation, site.url("/sitemap.xml"))

    assert (answer.status, answer.records[0]["added"], answer.records[0]["refused"]) == (1, 1, 1000)
    (line,) = answer.err.splitlines()
    assert "1,000 pages of elsewhere.example" in line
    assert "give --any-host" in line


async def test_pages_of_any_host_are_taken_when_the_user_says_so(installation: Installation, site: Origin) -> None:
    site.pages["/sitemap.xml"] = sitemap(site.url("/a"), ELSEWHERE)

    answer = await take(installation, site.url("/sitemap.xml"), "--any-host")

    assert answer.status == 0
    assert await watched(installation) == [site.url("/a"), ELSEWHERE]


async def test_a_sitemap_that_moved_to_another_host_speaks_for_that_one_too(
    installation: Installation, site: Origin
) -> None:
    site.pages["/sitemap.xml"] = Page(status=301, headers={"location": far(site, "/there.xml")})
    site.pages["/there.xml"] = sitemap(far(site, "/a"), site.url("/b"))

    assert (await take(installation, site.url("/sitemap.xml"))).records[0]["added"] == 2


async def test_an_index_in_an_index_is_refused(installation: Installation, site: Origin) -> None:
    site.pages["/index.xml"] = index(site.url("/inner.xml"), site.url("/1.xml"))
    site.pages["/inner.xml"] = index(site.url("/2.xml"))
    site.pages["/1.xml"] = sitemap(site.url("/a"))

    answer = await take(installation, site.url("/index.xml"))

    assert (answer.status, answer.records[0]["added"], answer.records[0]["refused"]) == (1, 1, 1)
    assert f"{site.url('/inner.xml')}:2: an index within an index" in answer.err
    assert "/2.xml" not in asked(site)


async def test_an_index_names_no_sitemaps_of_other_hosts(installation: Installation, site: Origin) -> None:
    site.pages["/index.xml"] = index(far(site, "/1.xml"))
    site.pages["/1.xml"] = sitemap(far(site, "/a"))

    refused = await take(installation, site.url("/index.xml"))
    taken = await take(installation, site.url("/index.xml"), "--any-host")

    assert (refused.status, refused.records[0]["added"]) == (1, 0)
    assert "on another host than its index" in refused.err
    assert (taken.status, taken.records[0]["added"]) == (0, 1)


async def test_a_sitemap_of_an_index_that_cannot_be_had_does_not_cost_the_others(
    installation: Installation, site: Origin
) -> None:
    site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /3.xml\n")
    site.pages["/index.xml"] = index(*(site.url(f"/{number}.xml") for number in range(1, 5)))
    site.pages["/2.xml"] = Page("<title>A page</title>")
    site.pages["/3.xml"] = sitemap(site.url("/c"))
    site.pages["/4.xml"] = sitemap(site.url("/d"))

    answer = await take(installation, site.url("/index.xml"))

    assert (answer.status, answer.records[0]["added"], answer.records[0]["refused"]) == (1, 1, 3)
    assert f"{site.url('/1.xml')}: status: answered 404" in answer.err
    assert f"{site.url('/2.xml')}: its root is <title>; a sitemap was expected" in answer.err
    assert 'line 2: "Disallow: /3.xml" for "User-agent: *" (line 1)' in answer.err
    assert "/3.xml" not in asked(site)


async def test_what_the_user_named_and_is_not_there_leaves_no_store_behind(
    installation: Installation, site: Origin
) -> None:
    answer = await take(installation, site.url("/sitemap.xml"))

    assert answer.status == 1
    assert "answered 404" in answer.err
    assert not (installation.folder / "tocsin.db").exists()


async def test_a_page_instead_of_a_sitemap_is_told_with_the_way_to_its_sitemaps(
    installation: Installation, site: Origin
) -> None:
    site.pages["/"] = Page("<!doctype html><title>Home</title>")

    answer = await take(installation, site.url("/"))

    assert answer.status == 2
    assert "its root is <html>; a sitemap was expected" in answer.err
    assert f"tocsin watch import {site.url('/')} --sitemaps" in answer.err


async def test_strict_takes_nothing_if_one_sitemap_of_an_index_cannot_be_had(
    installation: Installation, site: Origin
) -> None:
    site.pages["/index.xml"] = index(site.url("/1.xml"), site.url("/2.xml"))
    site.pages["/1.xml"] = sitemap(site.url("/a"))

    answer = await take(installation, site.url("/index.xml"), "--strict")

    assert (answer.status, answer.records[0]["taken"]) == (1, False)
    assert not (installation.folder / "tocsin.db").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["https://a.example/list.csv", "--format", "csv"], "only sitemaps are read from a URL"),
        (["pages.txt", "--sitemaps"], "--sitemaps and --any-host are for URLs"),
        (["-", "--any-host"], "--sitemaps and --any-host are for URLs"),
        (["https://"], "not a URL"),
    ],
)
def test_what_makes_no_sense_is_a_wrong_call(installation: Installation, arguments: list[str], reason: str) -> None:
    answer = installation.call("watch", "import", *arguments)

    assert answer.status == 2
    assert reason in answer.err


async def test_what_a_robots_txt_offers_is_asked_for_through_the_proxy(installation: Installation) -> None:
    body = b"Sitemap: http://a.example/s.xml"
    async with RawOrigin(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)) as proxy:
        installation.configure(f'proxy = "{proxy.url("")}"\n')  # its last section is that of pages

        answer = await take(installation, "http://a.example/", "--sitemaps")

    assert [record["sitemap"] for record in answer.records] == ["http://a.example/s.xml"]
    assert [head.partition(b" HTTP")[0] for head in proxy.heads] == [b"GET http://a.example/robots.txt"]


async def test_sitemaps_of_several_hosts_are_fetched_at_once(installation: Installation, site: Origin) -> None:
    other = asyncio.Event()

    async def come() -> None:
        other.set()

    first, second = site.url("/first"), far(site, "/second")
    site.pages["/index"] = index(first, second)
    # One after the other, the first would never be answered.
    site.pages["/first"] = replace(sitemap(site.url("/a")), wait=other.wait)
    site.pages["/second"] = replace(sitemap(far(site, "/b")), wait=come)

    answer = await take(installation, site.url("/index"), "--any-host")

    assert (answer.status, answer.records[0]["added"]) == (0, 2)


async def test_an_index_of_indexes_is_not_walked_to_its_end(installation: Installation, site: Origin) -> None:
    nested = [f"/nested/{number}" for number in range(40)]
    site.pages["/index"] = index(*map(site.url, nested))
    site.pages |= {path: index(site.url("/never")) for path in nested}

    answer = await take(installation, site.url("/index"))

    read = [path for path in asked(site) if path.startswith("/nested/")]
    assert 20 <= len(read) < 25
    assert answer.records[0]["refused"] == 40
    assert (
        f"{40 - len(read)} sitemaps not fetched, because the first 20 of this index are indexes themselves"
        in answer.err
    )


async def test_sitemaps_that_are_not_read_in_time_are_counted(site: Origin, capsys: pytest.CaptureFixture[str]) -> None:
    site.pages["/index"] = index(*(site.url(f"/{number}") for number in range(3)))
    source, tally = site.url("/index"), Tally()
    errand = SitemapImport(source, "main", is_offer=False, takes_all=False, any_host=False, only_looks=False)

    await fetch_lists(Settings(), errand, tally, lambda pages: list(pages).clear(), longest=timedelta())

    assert (tally.sitemaps, tally.refused) == (3, 3)
    assert "Stopped after 0s: 3 sitemaps not read" in capsys.readouterr().err
