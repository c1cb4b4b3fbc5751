"""What is said after actions, before them, about forms and of routes: in the language of the reader."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.web.visiting import Visitor, told, tree
from tocsin.configuration.routes import KINDS
from tocsin.model.records.routing import ConfiguredRoute
from tocsin.server.web.route_words import tell_route
from tocsin.wording.words import words_of


@pytest.fixture
def german(visitor: Visitor) -> Visitor:
    visitor.client.headers["accept-language"] = "de"
    return visitor


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("/changes/seen", {}, "Nichts ist ausgewählt: wählen Sie etwas aus, oder nehmen Sie den Knopf eines Eintrags."),
        ("/settings/mode", {"mode": "off"}, "Für alle Seiten: nichts prüfen."),
        ("/pages/1/pause", {"paused": "yes"}, "Angehalten: die Seite wird nicht geprüft."),
        ("/pages/1/fetch", {"fetch": "browser"}, "Die Seite wird von der nächsten Prüfung an im Browser gelesen."),
        ("/pages/1/check", {}, "Eine Prüfung ist angefordert; das Ergebnis erscheint hier."),
        ("/pages/bulk", {"verb": "resume", "page": ["1"]}, "1 Seite fortgesetzt."),
    ],
)
async def test_what_was_done_is_told_in_german(german: Visitor, path: str, form: dict[str, Any], said: str) -> None:
    await german.get("/settings")

    assert told(await german.done(path, **form)) == said


@pytest.mark.parametrize(
    ("path", "form", "title"),
    [
        ("/pages/1/remove", {}, "Diese Seite löschen"),
        ("/activity/dead/replay", {}, "Unzustellbare Meldungen noch einmal zustellen"),
        ("/pages/bulk", {"verb": "every", "every": "6h", "page": ["1", "2"]}, "Abstand von 2 Seiten einstellen"),
        ("/settings/access/tokens/revoke", {"name": "x"}, "Ein Token widerrufen"),
    ],
)
async def test_a_question_before_an_action_is_asked_in_german(
    german: Visitor, path: str, form: dict[str, Any], title: str
) -> None:
    assert tree((await german.post(path, **form)).text).xpath("string(//h1)") == title


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("/settings/pages", {"every": "now and then"}, "1 Feld ist nicht brauchbar; daneben steht, was erlaubt ist."),
        ("/pages/bulk", {"verb": "check"}, "wählen Sie zuerst Seiten aus, oder alle passenden"),
        ("/pages/bulk", {"verb": "sing"}, "wählen Sie eine Handlung"),
        ("/pages/add", {"urls": ""}, "fügen Sie mindestens eine Adresse ein, etwa https://example.org/news"),
        ("/questions/1/answer", {"kind": "again", "times": "x"}, "schreiben Sie eine ganze Zahl von 1 bis 100"),
        (
            "/notifications/route",
            {"name": "a", "when": "times", "digest-at": "8 Uhr", "do": "preview"},
            "gefunden „8 Uhr“, erlaubt ist eine Zeit wie 08:00",
        ),
    ],
)
async def test_what_is_wrong_with_a_form_is_said_in_german(
    german: Visitor, path: str, form: dict[str, Any], said: str
) -> None:
    assert said in " ".join(tree((await german.post(path, **form)).text).text_content().split())


@pytest.mark.parametrize(
    ("settings", "english", "german"),
    [
        ({}, "All alerts; at once", "Alle Meldungen; sofort"),
        (
            {"match": {"outcome": ["major"], "basis": ["declared"], "group": ["press", "law"]}},
            "Major declared changes, in press or law; at once",
            "Änderungen (wichtig, angegeben), in press oder law; sofort",
        ),
        (
            {"match": {"kind": ["unreachable"]}, "unless": {"host": ["*.example.org"]}, "digest": "1h"},
            "A page is unreachable; but not those on *.example.org; one digest 1h after its first alert",
            (
                "Wenn eine Seite nicht erreichbar ist; aber nicht solche auf *.example.org; "
                "eine Sammelmeldung 1h nach der ersten Meldung"
            ),
        ),
        (
            {
                "digest": "0 8 * * mon-fri",
                "group_by": ["group"],
                "quiet": ["mon-fri 22:00-07:00"],
                "at_most": "9 per hour",
            },
            (
                "All alerts; one digest for each group, each weekday at 08:00; at most 9 per hour; "
                "not on weekdays between 22:00 and 07:00"
            ),
            (
                "Alle Meldungen; eine Sammelmeldung je Gruppe jeden Werktag um 08:00 Uhr; höchstens 9 per hour; "
                "nicht werktags zwischen 22:00 und 07:00 Uhr"
            ),
        ),
        (
            {"unless": {"kind": ["suspect"]}, "language": "de", "template": "a.html", "continues": True},
            (
                "All alerts; but not when a page shows something else (a login, an error); at once; "
                "further routes, too; in German; by a.html"
            ),
            (
                "Alle Meldungen; aber nicht dann, wenn eine Seite etwas anderes zeigt (eine Anmeldung, einen Fehler); "
                "sofort; auch weitere Zuordnungen; auf Deutsch; nach a.html"
            ),
        ),
    ],
)
def test_a_route_is_one_sentence_in_each_language(settings: dict[str, Any], english: str, german: str) -> None:
    lists: dict[str, Any] = {name: [] for name in ("channels", "group_by", "quiet")}
    texts = dict.fromkeys(("name", "digest", "at_most", "template", "language"), "")
    rest = {"match": {}, "unless": {}, "say_nothing": False, "continues": False, "source": "saved", "error": None}
    given = {**lists, **texts, **rest}
    route = ConfiguredRoute(**(given | settings))

    assert (tell_route(route, words_of("en")), tell_route(route, words_of("de"))) == (english, german)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_alerts_has_words_for_a_route(kind: str) -> None:
    assert all(f"route_kind.{kind}" in words_of(language) for language in ("en", "de"))
