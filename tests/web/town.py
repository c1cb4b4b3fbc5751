"""A town on the web: pages on example domains, in editions, behind a proxy on loopback; some of them mean no good.

The service under test asks for them through `Town` as its proxy, so that hosts have names of their own and every answer
is a real one.
"""

from __future__ import annotations

from html import escape
from typing import Final

from tests.origin import Origin, Page
from tocsin.spec.html.urls import watch_url

COUNCIL, TIMETABLE = "http://council.example/agenda", "http://transit.example/timetable"
HANDBOOK, RECALLS = "http://library.example/handbook/loans", "http://safety.example/recalls?country=all&sort=date"
PRESS, TIDES = "http://harbour.example/press", "http://harbour.example/tides"
PRICES, WEATHER = "http://market.example/prices/today", "http://weather.example/warnings"
STANDARD, GONE = "http://standards.example/drafts/paper-weights", "http://closed.example/old-news"
EVIL: Final = "http://evil.example/a?x=%3Cscript%3E&y='onload='hit()"

SCRIPT: Final = "<script>window.hit=1</script>"
BREAKS_OUT: Final = '"><img src=x onerror=window.hit=1>\'"`</title></textarea>'
TURNED: Final = "\u202egnp.exe\u2066\x1b[31mred\x07\x1b]0;owned\x07"
TEMPLATE: Final = "{{ 7*191 }}${7*191}#{7*191}{% raw %}<%= 7*191 %>{{ self.__init__.__globals__ }}"
STYLED: Final = "red;} body{display:none} a{background:url(http://leak.example/)"
HOSTILE: Final = (SCRIPT, BREAKS_OUT, TURNED, TEMPLATE, STYLED, "javascript:window.hit=1")
"""What pages say that would run, hide or break something if a page of ours believed it."""

GROUPS: Final = {
    COUNCIL: "town hall",
    TIMETABLE: "getting around",
    HANDBOOK: "main",
    RECALLS: "main",
    PRESS: "harbour",
    TIDES: "harbour",
    PRICES: "main",
    WEATHER: "getting around",
    STANDARD: "work",
    GONE: "main",
}
WORDS: Final = {
    COUNCIL: "The agenda; the playground is on it in spring",
    RECALLS: "Anything we sell",
    STANDARD: "Draft 4 decides which paper we order",
    TIDES: "For the ferry",
}
EDITIONS: Final = 4
VEVENT: Final = "http://microformats.org/profile/hcalendar#vevent"
HCARD: Final = "http://microformats.org/profile/hcard"
MEETING: Final = f"""<div itemscope itemtype="{VEVENT}"><h2 itemprop="summary">Meeting of the council</h2>
<time itemprop="dtstart" datetime="{{day}}T18:30:00Z">half past six</time>,
<span itemprop="location">town hall, room 2</span>
<a itemprop="url" href="/agenda">Agenda</a></div>
<p itemscope itemtype="{HCARD}"><span itemprop="fn">Ada Quay</span>, clerk:
<span itemprop="tel">+44 1632 960 200</span></p>"""
"""An event that is on another day in each edition, and whom to ask about it."""


class Town(Origin):
    """The proxy: it is asked for whole URLs, and answers what its edition says."""

    def publish(self, edition: int) -> None:
        """Let the pages say what they say in this edition, from 1 to EDITIONS."""
        for url, page in _pages(edition).items():
            self.pages[watch_url(url).url] = page


def _pages(edition: int) -> dict[str, Page]:
    dates = [f"2026-{month:02}-{day:02}" for month, day in ((8, 3), (9, 14), (10, 26), (11, 16))][:edition]
    said = {
        COUNCIL: _html(
            "Agenda of the council",
            {"topper-major": " ".join(dates[: max(edition - 1, 1)]), "topper-minor": " ".join(dates[1:])},
            [*(f"Item {number}: {name}" for number, name in enumerate(_AGENDA[: edition + 2], 1))],
            MEETING.format(day=f"2026-12-{edition:02}"),
        ),
        TIMETABLE: _html(
            "Timetable",
            {"topper-minor": " ".join(dates), "dcterms.modified": dates[-1]},
            [f"Line {line} leaves at {6 + edition}:{line:02} from the station." for line in range(3, 9)],
        ),
        HANDBOOK: _html("Loans", {"topper": "2026-01-15", "page-version": "3.1"}, ["Books are lent for four weeks."]),
        RECALLS: _html(
            "Recalls",
            {"article:modified_time": f"{dates[-1]}T08:00:00Z"},
            [f"Recall {each}: toasters" for each in dates],
        ),
        PRESS: _html("Press", {}, [f"On {each} the harbour told the press what it builds." for each in dates]),
        TIDES: _html("Tides", {"refresh": "21600", "dc.modified": dates[0]}, ["High water at noon."]),
        PRICES: _html("Prices", {}, ["Apples, pears and plums, by the kilogram, as they are today."]),
        WEATHER: _html("Warnings", {"topper-major": " ".join(dates[:2])}, ["Gale on the coast, until further notice."]),
        STANDARD: _html(
            "Paper weights, draft",
            {"topper-major": " ".join(dates), "dcterms.created": "2025-05-02", "page-version": f"draft {edition}"},
            [f"Draft {edition}. Paper of {60 + 10 * edition} g is paper.", "Everything heavier is board."],
        ),
        EVIL: _html(
            " ".join(HOSTILE),
            {"topper-major": f"2026-0{edition}-01", "page-version": BREAKS_OUT * edition, "created": SCRIPT + TURNED},
            [*HOSTILE, f"edition {edition}"],
            _hostile_items(edition),
        ),
    }
    found = {url: Page(body, etag=f'"{edition}"') for url, body in said.items()}
    found[GONE] = Page("gone", status=404)
    return found


def _html(title: str, metas: dict[str, str], lines: list[str], items: str = "") -> str:
    head = "".join(
        f"<meta {'property' if ':' in name else 'name'}='{name}' content='{escape(value)}'>"
        for name, value in metas.items()
    )
    text = "".join(f"<p>{escape(line)}</p>" for line in lines) + items
    return f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title>{head}<main><h1>Here</h1>{text}</main>"


def _hostile_items(edition: int) -> str:
    """An event and a contact whose every part means no good; some of it differs in each edition."""
    names = " ".join(escape(each.replace(" ", "")) for each in HOSTILE)
    said = "".join(f'<p itemprop="summary fn {names}">{escape(each)} {edition}</p>' for each in HOSTILE)
    types = f"{VEVENT} {HCARD} {escape(BREAKS_OUT)}"
    return f'<div itemscope itemtype="{types}" itemid="http://evil.example/{escape(SCRIPT)}">{said}</div>'


_AGENDA: Final = (
    "opening, and the minutes of the last meeting",
    "the playground in Mill Lane, estimate and votes",
    "a new roof for the school",
    "bicycles on the promenade",
    "questions of those who live here",
    "closing",
)
