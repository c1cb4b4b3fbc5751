"""`tocsin extract`: links and texts, and the address that a file has on the web."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cli.calling import Answer, Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page

LINKS = "<!DOCTYPE html><title>T</title><a href=a rel=next>one</a><a href='/b'>two</a>"
NOFOLLOW = "<meta name=robots content='noindex, nofollow'>"


def test_each_link_is_a_line(installation: Installation) -> None:
    file = installation.write("a.html", LINKS)

    answer = installation.call("extract", "--as", "links", file)

    assert (answer.status, answer.err) == (0, "")
    assert [(record["source"], record["href"], record["url"]) for record in answer.records] == [
        (file, "a", None),
        (file, "/b", None),
    ]


def test_a_base_can_be_given(installation: Installation) -> None:
    file = installation.write("a.html", LINKS)

    answer = installation.call("extract", "--as", "links", "--base", "https://example.org/x/", file)

    assert [record["url"] for record in answer.records] == ["https://example.org/x/a", "https://example.org/b"]


def test_a_base_must_be_absolute(installation: Installation) -> None:
    answer = installation.call("extract", "--as", "links", "--base", "x/", "a.html")

    assert answer.status == 2
    assert "x/: not an absolute URL; write one such as https://example.org/a/" in answer.err


@pytest.mark.parametrize(
    ("form", "key"), [("meta", "title"), ("links", "label"), ("robots", "follow"), ("copies", "datetime")]
)
def test_each_form_has_its_records(form: str, key: str, installation: Installation) -> None:
    file = installation.write("a.html", "<!DOCTYPE html><a href=a mset='2014-03-17'>x</a>")

    answer = installation.call("extract", "--as", form, file)

    assert answer.status == 0
    assert [key in record for record in answer.records] == [True]


def test_a_form_must_be_named(installation: Installation) -> None:
    assert installation.call("extract", "a.html").status == 2


def test_LM46_links_that_are_not_to_be_followed_are_not_shown_but_to_their_owner(installation: Installation) -> None:
    file = installation.write("a.html", f"<!DOCTYPE html>{NOFOLLOW}{LINKS}")

    guarded = installation.call("extract", "--as", "links", file)
    own = installation.call("extract", "--as", "links", "--own", file)

    assert (guarded.status, guarded.records) == (0, [])
    assert f"{file}: nofollow, so its links are left out; if the page is yours, --own shows them" in guarded.err
    assert (own.status, len(own.records), own.err) == (0, 2, "")


def test_LM45_texts_that_are_not_to_be_indexed_are_not_shown(installation: Installation) -> None:
    file = installation.write("a.html", f"<!DOCTYPE html>{NOFOLLOW}{LINKS}")

    answer = installation.call("extract", "--as", "meta", file)

    assert answer.records[0]["title"] is None
    assert f"{file}: noindex, so its texts are left out; if the page is yours, --own shows them" in answer.err


def test_one_bad_source_does_not_keep_the_others_back(installation: Installation) -> None:
    good, pdf = installation.write("a.html", LINKS), installation.write("b", "%PDF-1.4")

    answer = installation.call("extract", "--as", "links", pdf, "none", good)

    assert answer.status == 2
    assert len(answer.records) == 2
    assert f"{pdf}: not HTML: a PDF document; only HTML and XHTML can be read" in answer.err
    assert "none: No such file or directory" in answer.err


def test_a_url_of_another_kind_is_no_file_that_is_missing(installation: Installation) -> None:
    answer = installation.call("extract", "--as", "links", "ftp://a.example/x.html")

    assert (answer.status, answer.out) == (2, "")
    assert "ftp://a.example/x.html: only http and https URLs can be fetched" in answer.err


def test_a_source_is_read_from_standard_input(installation: Installation) -> None:
    answer = installation.call("extract", "--as", "links", "-", stdin=LINKS)

    assert [record["source"] for record in answer.records] == ["-", "-"]


def test_what_is_wrong_with_a_page_is_told_beside_the_result(installation: Installation) -> None:
    file = installation.write("a.xhtml", '<html xmlns="http://www.w3.org/1999/xhtml"><a href="x"/><p></html>')

    answer = installation.call("extract", "--as", "links", file)

    assert len(answer.records) == 1
    assert f"{file}: not well-formed XML" in answer.err


def test_a_person_is_told_where_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<!DOCTYPE html><p>x")

    status, told = on_terminal("extract", "--as", "links", "a.html", cwd=tmp_path)

    assert (status, told.strip()) == (0, "a.html: no links")


def test_LM46_a_person_is_not_told_that_there_is_nothing_where_links_are_kept_back(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<!DOCTYPE html>{NOFOLLOW}{LINKS}")

    told = on_terminal("extract", "--as", "links", "a.html", cwd=tmp_path)[1]

    assert "links are left out" in told
    assert "no links" not in told


@pytest.mark.parametrize("form", ["links", "copies"])
def test_each_source_is_named_also_where_the_terminal_is_too_narrow_for_a_table(form: str, tmp_path: Path) -> None:
    archive = f"http://archive.example/{'x' * 100}"
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(f"<!DOCTYPE html><a href='{archive}' mset='{archive} 2014-03-10'>one</a>")

    told = on_terminal("extract", "--as", form, "a.html", "b.html", cwd=tmp_path)[1]

    assert [line.strip() for line in told.splitlines() if line.strip().endswith(".html")] == ["a.html", "b.html"]


def test_LK11_a_person_is_shown_whom_a_link_pings(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<a href=http://e.example/ rel=next ping='http://p.example/1 http://p.example:81/2 https://q.example/'>x</a>"
    )

    told = on_terminal("extract", "--as", "links", "a.html", cwd=tmp_path)[1]

    assert "next ping p.example ping q.example" in told


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def test_a_page_is_fetched_with_its_headers(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page("", status=302, headers={"Location": "/x/c"})
        origin.pages["/x/c"] = Page(LINKS, headers={"X-Robots-Tag": "noindex", "Link": "</m>; rel=memento"})
        url = origin.url("/a")
        robots = await call(installation, "extract", "--as", "robots", url)
        copies = await call(installation, "extract", "--as", "copies", url)
        links = await call(installation, "extract", "--as", "links", url)

    assert [(record["index"], record["headers"]) for record in robots.records] == [(False, ["noindex"])]
    assert [(record["of"], record["url"]) for record in copies.records] == [(origin.url("/x/c"), origin.url("/m"))]
    assert [(record["source"], record["url"], record["label"]) for record in links.records] == [
        (url, origin.url("/x/a"), None),
        (url, origin.url("/b"), None),
    ]


async def test_a_password_is_not_shown(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page(LINKS)
        url = origin.url("/a").replace("http://", "http://me:secret@")
        answer = await call(installation, "extract", "--as", "links", url)

    assert len(answer.records) == 2
    assert "secret" not in answer.out + answer.err


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("meta", ["a.html (utf-8)", "title", "The sea", "version in fr", "http://e.example/fr", "depth", "author"]),
        ("links", ["next nofollow rev prev", "one", "http://e.example/a"]),
        ("robots", ["its text may be indexed, its links may be followed; it declares: noarchive"]),
        ("copies", ["http://e.example/a", "reference", "2014-03-17", "http://c.example/", "memento"]),
    ],
)
def test_a_person_is_shown_tables(form: str, shown: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        """<!DOCTYPE html><html lang=en><meta charset=utf-8><title>The sea</title><base href=http://e.example/>
        <meta name=robots content=noarchive><meta name=author content=A><meta http-equiv=refresh content=9>
        <link rel=alternate hreflang=fr href=fr><p><a rel='index up' href=/>top</a>
        <a href=a rel='next nofollow' rev=prev mset='2014-03-17, http://c.example/ memento'>one</a>"""
    )

    status, told = on_terminal("extract", "--as", form, "a.html", cwd=tmp_path)

    assert status == 0
    assert [text for text in shown if text not in told] == []


@pytest.mark.parametrize(
    "form", ["meta", "links", "robots", "copies", "microdata", "vcard", "ical", "turtle", "ntriples", "jsonld", "atom"]
)
def test_letters_that_are_read_in_an_encoding_that_nobody_declared_are_noted(
    form: str, installation: Installation
) -> None:
    card = "<div itemscope itemtype='http://microformats.org/profile/hcard'><b itemprop=fn>Jürgen</b></div>"
    silent = installation.write("silent.html", f"<!doctype html><title>K</title>{card}")
    plain = installation.write("plain.html", f"<!doctype html><meta charset=utf-8><title>K</title>{card}")

    noted = installation.call("extract", "--as", form, silent)
    fine = installation.call("extract", "--as", form, plain)

    assert (noted.status, fine.status) == (0, 0)
    assert f"{silent}: no encoding is declared, so it was read as windows-1252" in noted.err
    assert '<meta charset="utf-8">' in noted.err
    assert "encoding" not in fine.err


ADDRESS = ("--base", "https://town.example/news/today")
PAGE = """<!DOCTYPE html><title>T</title>{base}
<article itemscope itemtype="http://microformats.org/profile/{type}" itemid="one"><a itemprop=url href="more">More</a>
<time itemprop=dtstart datetime=2026-05-05>5 May</time></article>"""


@pytest.mark.parametrize(
    ("base", "folder"),
    [
        ("", "https://town.example/news/"),
        ("<base href='/archive/'>", "https://town.example/archive/"),
        ("<base target=_top><base href='https://files.example/'>", "https://files.example/"),
    ],
)
@pytest.mark.parametrize(
    ("form", "of", "written"),
    [
        ("microdata", "hcard", ('"id":"{}one"', '"url":["{}more"]')),
        ("vcard", "hcard", ("UID:{}one\n", "URL;VALUE=URI:{}more\n")),
        ("ical", "hcalendar#vevent", ("UID:{}one\n", "URL:{}more\n")),
        ("ntriples", "hcard", ("<{}one> <", "%23:url> <{}more> .")),
    ],
)
def test_URL07_a_files_own_base_element_counts_beside_its_address(
    form: str, of: str, written: tuple[str, ...], base: str, folder: str, installation: Installation
) -> None:
    page = installation.write("page.html", PAGE.format(base=base, type=of))

    answer = installation.call("extract", "--as", form, "--profile", "text", *ADDRESS, page)

    for each in written:
        assert each.format(folder) in answer.out


def test_URL07_a_files_entries_have_the_base_of_its_base_element(installation: Installation) -> None:
    page = installation.write("page.html", PAGE.format(base="<base href='/archive/'>", type="hcard"))

    answer = installation.call("extract", "--as", "atom", *ADDRESS, page)

    assert '<entry xml:base="https://town.example/archive/">' in answer.out
    assert "<id>https://town.example/news/today</id>" in answer.out


def test_a_file_has_one_address_however_it_is_named(installation: Installation) -> None:
    page = Path(installation.write("page.html", PAGE.format(base="", type="hcalendar#vevent")))
    (page.parent / "below").mkdir()
    roundabout = page.parent / "below" / ".." / page.name

    answer = installation.call("extract", "--as", "ntriples", str(roundabout))

    assert f"<{page.resolve().as_uri()}> <" in answer.out
    assert ".." not in answer.out
