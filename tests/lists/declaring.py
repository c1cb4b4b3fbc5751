"""Declared lists, read in tests."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from msgspec import structs

from tocsin.lists.declared import Declared, read_declared
from tocsin.model import PageRow

A, B, C = "https://example.org/a", "https://example.org/b", "https://example.net/c"


def declared(text: str, name: str = "pages.toml") -> Declared:
    """Read a list from an indented text."""
    return read_declared(dedent(text).encode(), name=name)


def in_yaml(text: str) -> Declared:
    """The same, as YAML."""
    return declared(text, "pages.yaml")


def page_row(url: str, **changes: Any) -> PageRow:
    """A page that is watched and was never checked."""
    row = PageRow(
        id=1, url=url, given=url, host="example.org", group="main", paused=False,
        text=None, settings={},
    )  # fmt: skip
    return structs.replace(row, **changes)
