"""The specification of summaries: what is said of each kind of event, in English and German."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tocsin.configuration.routes import KINDS
from tocsin.engine.judging.contents import difference_data
from tocsin.model import FailureKind, JsonObject
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.signals.weigh import CONTENT
from tocsin.spec.suspicion.kinds import KINDS as SUSPECTS
from tocsin.spec.topper.state import FIELDS
from tocsin.wording import words as wording
from tocsin.wording.summary import MOST_LETTERS, MOST_OF_SHORT, summarise, why
from tocsin.wording.words import LANGUAGES, cut, visible, words_of

BASES = ("declared", "inferred", "contradicted")
CHANGING_RULES = ("T44", "T09", "T45", "T46", "T47")
NOW = "2026-11-22T08:22:05.123Z"
LINES = "".join(f"Line {number} of the page.\n" for number in range(7))


def event(kind: str, **data: Any) -> JsonObject:
    return {"type": f"tocsin.{kind}.v1", "time": NOW, "data": data}


def difference(before: str, latest: str) -> JsonObject | None:
    return difference_data(pack_text(before)[1], pack_text(latest)[1])


def changed(*, text: tuple[str, str] | None = None, **data: Any) -> JsonObject:
    return event("page.changed", difference=difference(*text) if text else None, **data)


def items(*changes: tuple[str, str]) -> JsonObject:
    counts = {kind: sum(each == kind for each, _ in changes) for kind in ("added", "removed", "changed")}
    shown = [{"change": kind, "item": {"label": label}, "property": None} for kind, label in changes]
    return {**counts, "cut": False, "changes": shown}


def one_changed(
    name: str, previous: str | None, latest: str | None, *, label: str, within: str | None = None
) -> JsonObject:
    values = {"previous": [previous] if previous else [], "latest": [latest] if latest else []}
    path = [{"label": within, "position": None}] if within else []
    change = {"change": "changed", "item": {"label": label}, "path": path, "property": name, **values}
    return {"added": 0, "removed": 0, "changed": 1, "cut": False, "changes": [change]}


def signal(name: str, previous: str | None, latest: str | None) -> JsonObject:
    return {"signal": name, "previous": previous, "latest": latest, "says": "minor", "rule": "S1"}


def field(name: str, previous: str | None, latest: str | None) -> JsonObject:
    return {"field": name, "previous": previous, "latest": latest}


def unreachable(kind: str, *, status: int | None = None, at: str = NOW, pages: int = 1) -> JsonObject:
    return event(
        "page.unreachable",
        question={"host": "a.example", "pages": pages},
        error={"kind": kind, "status": status, "message": "…"},
        attempts=[{"at": at}],
    )


# What happened; its event; the sentence in English, and the short one; the sentence in German.
# fmt: off
ROWS = [
    ("a meeting is on another day",
     changed(items=one_changed("dtstart", "2026-12-03", "2026-12-04", label="Meeting of the council")),
     "“Meeting of the council” moved from 3 to 4 December.",
     "“Meeting of the council” moved from 3 to 4 December",
     "„Meeting of the council“ wurde vom 3. auf den 4. Dezember verlegt."),
    ("a meeting is in another month",
     changed(items=one_changed("startDate", "2026-11-30", "2026-12-02", label="Meeting")),
     "“Meeting” moved from 30 November to 2 December.",
     "“Meeting” moved from 30 November to 2 December",
     "„Meeting“ wurde vom 30. November auf den 2. Dezember verlegt."),
    ("a meeting is in another year",
     changed(items=one_changed("startDate", "2026-12-30", "2027-01-02", label="Meeting")),
     "“Meeting” moved from 30 December to 2 January 2027.",
     "“Meeting” moved from 30 December to 2 January 2027",
     "„Meeting“ wurde vom 30. Dezember auf den 2. Januar 2027 verlegt."),
    ("a meeting begins at another time",
     changed(items=one_changed("dtstart", "2026-12-03T18:30", "2026-12-03T19:00", label="Meeting")),
     "“Meeting” moved from 18:30 to 19:00.",
     "“Meeting” moved from 18:30 to 19:00",
     "„Meeting“ wurde von 18:30 auf 19:00 Uhr verlegt."),
    ("a meeting is on another day at another time",
     changed(items=one_changed("dtstart", "2026-12-03T18:30", "2026-12-04T19:00", label="Meeting")),
     "“Meeting” moved from 3 December, 18:30 to 4 December, 19:00.",
     "“Meeting” moved from 3 December, 18:30 to 4 December, 19:00",
     "„Meeting“ wurde vom 3. Dezember, 18:30 auf den 4. Dezember, 19:00 verlegt."),
    ("a concert is cancelled",
     changed(items=one_changed("eventStatus", "https://schema.org/EventScheduled", "https://schema.org/EventCancelled", label="Jam session")),  # noqa: E501 - a sentence is compared whole
     "“Jam session” was cancelled.",
     "“Jam session” was cancelled",
     "„Jam session“ wurde abgesagt."),
    ("a concert is postponed", changed(items=one_changed("status", "CONFIRMED", "Postponed", label="Jam session")),
     "“Jam session” was postponed.",
     "“Jam session” was postponed",
     "„Jam session“ wurde verschoben."),
    ("a price rises", changed(items=one_changed("price", "17.90", "18.40", label="Cod")),
     "Price of “Cod”: 18.40, before 17.90.",
     "Price of “Cod”: 18.40, before 17.90",
     "Preis von „Cod“: 18.40, vorher 17.90."),
    ("a price is new", changed(items=one_changed("price", None, "18.40", label="Cod")),
     "Price of “Cod”: 18.40.",
     "Price of “Cod”: 18.40",
     "Preis von „Cod“: 18.40."),
    ("a price is gone", changed(items=one_changed("price", "18.40", None, label="Cod")),
     "Price of “Cod” is missing now, before 18.40.",
     "Price of “Cod” is missing now, before 18.40",
     "Preis von „Cod“ fehlt jetzt, vorher 18.40."),
    ("a property has a name of its own",
     changed(items=one_changed("https://schema.org/color", "red", "blue", label="Chair")),
     "Color of “Chair”: blue, before red.",
     "Color of “Chair”: blue, before red",
     "Color von „Chair“: blue, vorher red."),
    ("a property is of an item within", changed(items=one_changed("price", "5", "6", label="Menu", within="Soup")),
     "Price of “Soup”: 6, before 5.",
     "Price of “Soup”: 6, before 5",
     "Preis von „Soup“: 6, vorher 5."),
    ("an end moves", changed(items=one_changed("endDate", "2026-12-05", "2026-12-07", label="Fair")),
     "End of “Fair”: 7 December, before 5 December.",
     "End of “Fair”: 7 December, before 5 December",
     "Ende von „Fair“: 7. Dezember, vorher 5. Dezember."),
    ("an entry is new", changed(items=items(("added", "Jam session"))),
     "“Jam session” was added.",
     "“Jam session” was added",
     "„Jam session“ ist neu."),
    ("an entry is gone", changed(items=items(("removed", "Jam session"))),
     "“Jam session” was removed.",
     "“Jam session” was removed",
     "„Jam session“ wurde entfernt."),
    ("entries come and go", changed(items=items(("added", "A"), ("added", "B"), ("added", "C"), ("removed", "D"))),
     "3 entries added, 1 removed.",
     "3 entries added, 1 removed",
     "3 Einträge neu, 1 entfernt."),
    ("entries only go", changed(items=items(("removed", "A"), ("removed", "B"))),
     "2 entries removed.",
     "2 entries removed",
     "2 Einträge entfernt."),
    ("an item and the text",
     changed(items=one_changed("dtstart", "2026-12-03", "2026-12-04", label="Meeting"), text=("Agenda\nMeeting on 3 December", "Agenda\nMeeting on 4 December\nItem 6: The playground")),  # noqa: E501 - a sentence is compared whole
     "“Meeting” moved from 3 to 4 December and 2 lines changed.",
     "“Meeting” moved from 3 to 4 December",
     "„Meeting“ wurde vom 3. auf den 4. Dezember verlegt und 2 Zeilen wurden geändert."),
    ("a word of an item is not told twice",
     changed(items=one_changed("price", "17.90", "18.40", label="Cod"), text=("Cod 17.90 a kilo", "Cod 18.40 a kilo")),
     "Price of “Cod”: 18.40, before 17.90.",
     "Price of “Cod”: 18.40, before 17.90",
     "Preis von „Cod“: 18.40, vorher 17.90."),
    ("a version", changed(signals=[signal("json-ld.version", "7", "8")]),
     "Version 8, before 7.",
     "Version 8, before 7",
     "Version 8, vorher 7."),
    ("a first version", changed(changes=[field("page-version", None, "2")]),
     "Version 2.",
     "Version 2",
     "Version 2."),
    ("a version and words",
     changed(signals=[signal("json-ld.version", "7", "8")], text=("Notice of 30 days for you", "Notice of 14 days for you")),  # noqa: E501 - a sentence is compared whole
     "Version 8, before 7, and “14” instead of “30”.",
     "Version 8, before 7",
     "Version 8, vorher 7, und „14“ statt „30“."),
    ("a version and lines", changed(changes=[field("page-version", "7", "8")], text=(LINES, LINES + "One.\nTwo.")),
     "Version 8, before 7, and 2 lines were added.",
     "Version 8, before 7",
     "Version 8, vorher 7, und 2 Zeilen sind neu."),
    ("one word", changed(text=("We announce changes 30 days before.", "We announce changes 14 days before.")),
     "“14” instead of “30”.",
     "“14” instead of “30”",
     "„14“ statt „30“."),
    ("four words", changed(text=("Open from 9 to 16 on Mondays and more", "Open from 10 to 18 on Mondays and more")),
     "“10 to 18” instead of “9 to 16”.",
     "“10 to 18” instead of “9 to 16”",
     "„10 to 18“ statt „9 to 16“."),
    ("a word too many is a line",
     changed(text=("The office of the district in the old town is open all day and all night.", "The office of our city by the new harbour gate is open each day and every night.")),  # noqa: E501 - a sentence is compared whole
     "1 line changed.",
     "1 line changed",
     "1 Zeile wurde geändert."),
    ("a word is inserted", changed(text=("The office is open today.", "The office is not open today.")),
     "“not” was inserted.",
     "“not” was inserted",
     "„not“ wurde eingefügt."),
    ("words are deleted",
     changed(text=("You may end it until then without a fee at any time.", "You may end it until then at any time.")),
     "“without a fee” was deleted.",
     "“without a fee” was deleted",
     "„without a fee“ wurde gestrichen."),
    ("a line is new", changed(text=(LINES, LINES + "The office is closed on Fridays.")),
     "“The office is closed on Fridays.” was added.",
     "“The office is closed on Fridays.” was added",
     "„The office is closed on Fridays.“ ist neu."),
    ("a long line is new",
     changed(text=(LINES, LINES + "The authority confirmed on Sunday that all cars that were built until May are affected, too.")),  # noqa: E501 - a sentence is compared whole
     "“The authority confirmed on Sunday that all cars that were…” was added.",
     "“The authority confirmed on Sunday that all cars that…",
     "„The authority confirmed on Sunday that all cars that were…“ ist neu."),
    ("a line is gone", changed(text=(LINES + "The office is closed on Fridays.", LINES)),
     "“The office is closed on Fridays.” was removed.",
     "“The office is closed on Fridays.” was removed",
     "„The office is closed on Fridays.“ wurde entfernt."),
    ("lines are new", changed(text=(LINES, LINES + "One.\nTwo.\nThree.")),
     "3 lines were added (5 % of the text).",
     "3 lines were added",
     "3 Zeilen sind neu (5 % des Textes)."),
    ("lines are gone", changed(text=(LINES + "One.\nTwo.\nThree.", LINES)),
     "3 lines were removed (5 % of the text).",
     "3 lines were removed",
     "3 Zeilen wurden entfernt (5 % des Textes)."),
    ("lines replace others", changed(text=(LINES + "Alpha\nBeta", LINES + "Uno dos\nTres cuatro\nCinco")),
     "3 lines added, 2 removed (10 % of the text).",
     "3 lines added, 2 removed",
     "3 Zeilen neu, 2 entfernt (10 % des Textes)."),
    ("a line that is a quotation is new", changed(text=(LINES, LINES + "“Archivist, part time”")),
     "“Archivist, part time” was added.",
     "“Archivist, part time” was added",
     "„Archivist, part time“ ist neu."),
    ("lines change",
     changed(text=("Wind of force 8 from the west.\nRain until noon on Monday.", "Wind of force 9 from the west.\nRain until night on Monday.")),  # noqa: E501 - a sentence is compared whole
     "2 lines changed (9 % of the text).",
     "2 lines changed",
     "2 Zeilen wurden geändert (9 % des Textes)."),
    ("a thousand lines change",
     changed(text=("\n".join(f"Row {n} is old" for n in range(1100)), "\n".join(f"Row {n} is new" for n in range(1100)))),  # noqa: E501 - a sentence is compared whole
     "1,100 lines changed (20 % of the text).",
     "1,100 lines changed",
     "1.100 Zeilen wurden geändert (20 % des Textes)."),
    ("lines change places", changed(text=("One two\nThree four\nFive six\n", "Three four\nOne two\nFive six\n")),
     "Lines changed places.",
     "Lines changed places",
     "Zeilen tauschten den Platz."),
    ("Japanese letters", changed(text=("会議は三日です。", "会議は四日です。")),
     "“四” instead of “三”.",
     "“四” instead of “三”",
     "„四“ statt „三“."),
    ("the page announces a major change", changed(new_dates={"major": ["2026-11-22"], "minor": []}),
     "The page announces a major change of 22 November.",
     "Page announces a major change of 22 November",
     "Die Seite kündigt eine wichtige Änderung vom 22. November an."),
    ("... of another year", changed(new_dates={"major": ["2025-11-22"], "minor": []}),
     "The page announces a major change of 22 November 2025.",
     "Page announces a major change of 22 November 2025",
     "Die Seite kündigt eine wichtige Änderung vom 22. November 2025 an."),
    ("... of a time", changed(new_dates={"major": ["2026-11-22T08:00:00Z"], "minor": []}),
     "The page announces a major change of 22 November, 08:00.",
     "Page announces a major change of 22 November, 08:00",
     "Die Seite kündigt eine wichtige Änderung vom 22. November, 08:00 an."),
    ("... and its text is the same",
     changed(new_dates={"major": ["2026-11-22"], "minor": []}, witness={"signal": "content", "value": None, "since": None}),  # noqa: E501 - a sentence is compared whole
     "The page announces a major change of 22 November; its text is the same.",
     "Page announces a major change of 22 November",
     "Die Seite kündigt eine wichtige Änderung vom 22. November an; ihr Text ist derselbe."),
    ("... and its text changed, but is not kept",
     changed(new_dates={"major": ["2026-11-22"], "minor": []}, signals=[signal("content", None, "1 new of 12 parts, 7 % of the content")]),  # noqa: E501 - a sentence is compared whole
     "The page announces a major change of 22 November and 7 % of the content changed.",
     "Page announces a major change of 22 November",
     "Die Seite kündigt eine wichtige Änderung vom 22. November an und 7 % des Inhalts wurden geändert."),
    ("two major changes", changed(new_dates={"major": ["2026-11-22", "2026-11-23"], "minor": []}),
     "The page announces 2 major changes.",
     "Page announces 2 major changes",
     "Die Seite kündigt 2 wichtige Änderungen an."),
    ("a minor change", changed(new_dates={"major": [], "minor": ["2026-11-22"]}),
     "The page announces a minor change of 22 November.",
     "Page announces a minor change of 22 November",
     "Die Seite kündigt eine geringfügige Änderung vom 22. November an."),
    ("a declared date", changed(signals=[signal("json-ld.modified", "2026-11-02T09:30:00Z", "2026-11-21T07:55:00Z")]),
     "The page gives a new date of its change: 21 November, 07:55, before 2 November, 09:30.",
     "Page gives a new date of its change",
     "Die Seite gibt ein neues Änderungsdatum an: 21. November, 07:55, vorher 2. November, 09:30."),
    ("a first declared date", changed(changes=[field("dcterms.modified", None, "2026-11-21")]),
     "The page gives 21 November as the date of its change.",
     "Page gives 21 November as the date of its change",
     "Die Seite gibt den 21. November als Datum ihrer Änderung an."),
    ("a date in a sitemap", changed(signals=[signal("sitemap", "2026-11-02", "2026-11-21")]),
     "A list of the site gives a new date of the page: 21 November.",
     "List of the site gives a new date of the page: 21 November",
     "Eine Liste der Website gibt ein neues Datum der Seite an: 21. November."),
    ("the same for a long time", changed(reason="duration", elapsed_s=81 * 86400),
     "The page says the same as 81 days ago.",
     "Page says the same as 81 days ago",
     "Die Seite gibt dasselbe an wie vor 81 Tagen."),
    ("a new version by the server", changed(signals=[signal("header.etag", "a", "b")]),
     "The server gives a new version of the page.",
     "Server gives a new version of the page",
     "Der Server liefert eine neue Fassung der Seite."),
    ("another declaration", changed(changes=[field("topper", "a", None)]),
     "The page declares a change.",
     "Page declares a change",
     "Die Seite gibt eine Änderung an."),
    ("how it looks", changed(signals=[signal("picture", None, "7 % of the picture")]),
     "It looks different: 7 % of its picture.",
     "It looks different: 7 % of its picture",
     "Sie sieht anders aus: 7 % ihres Bildes."),
    ("the text, which is not kept", changed(signals=[signal("content", None, "1 new of 12 parts, 7 % of the content")]),
     "7 % of the content changed.",
     "7 % of the content changed",
     "7 % des Inhalts wurden geändert."),
    ("nothing is known of the change", changed(),
     "The page changed.",
     "Page changed",
     "Die Seite wurde geändert."),
    ("unreachable today", unreachable("status", status=404, at="2026-11-22T08:00:00.000Z"),
     "Unreachable: the server answers 404.",
     "Unreachable: the server answers 404",
     "Nicht erreichbar: der Server antwortet 404."),
    ("unreachable since yesterday", unreachable("status", status=404, at="2026-11-21T23:59:00.000Z"),
     "Unreachable since yesterday: the server answers 404.",
     "Unreachable since yesterday: the server answers 404",
     "Nicht erreichbar seit gestern: der Server antwortet 404."),
    ("unreachable for days", unreachable("timeout", at="2026-11-03T08:00:00.000Z"),
     "Unreachable since 3 November: no answer in time.",
     "Unreachable since 3 November: no answer in time",
     "Nicht erreichbar seit dem 3. November: keine rechtzeitige Antwort."),
    ("pages of a host are unreachable", unreachable("dns", pages=1845),
     "1,845 pages of a.example are unreachable: the name of the server is unknown.",
     "1,845 pages of a.example are unreachable",
     "1.845 Seiten von a.example sind nicht erreichbar: der Name des Servers ist unbekannt."),
    ("an unknown cause", unreachable("eclipse"),
     "Unreachable: eclipse.",
     "Unreachable: eclipse",
     "Nicht erreichbar: eclipse."),
    ("reachable again", event("page.recovered", rendering=None, rendered=None),
     "Reachable again.",
     "Reachable again",
     "Wieder erreichbar."),
    ("reachable again and changed", event("page.recovered", rendering={"kind": "http"}, rendered={"outcome": "major"}),
     "Reachable again, and it changed meanwhile.",
     "Reachable again, and it changed meanwhile",
     "Wieder erreichbar und inzwischen geändert."),
    ("a copy", event("page.recovered", rendering={"kind": "copy"}, rendered=None),
     "A copy of the page was received.",
     "Copy of the page was received",
     "Eine Kopie der Seite wurde empfangen."),
    ("robots.txt", event("page.disallowed", robots={"url": "https://a.example/robots.txt", "rule": "Disallow: /a"}),
     "robots.txt forbids this page: Disallow: /a.",
     "robots.txt forbids this page: Disallow: /a",
     "robots.txt verbietet diese Seite: Disallow: /a."),
    ("no robots.txt", event("page.disallowed", robots={"url": "https://a.example/robots.txt", "rule": None}),
     "robots.txt could not be read, so the page is not requested.",
     "robots.txt could not be read, so the page is not requested",
     "robots.txt konnte nicht gelesen werden; darum wird die Seite nicht angefragt."),
    ("a login", event("page.suspect", evidence='login: its title says "Sign in" and more'),
     "A login is served in place of the page: “Sign in”.",
     "Login is served in place of the page: “Sign in”",
     "Statt der Seite kommt eine Anmeldung: „Sign in“."),
    ("a challenge by its code",
     event("page.suspect", evidence='challenge: Acme: "/guard/x.js" in its code; 12 letters of text'),
     "A check for robots is served in place of the page.",
     "Check for robots is served in place of the page",
     "Statt der Seite kommt eine Prüfung auf Roboter."),
    ("a file of another kind", event("page.suspect", evidence="not HTML but PDF"),
     "A file of another kind is served in place of the page: PDF.",
     "File of another kind is served in place of the page: PDF",
     "Statt der Seite kommt eine Datei anderer Art: PDF."),
    ("a page of a kind that has no name", event("page.suspect", evidence=None),
     "A file of another kind is served in place of the page.",
     "File of another kind is served in place of the page",
     "Statt der Seite kommt eine Datei anderer Art."),
    ("no change", event("page.unchanged", outcome="unchanged"),
     "Nothing changed.",
     "Nothing changed",
     "Nichts wurde geändert."),
    ("too soon", event("page.too-soon", outcome="too-soon"),
     "Checked before the page's own time was over; nothing was compared.",
     "Checked before the page's own time was over",
     "Vor der von der Seite genannten Zeit geprüft; nichts wurde verglichen."),
    ("a storm",
     event("host.changed", storm={"host": "a.example", "pages": 312}, excerpt=difference("Menu", "Menu\nThe office is closed on Fridays.")),  # noqa: E501 - a sentence is compared whole
     "312 pages of a.example changed alike: “The office is closed on Fridays.” was added.",
     "312 pages of a.example changed alike",
     "312 Seiten von a.example wurden auf gleiche Weise geändert: „The office is closed on Fridays.“ ist neu."),
    ("a storm of unkept texts", event("host.changed", storm={"host": "a.example", "pages": 312}, excerpt=None),
     "312 pages of a.example changed alike: the text changed.",
     "312 pages of a.example changed alike: the text changed",
     "312 Seiten von a.example wurden auf gleiche Weise geändert: der Text wurde geändert."),
    ("an outage", event("outage.began", began="2026-11-22T08:00:00.000Z", ended=None),
     "Nothing can be reached: our own connection seems to be down, and checking pauses.",
     "Nothing can be reached",
     "Nichts ist erreichbar: vermutlich ist unsere eigene Verbindung gestört; die Prüfungen ruhen."),
    ("its end", event("outage.ended", began="2026-11-22T06:00:00.000Z", ended="2026-11-22T08:05:00.000Z"),
     "Our own connection is back after 2 h 5 min; checking goes on.",
     "Our own connection is back after 2 h 5 min; checking goes on",
     "Unsere eigene Verbindung besteht wieder, nach 2 Std. 5 Min.; die Prüfungen gehen weiter."),
    ("a digest", event("digest", count=1845),
     "1,845 alerts.",
     "1,845 alerts",
     "1.845 Meldungen."),
    ("an empty digest", event("digest", count=0),
     "Nothing to report.",
     "Nothing to report",
     "Nichts zu melden."),
    ("a test", event("channel.test", channel="ops", message="…"),
     "This is a test: alerts of this instance reach you.",
     "This is a test: alerts of this instance reach you",
     "Dies ist ein Test: Meldungen dieser Instanz erreichen Sie."),
    ("a type that is unknown", event("moon.rose"),
     "tocsin.moon.rose.v1.",
     "tocsin.moon.rose.v1",
     "tocsin.moon.rose.v1."),
    ("controls and directions", changed(items=one_changed("price", "1", "2", label="a\u202eb\x1b[2Jc\nd")),
     "Price of “a\\u202eb\\u001b[2Jc\\u000ad”: 2, before 1.",
     "Price of “a\\u202eb\\u001b[2Jc\\u000ad”: 2, before 1",
     "Preis von „a\\u202eb\\u001b[2Jc\\u000ad“: 2, vorher 1."),
    ("values that were too long for the event",
     changed(items={"digest": "sha256:0", "length": 9}, signals={"digest": "sha256:0", "length": 9}),
     "The page changed.",
     "Page changed",
     "Die Seite wurde geändert."),
]
# fmt: on


@pytest.mark.parametrize(
    ("told", "english", "short", "german"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_an_event_is_told_in_a_sentence(told: JsonObject, english: str, short: str, german: str) -> None:
    assert (summarise(told, "en").sentence, summarise(told, "en").short) == (english, short)
    assert summarise(told, "de").sentence == german


def test_the_table_is_long_enough_to_be_a_specification() -> None:
    assert len(ROWS) >= 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_has_the_same_key_and_places_in_every_language(language: str) -> None:
    assert places_of(language) == places_of("en")


def places_of(language: str) -> dict[str, set[str]]:
    """The places of each text, and its plural forms."""
    sections = tomllib.loads((Path(wording.__file__).parent / f"{language}.toml").read_text("utf-8"))
    return {
        f"{section}.{key}": {place for part in forms_of(text) for place in placed(part)}
        | set(text if isinstance(text, dict) else ())
        for section, texts in sections.items()
        for key, text in texts.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("suspect", SUSPECTS),
        ("signal", (*SOURCES, CONTENT)),
        ("field", FIELDS),
        ("basis", BASES),
        ("why", (*CHANGING_RULES, "S1", "S2", "S3", "S4")),
        ("error", FailureKind),
        ("label", KINDS),
    ],
)
def test_each_thing_that_is_named_has_a_name_in_every_language(
    section: str, names: Iterable[str], language: str
) -> None:
    words = words_of(language)

    assert [name for name in names if f"{section}.{name}" not in words] == []


# fmt: off
REASONS = [
    ({"rule": "S1", "signals": [signal("json-ld.modified", None, None), signal("sitemap", None, None)]},
     "The page itself, or a list of its site, gives a new date or version: date in JSON-LD, date in a sitemap.",
     "Die Seite selbst oder eine Liste ihrer Website gibt ein neues Datum oder eine neue Version an: Datum in JSON-LD, Datum in einer Sitemap."),  # noqa: E501 - a sentence is compared whole
    ({"rule": "T47", "changes": [field("page-version", "7", "8"), field("dc.modified", None, None)]},
     "The page says so itself. It declares anew: version, date of change (Dublin Core).",
     "Die Seite sagt es selbst. Neu angegeben ist: Version, Änderungsdatum (Dublin Core)."),
    ({"rule": "S2", "basis": "contradicted", "witness": {"signal": "header.last-modified", "value": "2026-11-02"}},
     "The text changed, yet the page still calls itself unchanged: its header with a date says “2 November”.",
     "Der Text ist anders, doch die Seite nennt sich unverändert: Ihre Angabe „Datum im Antwortkopf“ ist noch „2. November“."),  # noqa: E501 - as above
    ({"rule": "S2", "basis": "contradicted", "witness": {"signal": "dcterms.modified", "value": None}},
     "The text changed, yet the page still calls itself unchanged: its date of change (Dublin Core) is the same.",
     "Der Text ist anders, doch die Seite nennt sich unverändert: Ihre Angabe „Änderungsdatum (Dublin Core)“ ist dieselbe."),  # noqa: E501 - as above
]
# fmt: on


@pytest.mark.parametrize(("data", "english", "german"), REASONS)
def test_reasons_name_signals_and_fields_in_words(data: JsonObject, english: str, german: str) -> None:
    told = {"outcome": "minor", **data}

    assert (why(words_of("en"), told, NOW), why(words_of("de"), told, NOW)) == (english, german)


def forms_of(text: Any) -> list[str]:
    return list(text.values()) if isinstance(text, dict) else [text]


def placed(text: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


KEYS = (
    "items changes item label property previous latest difference rows pieces lines kind changed added removed share "
    "signals signal new_dates major error attempts at question pages storm host path witness elapsed_s reason"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS.split()),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.sampled_from([example["type"] for example in examples()]), VALUES, st.sampled_from(LANGUAGES))
def test_any_event_is_told_in_a_bounded_line(kind: str, data: Any, language: str) -> None:
    said = summarise({"type": kind, "time": NOW, "data": data}, language)

    assert 0 < len(said.sentence) <= MOST_LETTERS
    assert 0 < len(said.short) <= MOST_OF_SHORT
    assert visible(said.sentence) == said.sentence


@given(st.text(), st.integers(2, 80))
def test_a_text_is_cut_to_its_room(text: str, most: int) -> None:
    assert len(cut(text, most)) <= most


@pytest.mark.parametrize(
    ("language", "seconds", "said"),
    [
        ("en", 59, "59 s"),
        ("en", 600, "10 min"),
        ("en", 7500, "2 h 5 min"),
        ("de", 7200, "2 Std."),
        ("en", 172_800, "2 days"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(language: str, seconds: int, said: str) -> None:
    assert words_of(language).span(seconds) == said


def test_a_language_that_there_is_not_is_english() -> None:
    assert words_of("tlh").language == "en"
