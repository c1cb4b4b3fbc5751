"""Pages of a real one's size and shape, made from a fixed seed: about 52 KB on average, with fifteen meta elements."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

DOCUMENTS = 200
MEAN_BYTES = 52_000
_SHORTEST, _LONGEST = 6_000, 122_000
_TEXT = """
    river lantern ferry harbour window orchard ledger meadow signal kettle stone bridge autumn carpet engine letter
    market pebble copper ribbon winter garden saddle timber violin walnut yellow anchor basket candle donkey feather
    gravel hammer island jacket kitchen ladder mirror needle oyster pencil quarry rafter shovel tunnel
"""
_WORDS = _TEXT.split()
_DATE = b"2026-01-01T00:00:00.000000Z"


class Document(NamedTuple):
    """A page but for the date of its last change, which stands between the two parts."""

    before: bytes
    after: bytes

    @property
    def length(self) -> int:
        """Bytes of the whole page."""
        return len(self.before) + len(_DATE) + len(self.after)

    def parts(self, version: int) -> tuple[bytes, bytes, bytes]:
        """The page in one of its versions, in three parts."""
        return self.before, b"2026-01-01T00:00:00.%06dZ" % version, self.after


def documents() -> list[Document]:
    """Make the documents, the same ones every time."""
    chance = Random(20260101)  # noqa: S311 - the same pages every time
    sizes = [min(max(int(chance.lognormvariate(10.6, 0.65)), _SHORTEST), _LONGEST) for _ in range(DOCUMENTS)]
    # Scaled so that the mean is what it is said to be.
    scale = MEAN_BYTES / (sum(sizes) / len(sizes))
    return [_document(chance, number, int(size * scale)) for number, size in enumerate(sizes)]


def _document(chance: Random, number: int, size: int) -> Document:
    title = _text(chance, 6)
    metas = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="description" content="{_text(chance, 24)}">',
        f'<meta name="author" content="{_text(chance, 2)}">',
        f'<meta name="keywords" content="{_text(chance, 12)}">',
        f'<meta property="og:title" content="{title}">',
        f'<meta property="og:description" content="{_text(chance, 20)}">',
        '<meta property="og:type" content="article">',
        f'<meta name="generator" content="{_text(chance, 1)} {number % 7}">',
        '<meta name="created" content="2020-05-01">',
        '<meta name="dcterms.modified" content="2024-02-01T08:30Z">',
        '<meta name="topper-major" content="2021-03-04">',
        '<meta name="topper-minor" content="2022-05-06 2023-07-08">',
        '<meta name="page-version" content="1">',
        '<meta property="article:modified_time" content="',
    ]
    style = "".join(
        f".{word}{{margin:{place}px;color:#{place * 7919 % 4096:03x}}}" for place, word in enumerate(_WORDS)
    )
    head = f"<!doctype html>\n<html lang=en><head><title>{title}</title>\n<style>{style}</style>\n" + "\n".join(metas)
    after = f'">\n<script>var page = {{number: {number}, words: "{_text(chance, 40)}"}};</script></head>\n<body>'
    body: list[str] = []
    left = size - len(head) - len(after) - len(_DATE)
    while left > 0:
        piece = f'<div class="{chance.choice(_WORDS)}"><p><a href="/{chance.randrange(10**6)}">{_text(chance, 3)}</a> '
        piece += f"{_text(chance, 40)}</p></div>\n"
        body.append(piece)
        left -= len(piece)
    return Document(head.encode(), (after + "".join(body) + "</body></html>").encode())


def _text(chance: Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))
