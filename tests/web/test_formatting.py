"""How values are written for people: every text of a foreign page harmless, times and numbers as they are said."""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

import tocsin.server.web as package
from tests.fakes import START
from tests.web.town import HOSTILE, TEMPLATE, TURNED
from tocsin.server.web import formatting
from tocsin.server.web.rendering import _ENVIRONMENT, ASSETS, asset_path, render

FOLDER = Path(package.__file__).parent
SECOND = 1_000_000
HOUR = 3600 * SECOND


@given(st.text())
def test_no_text_breaks_out_of_an_element(text: str) -> None:
    shown = render("error.html", status=400, title=text, detail=text, mend="x" + text, request_id="")
    plain = render("error.html", status=400, title="", detail="", mend="x", request_id="")

    assert shown.count("<") == plain.count("<")
    assert shown.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_would_hide_or_turn_text_is_replaced(text: str) -> None:
    shown = render("error.html", status=400, title=text, detail=text, mend=None, request_id="")

    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]", shown)


def test_braces_of_a_page_are_text_and_no_template() -> None:
    """Counterpart: CVE-2024-32651, a template in what a page or a user says was run."""
    shown = render("error.html", status=400, title="", detail=TEMPLATE, mend=None, request_id="")

    assert "{{ 7*191 }}" in shown
    assert "1337" not in shown


def test_autoescaping_holds_whatever_a_template_is_called() -> None:
    """Counterpart: CVE-2026-27645, where only names that end in .html were escaped."""
    for source in ("{{ text }}", "<feed>{{ text }}</feed>"):
        assert "<b>" not in _ENVIRONMENT.from_string(source).render(text="<b>")
    assert _ENVIRONMENT.autoescape is True


def test_a_variable_that_nobody_gave_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("error.html", title="")


def test_no_template_and_no_route_goes_round_the_escaping() -> None:
    # The bookmark for browsers: it runs on pages of others, never on ours.
    bookmark = '<a class="button tight" href="javascript:location.href=\'{{ address|replace("\'", "%27") }}/add?url=\''
    for path in (FOLDER / "templates").iterdir():
        text = path.read_text("utf-8").replace(bookmark, "", 1)
        assert not re.search(r"\|\s*safe|autoescape|\bstyle\s*=|\son[a-z]+\s*=|<style|javascript:", text), path.name
    users = {path.name for path in FOLDER.glob("*.py") if "Markup(" in path.read_text("utf-8")}
    # Both escape what they put into it: Markup.format, and the filters.
    assert users == {"formatting.py", "rendering.py"}


def test_no_field_of_a_form_is_hidden_on_a_telephone() -> None:
    for path in (FOLDER / "templates").iterdir():
        # Where there is little room, the class `wide` hides what a list can do without.
        assert not re.search(r'<(input|select|textarea)[^>]*class="[^"]*\bwide\b', path.read_text("utf-8")), path.name


@pytest.mark.parametrize(
    "url", ["javascript:hit()", "JAVASCRIPT:hit()", "data:text/html,x", "//evil.example", " http://x", ""]
)
def test_only_urls_of_the_web_become_links(url: str) -> None:
    """Counterpart: GHSA-44pq-9929-f8mq, `javascript:` URLs of pages as links."""
    assert "<a" not in formatting.linked(url)


def test_an_outward_link_tells_its_target_nothing() -> None:
    assert formatting.linked('https://a.example/?"><script>') == (
        '<a class="out" href="https://a.example/?&#34;&gt;&lt;script&gt;" rel="noreferrer noopener nofollow">'
        "a.example/?&#34;&gt;&lt;script&gt;</a>"
    )


def test_a_long_url_keeps_its_host_and_its_end() -> None:
    shown = formatting.short_url("https://host.example/" + "very-long/" * 30 + "end.html", 60)

    assert len(shown) == 60
    assert shown.startswith("host.example/")
    assert shown.endswith("end.html")


def test_a_url_that_was_cut_stands_in_its_title() -> None:
    assert 'title="https://host.example/' in formatting.url("https://host.example/" + "x" * 100)
    assert formatting.url("https://host.example/") == "host.example"


