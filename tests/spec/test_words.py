# ruff: noqa: RUF001 -- words of other scripts
"""The lists of words are data that translators edit: what they must keep is checked here."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin.spec import words
from tocsin.spec.html.blocks import OUTSIDE, read_blocks
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.html.zones import ADVERTISEMENTS, HEADINGS, Zone, name_zone, to_heading, zone_by_attributes
from tocsin.spec.signals.clocks import find_clock
from tocsin.spec.signals.fleeting import is_fleeting, is_greeting, without_last_age
from tocsin.spec.suspicion.phrases import fold_words
from tocsin.spec.words import read_lists, split_phrases

FILES = sorted(Path(words.__file__).parent.glob("*.ini"))
LANGUAGE = re.compile("[a-z]{2}")


def test_there_are_lists_of_words() -> None:
    assert [path.stem for path in FILES] == ["consent", "dates", "fleeting", "marks", "places", "suspicion", "zones"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_phrase_is_empty_or_has_capital_letters(path: Path) -> None:
    lists = read_lists(path.stem)
    wrong = [
        (name, phrase)
        for name, entries in lists.items()
        # Selectors are written as the programs write them.
        if name != "buttons of products"
        for text in entries.values()
        for phrase in split_phrases(text)
        if not phrase or phrase != phrase.lower()
    ]

    assert lists
    assert wrong == []


def test_lists_by_language_have_a_line_a_language_and_phrases_that_can_match() -> None:
    lists = read_lists("suspicion")
    unfit = [
        (name, language, phrase)
        for name, entries in lists.items()
        for language, text in entries.items()
        for phrase in split_phrases(text)
        if LANGUAGE.fullmatch(language) is None or not fold_words(phrase)
    ]

    assert unfit == []


def test_a_phrase_goes_on_over_the_end_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.ini").write_text("; why\n[gone]\nen = not\n    found | gone\nde = weg\n", "utf-8")
    monkeypatch.setattr(words, "_FOLDER", tmp_path)

    lists = read_lists("some")

    assert {name: split_phrases(text) for name, text in lists["gone"].items()} == {
        "en": ["not found", "gone"],
        "de": ["weg"],
    }


def _outside(markup: str) -> bool:
    whole = parse_whole(f"<body>{markup}<p>Roses.</p>".encode(), "text/html; charset=utf-8")
    assert whole is not None
    return bool(read_blocks(whole).marks[0] & OUTSIDE)


def _is_label(phrase: str) -> bool:
    whole = parse_whole(f'<body><div aria-label="{phrase}">'.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return zone_by_attributes(whole.elements("div")[0], names=True) is Zone.APART


def _rest_of(text: str, month: int = 5) -> int | None:
    at = datetime(2026, month, 15, tzinfo=UTC)
    found = find_clock(text, (at, at), is_sentence=False)
    return None if found is None else found.rest


def _is_clock(text: str, month: int) -> bool:
    return _rest_of(text, month) is not None


# By file and list: whether an entry alone is enough to decide. "xyzzy" never is.
_DECIDE: dict[tuple[str, str], Callable[[str], bool]] = {
    ("zones", "apart"): lambda word: name_zone(word)[0] is Zone.APART,
    ("zones", "places"): lambda word: name_zone(word)[0] is Zone.PLACE,
    ("zones", "talk"): lambda word: name_zone(word)[0] is Zone.TALK,
    ("zones", "links"): lambda word: name_zone(word)[0] is Zone.LINKS,
    ("zones", "counts"): lambda word: name_zone(word)[0] is Zone.COUNT,
    ("zones", "notes"): lambda word: name_zone(word)[0] is Zone.NOTE,
    ("zones", "never"): lambda word: name_zone(f"ads {word}")[0] is None,
    ("zones", "labels"): _is_label,
    ("zones", "headings"): lambda phrase: to_heading(f"{phrase} (3)") in HEADINGS,
    ("zones", "more headings"): lambda phrase: to_heading(f"{phrase} (3)") in HEADINGS,
    ("zones", "advertisements"): lambda phrase: to_heading(f"{phrase} (3)") in ADVERTISEMENTS,
    ("zones", "more advertisements"): lambda phrase: to_heading(f"{phrase} (3)") in ADVERTISEMENTS,
    ("zones", "asking"): lambda phrase: _outside(f"<div><p>Roses {phrase} roses.</p><button>Yes</button></div>"),
    ("dates", "weekdays"): lambda name: _rest_of(f"Roses, {name} 15 May") == _rest_of("Roses, 15 May"),
    ("dates", "days"): lambda word: _is_clock(f"Roses: 5 {word}", 1),
    ("fleeting", "now"): is_greeting,
    ("fleeting", "of dates"): lambda word: is_fleeting(f"{word} 5"),
    ("fleeting", "of visits"): lambda word: is_fleeting(f"{word} 5"),
    ("fleeting", "counted"): lambda word: is_fleeting(f"xyzzy 5 {word} xyzzy"),
    ("fleeting", "counted parts"): lambda part: is_fleeting(f"5{part}"),
    ("fleeting", "people"): lambda word: is_fleeting(f"There are 5 {word} just reading."),
    ("fleeting", "now looking"): lambda phrase: is_fleeting(f"Roses: 5 {phrase}."),
    ("fleeting", "countdown"): lambda phrase: is_fleeting(f"{phrase} 10:20:30", is_item=True),
    ("fleeting", "greetings elsewhere"): is_greeting,
    ("fleeting", "ages"): lambda phrase: without_last_age(f"Jane Doe {phrase}") == "Jane Doe",
    ("fleeting", "between"): lambda word: is_fleeting(f"xyzzy 5 {word} likes xyzzy"),
}
_GREETINGS = """welcome back | good morning | good afternoon | hi Ann | hello Ann | hey Ann | signed in as Ann |
    logged in as Ann | hallo | guten Tag | willkommen zurück | angemeldet als Ann | moin | bonjour | bonsoir | salut |
    bon retour |
    content de vous revoir | hola | buenos días | buenas tardes | bienvenida de nuevo | bienvenido de nuevo | ciao |
    buongiorno | buonasera | bentornata | bentornato | olá | bom dia | boa tarde | welkom terug | goedemorgen | witaj |
    cześć | здравствуйте | добрый день | доброе утро | добро пожаловать | с возвращением"""


@pytest.mark.parametrize(("file", "name"), _DECIDE, ids=lambda part: part)
def test_each_entry_of_a_list_decides_alone(file: str, name: str) -> None:
    decides, entries = _DECIDE[file, name], read_lists(file)[name]

    told = entries["words"].split() if "words" in entries else split_phrases(entries["phrases"])

    assert [entry for entry in told if not decides(entry)] == []
    assert not decides("xyzzy")


def test_each_word_that_begins_a_greeting_has_one() -> None:
    greetings = split_phrases(_GREETINGS)

    assert {greeting.split()[0] for greeting in greetings} == set(
        read_lists("fleeting")["greeting words"]["words"].split()
    )
    assert [greeting for greeting in greetings if not is_greeting(greeting)] == []


def test_each_name_of_a_month_makes_a_date_with_a_day() -> None:
    entries = read_lists("dates")["months"]
    names = [(name, int(number)) for number, written in entries.items() for name in written.split()]

    assert [name for name, month in names if not _is_clock(f"Roses on 15 {name}", month)] == []
    assert not _is_clock("Roses on 15 xyzzy", 1)


@pytest.mark.parametrize("file", ["fleeting", "zones"])
def test_every_list_is_tried(file: str) -> None:
    assert {name for each, name in _DECIDE if each == file} == set(read_lists(file)) - {"greeting words"}
