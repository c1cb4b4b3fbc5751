"""Statements are SQL of every dialect: what dialects say differently is a macro."""

from __future__ import annotations

import re

import pytest

from tocsin.adapters.stores.sql.statements import SQLITE, Dialect, areas, queries

OTHER = Dialect(
    "other",
    {
        "index": "",
        "ids": "(select unnest({0}))",
        "each": "unnest({0}) as {1} (value)",
        "field": "({0}::jsonb ->> '{1}')",
        "json": "nullif({0}, '')",
        "array": "json_agg({0})",
        "greatest": "greatest({0}, {1})",
        "least": "least({0}, {1})",
    },
)
OWN_WORDS = re.compile(
    r"json_each|json_group_array|json_extract|json_valid|->> '\$|indexed by|\biif\(|insert or |\browid|unixepoch|"
    r"\bglob\b|row_digest|fields_json|is_readable|outcome_code|[{}]"
)
SQLITE_ONLY = {"invariants"}
"""Areas of statements that only SQLite runs."""
NOT_YET = {"care.listening_channels", "care.forget_alerts"}
"""Statements that a second database needs another text of: they read the configured channels from JSON."""


def test_another_dialect_has_no_word_of_sqlite_in_its_statements() -> None:
    found = {
        f"{area}.{name}": words
        for area in areas()
        if area not in SQLITE_ONLY
        for name, text in queries(area, OTHER).items()
        if (words := OWN_WORDS.findall(text))
    }

    assert {name: words for name, words in found.items() if name not in NOT_YET} == {}
    assert found.keys() >= NOT_YET


@pytest.mark.parametrize(
    ("macro", "arguments", "text"),
    [
        ("index", " pages_due", "indexed by pages_due"),
        ("ids", " :hosts", "(select value from json_each(:hosts))"),
        ("each", " :hosts a", "json_each(:hosts) a"),
        ("field", " r.instruction kind", "r.instruction ->> '$.kind'"),
        ("greatest", " coalesce(a, 0) (b - :back)", "max(coalesce(a, 0), (b - :back))"),
        ("json", " p.settings", "iif(json_valid(p.settings), p.settings, null)"),
    ],
)
def test_a_macro_becomes_what_the_dialect_says(macro: str, arguments: str, text: str) -> None:
    assert SQLITE.expand(macro, arguments) == text


@pytest.mark.parametrize("arguments", [" a", " a b c"])
def test_a_macro_with_other_arguments_than_it_takes_is_refused(arguments: str) -> None:
    with pytest.raises(ValueError, match="greatest"):
        SQLITE.expand("greatest", arguments)
