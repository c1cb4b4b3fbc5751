"""A page's data in the formats that other programs read: exactly what reaches them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.spec.microdata.formats.catalogue import FORMATS

TAKEN = Path(__file__).with_name("taken")
TOWN = (TAKEN / "town.html").read_text(encoding="utf-8")
BASE = ("--base", "https://town.example/news")
NOW = re.compile(rb"(?<=DTSTAMP;VALUE=DATE-TIME:)\d{8}T\d{6}Z")
HCARD = '<p itemscope itemtype="http://microformats.org/profile/hcard"><b itemprop=fn>{}</b></p>'
ARTICLE = "<!DOCTYPE html><title>T</title><article><h1>One</h1></article>"
EVENT = (
    '<p itemscope itemtype="http://microformats.org/profile/hcalendar#vevent"><b itemprop=summary>{}</b>'
    "<time itemprop=dtstart>2026-05-05</time></p>"
)


def written(installation: Installation, *arguments: str) -> tuple[bytes, str]:
    """What a process writes: the bytes on standard output, and what stands on standard error."""
    with installation.start("extract", *arguments) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err.decode()


@pytest.mark.parametrize(
    ("form", "profile"),
    [
        ("vcard", "export"),
        ("vcard", "text"),
        ("ical", "export"),
        ("ical", "text"),
        ("turtle", "export"),
        ("ntriples", "export"),
        ("jsonld", "export"),
        ("atom", "export"),
    ],
)
def test_a_document_is_written_byte_by_byte(form: str, profile: str, installation: Installation) -> None:
    page = installation.write("town.html", TOWN)

    out = written(installation, "--as", form, "--profile", profile, *BASE, page)[0]

    expected = (TAKEN / f"town-{profile}{FORMATS[form].suffix}").read_bytes()
    assert NOW.sub(b"20260101T000000Z", out) == expected


def test_every_format_has_its_document_among_those_that_are_compared() -> None:
    suffixes = {file.suffix for file in TAKEN.iterdir()}

    assert {way.suffix for name, way in FORMATS.items() if name != "microdata"} <= suffixes


def test_JS01_items_are_a_line_of_json_for_each_source(installation: Installation) -> None:
    one, other = installation.write("a.html", EVENT.format("A")), installation.write("b.html", EVENT.format("B"))

    answer = installation.call("extract", "--as", "microdata", one, other)

    assert [record["source"] for record in answer.records] == [one, other]
    assert answer.records[0]["items"] == [
        {
            "type": "http://microformats.org/profile/hcalendar#vevent",
            "properties": {"summary": ["A"], "dtstart": ["2026-05-05"]},
        }
    ]


def test_MD18_a_living_item_has_a_list_of_types(installation: Installation) -> None:
    page = installation.write("a.html", "<p itemscope itemtype='http://e.example/a http://e.example/b'>")

    answer = installation.call("extract", "--as", "microdata", "--profile", "living", page)

    assert answer.records[0]["items"][0]["type"] == ["http://e.example/a", "http://e.example/b"]


def test_a_program_can_have_a_document_in_a_line_of_json(installation: Installation) -> None:
    page = installation.write("town.html", TOWN)

    answer = installation.call("extract", "--as", "vcard", "--json", page)

    (record,) = answer.records
    assert [record[key] for key in ("source", "format", "profile", "media_type")] == [
        page,
        "vcard",
        "export",
        "text/vcard; charset=utf-8",
    ]
    assert record["text"].startswith("BEGIN:VCARD\r\n")


@pytest.mark.parametrize("form", [name for name, way in FORMATS.items() if not way.joins])
def test_one_document_is_of_one_page(form: str, installation: Installation) -> None:
    pages = [installation.write(name, ARTICLE) for name in ("a.html", "b.html")]

    refused = installation.call("extract", "--as", form, *pages)
    lines = installation.call("extract", "--as", form, "--json", *pages)

    assert (refused.status, refused.out) == (2, "")
    assert f"--as {form} makes one document of one page; name one source, or give --json" in refused.err
    assert [record["source"] for record in lines.records] == pages


def test_contacts_of_several_pages_are_one_file(installation: Installation) -> None:
    pages = [installation.write(name, HCARD.format(name)) for name in ("ann", "ben")]

    out = written(installation, "--as", "vcard", *pages)[0]

    assert re.findall(rb"FN:(\w+)\r\n", out) == [b"ann", b"ben"]


def test_RDF15_nameless_things_of_several_pages_do_not_become_one(installation: Installation) -> None:
    pages = [installation.write(name, HCARD.format(name)) for name in ("ann", "ben")]

    out = written(installation, "--as", "ntriples", *pages)[0].decode()

    named = dict(re.findall(r'^(_:\w+) \S+fn> "(\w+)"', out, re.MULTILINE))
    assert sorted(named.values()) == ["ann", "ben"]


def test_VC09_of_several_contacts_the_first_is_given_and_the_others_are_told_of(installation: Installation) -> None:
    page = installation.write("town.html", TOWN)

    out, err = written(installation, "--as", "vcard", page)

    assert out.count(b"BEGIN:VCARD") == 1
    assert f"{page}: 2 contacts, this is the first; --item 2 gives the second, --item all every one" in err


@pytest.mark.parametrize(("item", "names"), [("2", [b"Ben Moor"]), ("all", [b"Ann Lee", b"Ben Moor"])])
def test_other_contacts_can_be_had(item: str, names: list[bytes], installation: Installation) -> None:
    page = installation.write("town.html", TOWN)

    out, err = written(installation, "--as", "vcard", "--item", item, page)

    assert (re.findall(rb"FN:(.+)\r\n", out), err) == (names, "")


def test_IC13_an_event_taken_alone_is_the_same_event(installation: Installation) -> None:
    page = installation.write("a.html", EVENT.format("A") + EVENT.format("B"))

    both = written(installation, "--as", "ical", page)[0]
    alone = written(installation, "--as", "ical", "--item", "2", page)[0]

    assert re.findall(rb"UID:(.+)\r\n", alone) == re.findall(rb"UID:(.+)\r\n", both)[1:]


@pytest.mark.parametrize(
    ("form", "item", "said"),
    [
        ("vcard", "3", "no contact 3: the page has 2 contacts"),
        ("ical", "2", "no event 2: the page has 1 event"),
        ("microdata", "4", "no item 4: the page has 3 items"),
    ],
)
def test_an_item_that_is_not_there_is_a_wrong_call(form: str, item: str, said: str, installation: Installation) -> None:
    page = installation.write("town.html", TOWN)

    answer = installation.call("extract", "--as", form, "--item", item, page)

    assert (answer.status, answer.out, answer.err) == (2, "", f"tocsin: {page}: {said}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--as", "ical", "--profile", "living"), "ical has no profile 'living'; choose one of: export, text"),
        (("--as", "turtle", "--item", "1"), "--as turtle covers the whole page; leave --item out"),
        (("--as", "links", "--profile", "text"), "--profile is for the formats microdata, vcard, ical"),
        (("--as", "meta", "--item", "all"), "--item is for the formats microdata, vcard, ical"),
        (("--as", "vcard", "--item", "0"), "0: not a number from 1, nor all"),
        (("--as", "vcard", "--item", "²"), "²: not a number from 1, nor all"),
    ],
)
def test_what_a_format_has_not_is_refused_with_what_it_has(
    arguments: tuple[str, ...], said: str, installation: Installation
) -> None:
    answer = installation.call("extract", *arguments, "no-such-file.html")

    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert "No such file" not in answer.err


@pytest.mark.parametrize("form", [name for name, way in FORMATS.items() if way.needs_address])
def test_a_page_of_unknown_address_needs_one_for_some_formats(form: str, installation: Installation) -> None:
    answer = installation.call("extract", "--as", form, "-", stdin=TOWN)

    assert (answer.status, answer.out) == (2, "")
    assert f"-: {form} needs the page's URL; give it with --base URL" in answer.err


def test_items_of_a_page_of_unknown_address_have_empty_urls_and_it_is_said(installation: Installation) -> None:
    answer = installation.call("extract", "--as", "microdata", "-", stdin=TOWN)

    assert answer.records[0]["items"][0]["properties"]["url"] == [""]
    assert answer.err == "-: its URL is not known, so relative URLs are left empty; give it with --base\n"


def test_the_address_of_a_file_is_where_it_lies(installation: Installation) -> None:
    page = installation.write("a b.html", HCARD.format("Ann"))

    answer = installation.call("extract", "--as", "vcard", "--profile", "text", page)

    assert f"SOURCE:{Path(page).as_uri()}" in answer.out.replace("\n ", "")


@pytest.mark.parametrize("form", FORMATS)
def test_of_nothing_no_document_is_written_and_what_was_looked_for_is_said(
    form: str, installation: Installation
) -> None:
    page = installation.write("a.html", "<!DOCTYPE html><p>Nothing")

    answer = installation.call("extract", "--as", form, page)

    assert answer.status == 0
    # JSON of no items is no empty document (JS-01), and each page has its line.
    assert answer.out == (f'{{"source":"{page}","items":[]}}\n' if form == "microdata" else "")
    assert re.fullmatch(rf"{page}: no \w+: {form} is made of .+; this page has (no items|none)\n", answer.err)


def test_JS01_a_numbered_item_of_a_page_without_any_is_no_list(installation: Installation) -> None:
    page = installation.write("a.html", "<!DOCTYPE html><p>Nothing")

    answer = installation.call("extract", "--as", "microdata", "--item", "1", page)

    assert answer.out == ""
    assert "no items" in answer.err


@pytest.mark.parametrize("form", FORMATS)
def test_LM45_a_page_that_is_not_to_be_indexed_is_taken_away_by_its_owner_alone(
    form: str, installation: Installation
) -> None:
    page = installation.write("town.html", TOWN.replace("<title>", "<meta name=robots content=noindex><title>"))

    guarded = installation.call("extract", "--as", form, page)
    own = installation.call("extract", "--as", form, "--own", page)

    assert (guarded.status, guarded.out) == (0, "")
    said = f"{page}: noindex, so its texts are left out; if the page is yours, --own shows them\n"
    assert guarded.err == said
    assert "Harbour" in own.out or "Ann" in own.out


def test_what_is_no_page_has_no_items(installation: Installation) -> None:
    pdf = installation.write("b", "%PDF-1.4")

    answer = installation.call("extract", "--as", "ical", pdf)

    assert answer.status == 2
    assert f"{pdf}: not HTML: a PDF document; only HTML and XHTML can be read" in answer.err


def test_a_page_that_no_parser_may_be_given_is_refused(installation: Installation) -> None:
    page = installation.write("a.html", "<html a itemscope>" * 20_000)

    answer = installation.call("extract", "--as", "turtle", page)

    assert (answer.status, answer.out) == (1, "")


async def test_LM49_a_header_keeps_a_page_back_too(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page(TOWN, headers={"X-Robots-Tag": "noindex"})
        arguments = ("extract", "--as", "ical", origin.url("/a"))
        answer = await asyncio.to_thread(installation.call, *arguments)

    assert (answer.status, answer.out) == (0, "")
    assert "noindex, so its texts are left out" in answer.err


async def test_a_fetched_page_has_its_own_address(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page("", status=302, headers={"Location": "/x/c"})
        origin.pages["/x/c"] = Page(TOWN)
        answer = await asyncio.to_thread(installation.call, "extract", "--as", "ntriples", origin.url("/a"))

    assert f'<{origin.url("/x/c")}> <http://purl.org/dc/terms/title> "Town & harbour"@en .' in answer.out


async def test_AT12_a_feed_without_dates_is_as_old_as_its_page(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page(ARTICLE, headers={"Last-Modified": "Wed, 06 May 2020 07:08:09 GMT"})
        answer = await asyncio.to_thread(installation.call, "extract", "--as", "atom", origin.url("/a"))

    assert "<updated>2020-05-06T07:08:09Z</updated>\n<entry" in answer.out


def test_a_person_sees_items_set_in_below_one_another(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        """<div itemscope itemtype="https://schema.org/Event" itemid=https://e.example/1><b itemprop=name>The
        \x1b[31msea</b><p itemprop=location itemscope><i itemprop=name>Pier</i></div><p itemscope>""",
        encoding="utf-8",
    )

    status, told = on_terminal("extract", "--as", "microdata", "a.html", cwd=tmp_path)

    assert status == 0
    assert told.replace("\r\n", "\n") == (
        "a.html: 2 items\n"
        "Event <https://e.example/1>\n"
        "  name: The \N{REPLACEMENT CHARACTER}[31msea\n"
        "  location: item\n"
        "    name: Pier\n"
        "item\n"
    )


def test_a_terminal_gets_the_document_alone_and_none_of_its_commands(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HCARD.format("A\x1b[31m"), encoding="utf-8")

    status, told = on_terminal("extract", "--as", "ntriples", "a.html", cwd=tmp_path)

    assert status == 0
    assert '"A\N{REPLACEMENT CHARACTER}[31m" .' in told
    assert all(line.endswith(" .") for line in told.splitlines())


def test_items_within_items_within_items_are_shown_to_a_person(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p itemscope>" + "<b itemscope itemprop=x>" * 400, encoding="utf-8")

    status, told = on_terminal("extract", "--as", "microdata", "a.html", cwd=tmp_path)

    assert status == 0
    assert "x: ERROR" in told


def test_whoever_has_read_enough_of_a_document_may_go(installation: Installation) -> None:
    page = installation.write("a.html", HCARD.format("Ann") * 20_000)
    reading, writing = os.pipe()
    with installation.start("extract", "--as", "vcard", "--item", "all", page, stdout=writing) as process:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        _, err = process.communicate()

    assert (process.returncode, err) == (0, b"")


def test_a_line_of_json_is_one_however_the_page_is_written(installation: Installation) -> None:
    page = installation.write("a.html", HCARD.format("A\u2028B\x85C"))

    with installation.start("extract", "--as", "vcard", "--json", page, stderr=subprocess.PIPE) as process:
        out, _ = process.communicate()

    assert len(out.decode().splitlines()) == 1
    assert json.loads(out)["format"] == "vcard"


def test_an_event_without_a_date_is_said_to_be_left_out(installation: Installation) -> None:
    page = installation.write("a.html", EVENT.format("A") + EVENT.format("B").replace("2026-05-05", "soon"))

    out, err = written(installation, "--as", "ical", page)

    assert out.count(b"BEGIN:VEVENT") == 1
    assert err.endswith('1 event without a date is left out: event 2 "B" (dtstart "soon" is no date)\n')
