"""Numbers by which people name what the store keeps."""

from __future__ import annotations

from typing import Final

import click

_LARGEST: Final = 2**63 - 1
"""That a store can keep."""


class Number(click.IntRange):
    """The number of something that is listed.

    what   it names, such as "a question"
    where  the command that lists it
    """

    name = "number"

    def __init__(self, what: str, where: str) -> None:
        super().__init__(min=1, max=_LARGEST)
        self._what, self._where = what, where

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number; whatever is none is refused in words."""
        text = str(value)
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(_LARGEST)) else 0
        if not 1 <= number <= _LARGEST:
            self.fail(f"{text[:40]!r} is not the number of {self._what}; see: {self._where}", param, ctx)
        return number
