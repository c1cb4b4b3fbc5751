"""JSON as pages write it: read strictly, and where that fails as far as it can be understood."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_DEEPEST: Final = 60
"""Levels that are kept; what stands deeper is read over."""

_AROUND: Final = re.compile(r"<!\[CDATA\[|\]\]>|<!--|-->|/\*|\*/")
_TOKEN: Final = re.compile(r'"(?P<string>(?:[^"\\]++|\\.)*+)(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CLOSED_BY: Final = {"}": dict, "]": list}

_decode = msgspec.json.Decoder().decode


def read_json(text: str) -> tuple[list[Any], str | None]:
    """Read the values of a text, one if it is JSON; takes time in proportion to its length, and never raises.

    Returns what was understood, objects and arrays alone where it is no JSON, and in words what is wrong with it.
    """
    try:
        return [_decode(text)], None
    except (ValueError, RecursionError) as exc:
        problem = str(exc)
    return _Loose().read(_AROUND.sub(" ", text)), problem


class _Loose:
    """What is open, from the outermost on, and in an object the name that waits for its value."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._open: list[Any] = []
        self._name: str | None = None
        self._has_colon = False
        self._too_deep = 0

    def read(self, text: str) -> list[Any]:
        for token in _TOKEN.finditer(text):
            mark, string = token[0], token["string"]
            if string is not None:
                if not self._too_deep:
                    self._take_string(string)
            elif mark in "{[":
                self._begin({} if mark == "{" else [])
            elif mark in "}]":
                self._end(_CLOSED_BY[mark])
            elif not self._too_deep:
                self._take_other(mark)
        return self._found

    def _take_string(self, string: str) -> None:
        if self._open and isinstance(self._open[-1], dict) and not self._has_colon:
            self._name = _unescape(string)
        else:
            self._put(_unescape(string))

    def _take_other(self, mark: str) -> None:
        if mark == ":":
            self._has_colon = self._name is not None
        elif mark == ",":
            self._name, self._has_colon = None, False
        else:
            self._put(_literal(mark))

    def _put(self, value: Any) -> None:
        if not self._open:
            if isinstance(value, (dict, list)):
                self._found.append(value)
            return
        inner = self._open[-1]
        if isinstance(inner, list):
            inner.append(value)
        elif self._has_colon and self._name is not None:
            inner[self._name] = value
            self._name, self._has_colon = None, False

    def _begin(self, value: Any) -> None:
        if self._too_deep or len(self._open) >= _DEEPEST:
            self._too_deep += 1
            return
        self._put(value)
        self._open.append(value)
        self._name, self._has_colon = None, False

    def _end(self, kind: type) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        place = next((at for at in range(len(self._open) - 1, -1, -1) if isinstance(self._open[at], kind)), None)
        if place is not None:
            del self._open[place:]
        self._name, self._has_colon = None, False


def _literal(mark: str) -> object:
    """Read a number, or one of JSON's three words; anything else is a text whose quotation marks were forgotten."""
    if mark in ("true", "false", "null"):
        return {"true": True, "false": False}.get(mark)
    return mark


def _unescape(string: str) -> str:
    if "\\" not in string:
        return string
    text = _ESCAPE.sub(_letter, string)
    # Two halves of one letter become that letter, and a half alone what stands for no letter.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(match: re.Match[str]) -> str:
    return chr(int(match["code"], 16)) if match["code"] else _LETTERS.get(match["letter"], match["letter"])
