"""What pages are written with: words, sentences and phrases of one language, from `languages/*.toml`."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

_FOLDER = Path(__file__).parent / "languages"
_SLOT = re.compile(r"\{(\w+)\}")
NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
UNSEEN = tuple(sorted(path.stem for path in _FOLDER.glob("unseen/*.toml")))
"""Languages that the comparing of contents was not tried on while it was written."""


def chance(*names: object) -> Random:
    """Give the chance that belongs to these names: the same one every time."""
    return Random("/".join(map(str, names)))  # noqa: S311 - the same pages every time


class Language:
    """One language.

    code  of it, as an HTML page writes it
    """

    def __init__(self, lists: dict[str, Any]) -> None:
        """Take what a file of `languages/` holds."""
        self._lists = lists
        self.code: str = lists["lang"]
        self.direction: str = lists["dir"]

    def __getitem__(self, name: str) -> str:
        """Give a phrase of which there is one."""
        phrase: str = self._lists[name]
        return phrase

    def all(self, name: str) -> list[str]:
        """Give a whole list, as it stands in the file."""
        return list(self._lists[name])

    def say(self, name: str, by: Random) -> str:
        """Draw a phrase from a list and fill its gaps; it begins with a capital where the script has any."""
        filled = self._fill(by.choice(self._lists[name]), by)
        return filled[:1].upper() + filled[1:]

    def sentences(self, count: int, by: Random) -> tuple[str, ...]:
        """Write sentences."""
        return tuple(self.say("sentences", by) for _ in range(count))

    def day(self, when: date) -> str:
        """Write a date."""
        form: str = self._lists["date"]
        month = self._lists["months"][when.month - 1]
        return form.format(day=when.day, month=month, year=when.year, number=when.month)

    def price(self, by: Random) -> str:
        """Write a price."""
        form: str = self._lists["price"]
        return form.format(n=by.randrange(4, 400), c=f"{by.randrange(100):02d}")

    def _fill(self, template: str, by: Random) -> str:
        def drawn(gap: re.Match[str]) -> str:
            if gap[1] == "d":
                return str(by.randrange(2, 60))
            if gap[1] == "dd":
                return str(by.randrange(1000, 10_000))
            return self._fill(by.choice(self._lists[gap[1]]), by)

        return _SLOT.sub(drawn, template)


@cache
def language(name: str) -> Language:
    """Read a language's file."""
    file = _FOLDER / ("unseen" if name in UNSEEN else "") / f"{name}.toml"
    return Language(tomllib.loads(file.read_text(encoding="utf-8")))
