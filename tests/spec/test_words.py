"""The lists of words are data that translators edit: what they must keep is checked here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tocsin.spec import words
from tocsin.spec.suspicion.phrases import fold_words
from tocsin.spec.words import read_lists, split_phrases

FILES = sorted(Path(words.__file__).parent.glob("*.ini"))
LANGUAGE = re.compile("[a-z]{2}")


def test_there_are_lists_of_words() -> None:
    assert [path.stem for path in FILES] == ["fleeting", "marks", "places", "suspicion", "zones"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_phrase_is_empty_or_has_capital_letters(path: Path) -> None:
    lists = read_lists(path.stem)
    wrong = [
        (name, phrase)
        for name, entries in lists.items()
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
