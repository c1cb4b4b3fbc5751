"""A plain list: a URL a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.lists.entries import GROUP_LETTERS, LEFT_OUT, Entry, Named, Refused

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from tocsin.lists.entries import Item

LONGEST_LINE: Final = 65_536
_HEADINGS: Final = frozenset({"url", "urls", "link", "links", "page", "pages", "address", "addresses", "loc"})


def read_lines(text: io.TextIOWrapper) -> Iterator[Item]:
    """Read a plain list; empty lines, lines that begin with `#`, and a heading are left out."""
    number, is_first = 0, True
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
            yield Refused(number, f"longer than {LONGEST_LINE} characters; a URL a line")
            _skip_line(text)
            continue
        url = line.strip()
        if not url or url.startswith("#"):
            continue
        if is_first and url.strip("\"'").lower() in _HEADINGS:
            is_first = False
            continue
        is_first = False
        if is_broken(url):
            yield Refused(number, "not UTF-8; save the list as UTF-8")
            continue
        # No URL has a blank in it: behind one people write comments, and changedetection.io tags, or ids of tags.
        url, *rest = url.split(None, 1)
        tags = [tag.strip() for tag in rest[0].split(",")] if rest and not rest[0].startswith(("#", "[", "{")) else []
        yield Entry(number, url, tags[0][:GROUP_LETTERS] if tags else None)
        if len(tags) > 1:
            yield Named(number, LEFT_OUT, f"further tags ({', '.join(tags[1:])[:80]})")


def is_broken(text: str) -> bool:
    """Whether some of it could not be decoded."""
    return any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else False


def _skip_line(text: io.TextIOWrapper) -> None:
    while (rest := text.readline(LONGEST_LINE)) and not rest.endswith(("\n", "\r")):
        pass
