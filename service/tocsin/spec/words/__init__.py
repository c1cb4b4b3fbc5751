"""The words of people's languages, as data: a file for each use, which a translator can correct without reading Python.

A file is read once, when what needs it is imported: a process that has no file handle left must still judge a page.
"""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER: Final = Path(__file__).parent


def read_lists(name: str) -> Mapping[str, Mapping[str, str]]:
    """Read a file of this folder.

    name  without its ending
    Returns its lists by name; each by language, or with one entry, `words` or `phrases`, where languages are mixed.
    """
    parser = ConfigParser(delimiters=("=",), comment_prefixes=(";",), interpolation=None)
    file = _FOLDER / f"{name}.ini"
    parser.read_string(file.read_text("utf-8"), file.name)
    return {section: dict(parser.items(section)) for section in parser.sections()}


def to_words(entries: Mapping[str, str]) -> frozenset[str]:
    """Give the words of a list."""
    return frozenset(entries["words"].split())


def to_phrases(entries: Mapping[str, str]) -> frozenset[str]:
    """Give the phrases of a list, one space between their words."""
    return frozenset(split_phrases(entries["phrases"]))


def split_phrases(text: str) -> list[str]:
    """Split a text at each `|`; one space stays between the words of a phrase."""
    return [" ".join(phrase.split()) for phrase in text.split("|")]
