"""Words and marks as data: a file for each use, which a translator can correct without reading Python.

A file is read once, at the import of the module that needs it: a process without a free file handle must still be able
to judge a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from configparser import RawConfigParser
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent


class _Parser(RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr  # names of products keep their capital letters


def read_lists(name: str) -> Mapping[str, Mapping[str, str]]:
    """Read a file of this folder.

    name  without its ending
    Returns its lists by name. The entries of a list are by language or product; a list that needs neither has one
            entry: `words`, `phrases` or `marks`.
    """
    parser = _Parser(delimiters=("=",), comment_prefixes=(";",))
    file = _FOLDER / f"{name}.ini"
    parser.read_string(file.read_text("utf-8"), file.name)
    return {section: dict(parser.items(section)) for section in parser.sections()}


def to_words(entries: Mapping[str, str]) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(entries["words"].split())


def to_phrases(entries: Mapping[str, str]) -> frozenset[str]:
    """Return the phrases of a list, with one space between their words."""
    return frozenset(split_phrases(entries["phrases"]))


def split_phrases(text: str) -> list[str]:
    """Split a text at each `|`, and fold the white space in each phrase into one space."""
    return [" ".join(phrase.split()) for phrase in text.split("|")]
