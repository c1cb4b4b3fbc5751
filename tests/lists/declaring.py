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
        text=None, settings={}, next_at=None, next_why=None, last_checked_at=None, last_received_at=None,
        last_changed_at=None, last_report=None, fields=None, stored_at=None, question_id=None,
    )  # fmt: skip
    return structs.replace(row, **changes)