@pytest.mark.parametrize(
    ("back", "goes"),
    [
        ("/?view=changed&group=a%20b", "/?view=changed&group=a%20b"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:hit()", "/"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        ("", "/"),
        (None, "/"),
    ],
)
def test_nobody_is_sent_on_to_a_place_that_is_not_ours(back: str | None, goes: str) -> None:
    """Counterpart: the open redirects after login of others (CVE-2025-67713 among them)."""
    assert formatting.local_path(back) == goes


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (0, "now"),
        (-30 * SECOND, "30 s ago"),
        (-5 * 60 * SECOND, "5 min ago"),
        (-3 * HOUR, "3 h ago"),
        (-49 * HOUR, "2 d ago"),
        (2 * HOUR, "in 2 h"),
        (90 * SECOND, "in 1 min"),
    ],
)
def test_a_time_is_said_as_how_far_it_is(away: int, said: str) -> None:
    assert formatting.relative(START + away, START) == said


def test_a_time_has_the_calendars_word_beside_it() -> None:
    assert formatting.ago(START - HOUR, START) == (
        '<time datetime="2026-11-18T10:06:40Z" title="2026-11-18 10:06:40 UTC">1 h ago</time>'
    )
    assert formatting.moment(START, formatting.zone_named("Europe/Berlin")) == (
        '<time datetime="2026-11-18T11:06:40Z">2026-11-18 12:06:40 CET</time>'
    )


def test_what_should_have_been_checked_by_now_is_due() -> None:
    assert "due now" in formatting.due(START - HOUR, START)
    assert "in 1 h" in formatting.due(START + HOUR, START)
    assert formatting.due(None, START) == "not planned"
    assert ">now<" in formatting.due(START - HOUR, START, past="now")


def test_what_lasts_is_said_by_its_length() -> None:
    assert ">for 3 min<" in formatting.lasting(START - 3 * 60 * SECOND, START)
    assert ">for 1 s<" in formatting.lasting(START, START)
    assert re.search(r">since \d+ \w+ 2024<", formatting.lasting(START - 700 * 24 * HOUR, START))


@given(st.integers(-(2**70), 2**70))
def test_no_instant_is_too_far_to_be_shown(at: int) -> None:
    assert formatting.ago(at, START)
    assert formatting.moment(at, UTC)


def test_numbers_have_their_unit() -> None:
    assert formatting.size(0) == "0 bytes"
    assert formatting.size(53_000) == "51.8 KiB"
    assert formatting.span(timedelta(hours=26, minutes=3)) == "1 d 2 h"
    assert formatting.span(0.25) == "250 ms"


def test_a_text_is_cut_to_its_letters() -> None:
    assert formatting.short("a  b\n c", 80) == "a b c"
    assert formatting.short("x" * 1_000_000, 10) == "x" * 9 + "…"
    assert "\u202e" not in formatting.short(TURNED)


def test_static_files_change_their_path_with_their_content() -> None:
    assert asset_path("tocsin.css") == f"/static/{ASSETS['tocsin.css'].digest}/tocsin.css"


def test_every_ink_is_legible_on_its_paper() -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1; 1.4.11: 3 to 1 for edges and dots."""
    css = ASSETS["tocsin.css"].body.decode()
    schemes = [
        dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{3,6});", block))
        for block in re.findall(r"\{[^{}]*--paper:[^{}]*\}", css)
    ]
    assert len(schemes) == 3
    assert schemes[1] == schemes[2], "dark by preference and by choice"
    grounds = ("paper", "panel", "hover", "here")
    inks = [("ink", each) for each in (*grounds, "gone", "come")] + [("quiet", each) for each in (*grounds, "gone")]
    inks += [("mark", each) for each in grounds] + [("on-mark", "mark"), ("major", "panel"), ("major", "gone")]
    inks += [(each, f"{each}-paper") for each in ("major", "minor", "bad", "good")]
    edges = [(each, "paper") for each in ("edge", "come-line", *(f"g{number}" for number in range(1, 7)))]
    wanted = [(*pair, 4.5) for pair in inks] + [(*pair, 3.0) for pair in edges]
    low = [
        (ink, paper, ratio)
        for colours in schemes
        for ink, paper, least in wanted
        if (ratio := _contrast(colours[ink], colours[paper])) < least
    ]
    assert low == []


def _contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
