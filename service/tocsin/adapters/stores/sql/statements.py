"""Named queries, read once from the files beside the functions that use them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--(?! name: ).*\n", re.MULTILINE)
_INCLUDED = re.compile(r"\{(\w+)\}")


@cache
def queries(area: str) -> dict[str, str]:
    """Read the queries of one area, by name.

    area  the file's name, without its ending; `{name}` in a query stands for the query of that name above it
    """
    text = _COMMENT.sub("", _files()[area].read_text(encoding="utf-8"))
    parts = _NAME.split(text)
    found: dict[str, str] = {}
    for name, sql in zip(parts[1::2], parts[2::2], strict=True):
        found[name] = _INCLUDED.sub(lambda match: found[match[1]], sql.strip().removesuffix(";"))
    return found


def areas() -> list[str]:
    """Name the areas that there are."""
    return sorted(_files())


@cache
def _files() -> dict[str, Path]:
    return {path.stem: path for path in _HERE.rglob("*.sql")}
