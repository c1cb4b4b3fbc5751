"""How a site names the parts of its pages: tags, classes and ids, from `skins.toml` and `skins_unseen.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from html import escape
from pathlib import Path
from zlib import crc32

_FILES = tuple(Path(__file__).parent / name for name in ("skins.toml", "skins_unseen.toml"))
_PARTS = re.compile(r"([.#])([^.#\[]+)|\[([\w-]+)=([^\]]*)\]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@cache
def _skins() -> dict[str, dict[str, str]]:
    return {name: roles for file in _FILES for name, roles in tomllib.loads(file.read_text(encoding="utf-8")).items()}


class Skin:
    """The names of one site.

    name     a table of one of the files
    number   of the page, for ids
    build    names the release of the site: names made by a machine change with it
    variant  a class more on every part, as tests of variants leave it; "" for none
    """

    def __init__(self, name: str, number: int, build: str, variant: str) -> None:
        """Take a site's names as one visit finds them."""
        self._roles = {**_skins()["bare"], **_skins()[name]}
        self.name, self._number, self._build, self._variant = name, number, build, variant

    def part(self, role: str, inner: str, **attributes: str) -> str:
        """Give a part of the page with what is in it; a role that the site has no element for is what is in it."""
        written = self._roles[role].replace("%", str(self._number)).replace("$", self._hashed(role))
        tag = re.split(r"[.#\[]", written, maxsplit=1)[0]
        if not tag:
            return inner
        classes = [name for sign, name, _, _ in _PARTS.findall(written) if sign == "."]
        if classes and self._variant:
            classes.append(self._variant)
        found = {"class": " ".join(classes)} if classes else {}
        ids = [name for sign, name, _, _ in _PARTS.findall(written) if sign == "#"]
        found |= {"id": ids[0]} if ids else {}
        found |= {key: value for _, _, key, value in _PARTS.findall(written) if key}
        found |= {key.replace("_", "-"): value for key, value in attributes.items()}
        text = "".join(f' {key}="{escape(value)}"' for key, value in found.items())
        return f"<{tag}{text}>{inner}</{tag}>"

    def block(self, role: str, inner: str, **attributes: str) -> str:
        """Give a part that stands on lines of its own."""
        return f"{self.part(role, f'{chr(10)}{inner}{chr(10)}', **attributes)}\n"

    def _hashed(self, role: str) -> str:
        left = crc32(f"{role}/{self._build}".encode())
        letters = []
        for _ in range(6):
            left, place = divmod(left, len(_LETTERS))
            letters.append(_LETTERS[place])
        return f"css-{''.join(letters)}"
