"""Named statements, read once from the files beside the functions that use them.

A statement is SQL that every dialect has, with macros for what differs: `{index pages_due}`, `{ids :hosts}`,
`{greatest a b}`. Arguments are separated by spaces; one that contains spaces is put in parentheses. `{name}`
alone includes the statement of that name above it in the file.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

_HERE: Final = Path(__file__).resolve().parent
_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"^--(?! name: ).*\n", re.MULTILINE)
_MACRO: Final = re.compile(r"\{(\w+)([^{}]*)\}")
_ARGUMENTS: Final = {"index": 1, "ids": 1, "each": 2, "field": 2, "json": 1, "array": 1, "greatest": 2, "least": 2}


class Dialect(Struct, frozen=True, eq=False):
    """How one database says what the dialects of SQL say differently: a template for each macro."""

    name: str
    macros: dict[str, str]

    def expand(self, macro: str, arguments: str) -> str:
        """Write a macro as SQL. Raises KeyError for an unknown macro, ValueError for a wrong number of arguments."""
        given = _split(arguments)
        if len(given) != _ARGUMENTS[macro]:
            raise ValueError(f"{{{macro}{arguments}}}: it takes {_ARGUMENTS[macro]} arguments")
        return self.macros[macro].format(*given)


SQLITE: Final = Dialect(
    "sqlite",
    {
        "index": "indexed by {0}",
        # Keys come as one JSON array: as a list of values, and as a table with the column `value`.
        "ids": "(select value from json_each({0}))",
        "each": "json_each({0}) {1}",
        "field": "{0} ->> '$.{1}'",
        # Text that another program wrote may be no JSON: then it is null.
        "json": "iif(json_valid({0}), {0}, null)",
        "array": "json_group_array({0})",
        # With two arguments `max` is no aggregate. Neither argument may be null: dialects differ there.
        "greatest": "max({0}, {1})",
        "least": "min({0}, {1})",
    },
)


@cache
def queries(area: str, dialect: Dialect = SQLITE) -> dict[str, str]:
    """Read the statements of one area, by name, as a dialect has them.

    area  the file's name, without its ending
    """
    parts = _NAME.split(_COMMENT.sub("", _files()[area].read_text(encoding="utf-8")))
    found: dict[str, str] = {}

    def written(match: re.Match[str]) -> str:
        name, arguments = match.groups()
        return dialect.expand(name, arguments) if arguments else found[name]

    for name, sql in zip(parts[1::2], parts[2::2], strict=True):
        text, left = sql.strip().removesuffix(";"), 1
        # Macros may be nested: the innermost are expanded first.
        while left:
            text, left = _MACRO.subn(written, text)
        found[name] = text
    return found


def areas() -> list[str]:
    """Name the areas that there are."""
    return sorted(_files())


@cache
def _files() -> dict[str, Path]:
    return {path.stem: path for path in _HERE.parent.rglob("*.sql")}


def _split(arguments: str) -> list[str]:
    """Split arguments at the spaces outside of parentheses and quotes."""
    return re.findall(r"(?:'[^']*'|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^\s()'])+", arguments)
