"""The address that a file has on the web, and what the page itself says of its base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calling import Installation

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
