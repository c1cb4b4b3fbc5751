"""Statements are SQL of every dialect: what dialects say differently is a macro."""

from __future__ import annotations

import re

import pytest

from tocsin.adapters.stores.postgres.session import POSTGRES
from tocsin.adapters.stores.sql.statements import SQLITE, areas, queries

OWN_WORDS = re.compile(
    r"json_each|json_group_array|json_extract|json_valid|->> '\$|indexed by|\biif\(|insert or |\browid|unixepoch|"
    r"\bglob\b|row_digest|fields_json|is_readable|outcome_code|[{}]"
)


def test_statements_for_postgresql_have_no_word_of_sqlite() -> None:
    found = {
        f"{area}.{name}": words
        for area in areas()
        for name, text in queries(area, POSTGRES).items()
        if (words := OWN_WORDS.findall(text))
    }

    assert found == {}


# Run by `PostgresStore` itself: a batch in one round trip, which a file in the same process needs not.
ITS_OWN = {"note_same_at_once", "note_same_anew_at_once"}


def test_each_statement_of_its_own_that_postgresql_has_stands_for_a_shared_one() -> None:
    assert POSTGRES.own is not None
    for file in sorted(POSTGRES.own.iterdir()):
        shared = queries(file.stem)
        text = file.read_text(encoding="utf-8")
        own = re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)
        assert own
        # Its other fragments are inserted by its own statements.
        assert {name for name in own if f"{{{name}}}" not in text} <= shared.keys() | ITS_OWN


@pytest.mark.parametrize(
    ("macro", "arguments", "text"),
    [
        ("index", " pages_due", "indexed by pages_due"),
        ("ids", " :hosts", "(select value from json_each(:hosts))"),
        ("each", " :hosts a", "json_each(:hosts) a"),
        ("field", " r.instruction kind", "r.instruction ->> '$.kind'"),
        ("greatest", " coalesce(a, 0) (b - :back)", "max(coalesce(a, 0), (b - :back))"),
        ("then", " pages p", "cross join pages p"),
        ("list", " a.b (c + 1) d", "json_array(a.b, (c + 1), d)"),
        ("json", " p.settings", "iif(json_valid(p.settings), p.settings, null)"),
    ],
)
def test_a_macro_becomes_what_the_dialect_says(macro: str, arguments: str, text: str) -> None:
    assert SQLITE.expand(macro, arguments) == text


@pytest.mark.parametrize("arguments", [" a", " a b c"])
def test_a_macro_with_other_arguments_than_it_takes_is_refused(arguments: str) -> None:
    with pytest.raises(ValueError, match="greatest"):
        SQLITE.expand("greatest", arguments)
