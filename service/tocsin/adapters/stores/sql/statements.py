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
_ARGUMENTS: Final = {
    "index": 1, "then": 2, "schedule": 1, "scheduled": 1, "off": 1,
    "ids": 1, "names": 1, "each": 2, "each_name": 2, "list": None, "array": 1, "field": 2, "json": 1,
    "title_key": 1, "greatest": 2, "least": 2, "same": 2, "differ": 2, "flag": 1, "whole": 1, "bytes": 1, "quoted": 1,
    "lock": 1, "update": 1, "share": 1, "ours": 1, "claim": 1,
}  # fmt: skip


class Dialect(Struct, frozen=True, eq=False):
    """How one database says what the dialects of SQL say differently.

    macros  a template for each macro; `list` takes any number of arguments, as one
    own     a folder of statements that macros do not reach: a file of an area has those that differ, by their names,
            and fragments of its own
    """

    name: str
    macros: dict[str, str]
    own: Path | None = None

    def expand(self, macro: str, arguments: str) -> str:
        """Write a macro as SQL. Raises KeyError for an unknown macro, ValueError for a wrong number of arguments."""
        given = _split(arguments)
        wanted = _ARGUMENTS[macro]
        if wanted is None:
            given = [", ".join(given)]
        elif len(given) != wanted:
            raise ValueError(f"{{{macro}{arguments}}}: it takes {wanted} arguments")
        return self.macros[macro].format(*given)


SQLITE: Final = Dialect(
    "sqlite",
    {
        "index": "indexed by {0}",
        # A join in this order; `on` follows.
        "then": "cross join {0} {1}",
        # Pages that are due at some time and not paused, and what says so where the table has others, too.
        "schedule": "pages {0} indexed by pages_due",
        "scheduled": "{0}.next_at is not null and {0}.paused = 0",
        "off": "{0}.next_at is null and {0}.next_why = 'off'",
        # Keys come as a JSON array, of numbers or of texts: as a list, and as a table with the column `value`.
        "ids": "(select value from json_each({0}))",
        "names": "(select value from json_each({0}))",
        "each": "json_each({0}) {1}",
        "each_name": "json_each({0}) {1}",
        "list": "json_array({0})",
        "array": "json_group_array({0})",
        "field": "{0} ->> '$.{1}'",
        # Text that another program wrote may be no JSON: then it is null.
        "json": "iif(json_valid({0}), {0}, null)",
        # What pages are sorted by: the beginning of their title. ASCII letters are compared without their case.
        "title_key": "lower(substr({0}.title, 1, 16))",
        # With two arguments `max` is no aggregate. Neither argument may be null: dialects differ there.
        "greatest": "max({0}, {1})",
        "least": "min({0}, {1})",
        # Equal, or both null.
        "same": "{0} is {1}",
        "differ": "{0} is not {1}",
        # 1 or 0.
        "flag": "{0}",
        "whole": "cast({0} as integer)",
        # Text as bytes: a fault of the disk can leave what is no text.
        "bytes": "cast({0} as blob)",
        "quoted": "quote({0})",
        # Rows that another transaction has locked are left out; SQLite has one writer at a time.
        "lock": "",
        "update": "",
        "share": "",
        # Hosts of the parts that a node holds, and the part and epoch of a host. In a file there is one part.
        "ours": "true",
        "claim": "0, :epoch",
    },
)


@cache
def queries(area: str, dialect: Dialect = SQLITE) -> dict[str, str]:
    """Read the statements of one area, by name, as a dialect has them.

    area  the file's name, without its ending
    """
    found: dict[str, str] = {}
    own = {} if dialect.own is None else _named(dialect.own / f"{area}.sql")

    def written(match: re.Match[str]) -> str:
        name, arguments = match.groups()
        return dialect.expand(name, arguments) if arguments else found.get(name) or own[name]

    for name, sql in {**own, **_named(_files()[area])}.items():
        text, left = own.get(name, sql), 1
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
    return {path.stem: path for path in _HERE.rglob("*.sql")}


def _named(file: Path) -> dict[str, str]:
    """Read the statements of a file by name, their macros as they are; none where there is no file."""
    if not file.exists():
        return {}
    parts = _NAME.split(_COMMENT.sub("", file.read_text(encoding="utf-8")))
    return {name: sql.strip().removesuffix(";") for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


def _split(arguments: str) -> list[str]:
    """Split arguments at the spaces outside of parentheses and quotes."""
    return re.findall(r"(?:'[^']*'|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^\s()'])+", arguments)
