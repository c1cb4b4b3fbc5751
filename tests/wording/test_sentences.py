"""Errors and reasons in German: each is one that the code writes, and each that a form can meet is there."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Final, get_args

import pytest

from tests.house.sources import ROOT
from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.saved import fields_of
from tocsin.spec.microdata.changes.words import ENGLISH
from tocsin.wording import sentences
from tocsin.wording.sentences import SentenceKind, Sentences
from tocsin.wording.words import words_of

CODE: Final = ROOT / "service" / "tocsin"
TABLES: Final = tomllib.loads((Path(sentences.__file__).parent / "sentences.de.toml").read_text("utf-8"))
ROWS: Final = [(kind, english, said) for kind, table in TABLES.items() for english, said in table.items()]
VALUE: Final = "@@"
"""What stands for a value in a template."""
# Where the errors arise that a form of a page, a channel, a route or a silence shows.
OF_FORMS: Final = (
    "configuration/limits.py",
    "configuration/convert.py",
    "configuration/routes.py",
    "configuration/saved.py",
    "configuration/pages.py",
    "configuration/channels.py",
    "spec/steps.py",
    "spec/html/urls.py",
    "lists/pages.py",
    "model/saved.py",
    "server/decisions.py",
    "server/notifications.py",
    "server/actions.py",
    "server/looks.py",
    "server/trials.py",
    "server/received.py",
    "adapters/stores/sql/pages/walks.py",
)
# Parts of sentences, settings that no form has, SQL, and addresses of the API.
NO_SENTENCES: Final = re.compile(
    r"activity add api|host bits|a Unix socket|a store such as|a URL without a password|a divisor of|one token, or a"
    r"|with one of the service's|an address whose path|no path like|value = |^ or $|^one of $|per \(minute|progress of"
    r"|\bselect\b|desc nulls|nulls last|order by| limit :limit"
    r"|\) as head|on true where| pages p$|: unknown key; $|^GET "
    r"|^tocsin |^--| --"
    r"|^\S+ and \S+$|^(all pages|set it anew, or |, and |your notes|given up by)|^@@ @@$|^\W*@@\W*@@$|scope belongs to"
    r"|url means one page|^ and @@ more$|: there is no such channel \(@@\)$|^job @@|^@@ @@|with no |Place \| None|^head"
)


@cache
def templates(file: Path) -> tuple[str, ...]:
    """The texts of a module but its descriptions, their values replaced."""
    found, described = [], set()
    for node in (tree := list(ast.walk(ast.parse(file.read_text("utf-8"))))):
        if isinstance(node, ast.Expr):
            described.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            described.update(map(id, node.values))
            parts = [str(each.value) if isinstance(each, ast.Constant) else VALUE for each in node.values]
            found.append("".join(parts))
    found += [
        node.value
        for node in tree
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described
    ]
    return tuple(found)


@cache
def everything() -> str:
    files = CODE.rglob("*.py")
    types = [load_type(name, ()).Settings for name in our_types()]
    hints = [each.hint for kind in types for each in fields_of(kind)]
    told = [" ".join((kind.__doc__ or "").split()) for kind in types]
    code = [text for file in files for text in templates(file)]
    phrases = [each.phrase for each in HTTPStatus]
    return "\n".join([*code, *hints, *told, *phrases])


def is_sentence(text: str) -> bool:
    return " " in text.strip() and re.search(r"[a-z]{3}", text) is not None and not NO_SENTENCES.search(text)


def is_written(part: str, cuts: int = 2) -> bool:
    """Whether the code has this text, or the two or three pieces that it is made of."""
    if part in everything():
        return True
    places = [found.start() for found in re.finditer(r" |\b(?=[:,])", part)] if cuts else []
    return any(part[:at] in everything() and is_written(part[at:].strip(), cuts - 1) for at in reversed(places))


def test_each_sentence_is_one_that_the_code_writes() -> None:
    around = {part.strip(" .") for _, english, _ in ROWS for part in english.split("{}")}

    assert {kind for kind, _, _ in ROWS} == set(get_args(SentenceKind))
    assert [part for part in sorted(around) if not is_written(part)] == []


def test_each_sentence_keeps_its_values() -> None:
    kept = re.compile(r"(?<!\{)\{\d?\}(?!\})")

    assert [english for _, english, said in ROWS if english.count("{}") != len(kept.findall(said))] == []


@pytest.mark.parametrize("file", OF_FORMS)
def test_every_error_that_a_form_can_show_is_there_in_german(file: str) -> None:
    german = words_of("de")
    english = [text for text in templates(CODE / file) if is_sentence(text)]

    assert [text for text in english if german.retell(text.strip()) == text.strip()] == []


def test_every_hint_of_a_channel_is_there_in_german() -> None:
    hints = [each.hint for name in our_types() for each in fields_of(load_type(name, ()).Settings)]

    assert [hint for hint in hints if words_of("de").retell(hint, "hints") == hint] == []


def test_english_says_what_the_code_wrote() -> None:
    assert words_of("en").retell("this time has passed; name one to come") == "this time has passed; name one to come"


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("nothing known of this", "nothing known of this"),
        ("a thing", "ein Ding"),
        ("from 1 to 2", "von 1 bis 2"),
        ("from a thing to 2", "von ein Ding bis 2"),
        ('from "a thing" to 2', 'von "a thing" bis 2'),
        ("from 1 to 2 days", "1 bis 2 Tage"),
        ("2 before 1", "erst 1, dann 2"),
        ("pages.every: from 1 to 2; a thing", "pages.every: von 1 bis 2; ein Ding"),
        ("a thing\nno thing\na thing", "ein Ding\nno thing\nein Ding"),
        ("from to", "from to"),
        ("a thing; " * 1000, "a thing; " * 1000),
    ],
)
def test_a_sentence_is_told_in_the_other_language_and_its_values_stay(english: str, said: str) -> None:
    table = {
        "a thing": "ein Ding",
        "from {} to {}": "von {} bis {}",
        "from {} to {} days": "{} bis {} Tage",
        "{} before {}": "erst {1}, dann {0}",
    }

    assert Sentences(table).retell(english) == said


@pytest.mark.parametrize(
    ("english", "said"),
    [
        (
            'login: its title says "Log in: A", and it asks for a password',
            'Anmeldung: ihr Titel sagt "Log in: A", und sie fragt nach einem Passwort',
        ),
        (
            'challenge: Cloudflare: "cf-chl" in its code; 12 letters of text',
            'Prüfung auf Robots: Cloudflare: "cf-chl" im Code; 12 Buchstaben Text',
        ),
    ],
)
def test_what_gives_another_page_away_is_told_in_german(english: str, said: str) -> None:
    assert words_of("de").retell(english, "evidence") == said


def test_the_phrases_for_data_of_pages_are_those_of_the_code() -> None:
    assert words_of("en").section("items") == ENGLISH.texts
    assert words_of("de").section("items").keys() == ENGLISH.texts.keys()
