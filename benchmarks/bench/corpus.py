"""Pages of a real one's size and shape, made from a fixed seed: 52 KB on average, a head of 5.8 KB, fifteen metas.

Tags and attributes are as dense as on pages of the web, so that a parser is as busy with a kilobyte as it would be
there. Most pages declare their encoding within the first 1,024 bytes, one in ten behind its style.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

DOCUMENTS = 200
MEAN_BYTES = 52_000
LATE = 10
"""One in so many pages declares its encoding late."""
_SHORTEST, _LONGEST = 6_000, 122_000
_TEXT = """
    river lantern ferry harbour window orchard ledger meadow signal kettle stone bridge autumn carpet engine letter
    market pebble copper ribbon winter garden saddle timber violin walnut yellow anchor basket candle donkey feather
    gravel hammer island jacket kitchen ladder mirror needle oyster pencil quarry rafter shovel tunnel
"""
_WORDS = _TEXT.split()
_DATE = b"2026-01-01T00:00:00.000000Z"
_TOKEN = b"000000000000"


class Document(NamedTuple):
    """A page but for the date of its last change, and for a token that says nothing, of which the body has one."""

    before: bytes
    between: bytes
    after: bytes

    @property
    def length(self) -> int:
        """Bytes of the whole page, in each of its versions."""
        return len(self.before) + len(_DATE) + len(self.between) + len(_TOKEN) + len(self.after)

    def parts(self, version: int, token: int = 0) -> tuple[bytes, bytes, bytes, bytes, bytes]:
        """The page in one of its versions, in pieces; another token gives other bytes that mean the same."""
        return self.before, date_of(version).encode(), self.between, b"%012d" % token, self.after

    def places(self, version: int | None, token: int | None) -> Iterator[tuple[int, bytes]]:
        """Where what differs between versions begins, and what stands there; None: what stands there stays."""
        pieces = self.parts(version or 0, token or 0)
        if version is not None:
            yield len(self.before), pieces[1]
        if token is not None:
            yield sum(map(len, pieces[:3])), pieces[3]


def date_of(version: int) -> str:
    """The date of the last change that a version declares."""
    return f"2026-01-01T00:00:00.{version:06d}Z"


def has_changed(number: int, version: int, percent: int) -> bool:
    """Whether a version is another one to the page of this number, where so many percent change; each time others."""
    return (number * 7919 + version) % 100 < percent


def documents() -> list[Document]:
    """Make the documents, the same ones every time."""
    chance = Random(20260101)  # noqa: S311 - the same pages every time
    sizes = [min(max(int(chance.lognormvariate(10.6, 0.65)), _SHORTEST), _LONGEST) for _ in range(DOCUMENTS)]
    # Scaled so that the mean is what it is said to be.
    scale = MEAN_BYTES / (sum(sizes) / len(sizes))
    return [_document(chance, number, int(size * scale)) for number, size in enumerate(sizes)]


def _document(chance: Random, number: int, size: int) -> Document:
    before, between = _head(chance, number)
    token = f'<footer data-request="{_TOKEN.decode()}">'
    start, end = token.split(_TOKEN.decode())
    body: list[str] = []
    left = size - len(before) - len(between) - len(_DATE) - len(token)
    while left > 0:
        piece = chance.choice(_PIECES)(chance)
        body.append(piece)
        left -= len(piece)
    between += "".join(body) + start
    return Document(before.encode(), between.encode(), f"{end}</footer></body></html>\n".encode())


def _head(chance: Random, number: int) -> tuple[str, str]:
    """The page up to the date of its last change, and from there to the start of what is to be read."""
    title, charset = _text(chance, 6), '<meta charset="utf-8">'
    is_late = number % LATE == 0
    style = "".join(f".{word}{{margin:{place}px}}" for place, word in enumerate(_WORDS))
    metas = [
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
    links = "\n".join(
        f'<link rel="{chance.choice(("preload", "stylesheet", "icon"))}" href="/static/{_name(chance)}.css" as="style">'
        for _ in range(28)
    )
    before = f'<!doctype html>\n<html lang="en"><head>{"" if is_late else charset}<title>{title}</title>\n'
    before += f"<style>{style}</style>\n{charset if is_late else ''}{links}\n" + "\n".join(metas)
    data = f'{{"@context": "https://schema.org", "@type": "Article", "headline": "{title}"}}'
    script = f'<script>var page = {{number: {number}, words: "{_text(chance, 40)}"}};'
    filled = "".join(f' page["{_name(chance)}"] = {chance.random():.6f};' for _ in range(55))
    between = f'">\n<script type="application/ld+json">{data}</script>\n{script}{filled}</script></head>\n'
    return before, between + f'<body class="{_text(chance, 4)}">\n'


def _menu(chance: Random) -> str:
    items = "".join(
        f'<li class="item {_name(chance)}"><a href="/{_name(chance)}/{chance.randrange(10**6)}" class="link"'
        f' data-place="{place}"><span>{_text(chance, 2)}</span></a></li>\n'
        for place in range(8)
    )
    return f'<nav aria-label="{_text(chance, 2)}"><ul class="menu {_name(chance)}">\n{items}</ul></nav>\n'


def _card(chance: Random) -> str:
    image = f"/i/{_name(chance)}-{chance.randrange(10**6)}"
    return (
        f'<div class="card {_name(chance)}" id="c{chance.randrange(10**9)}"><div class="inner"><a href="{image}">'
        f'<img src="{image}.jpg" srcset="{image}-2.jpg 2x" alt="{_text(chance, 3)}" width="320" height="200"'
        f' loading="lazy"></a><h3 class="head"><a href="/{_name(chance)}">{_text(chance, 5)}</a></h3>'
        f'<p class="lead">{_text(chance, 18)} &amp; {_text(chance, 4)}&hellip;</p><span class="tag">{_name(chance)}'
        f'</span> <time datetime="2026-03-{chance.randrange(1, 29):02d}">March</time></div></div>\n'
    )


def _prose(chance: Random) -> str:
    return (
        f'<p>{_text(chance, 30)} <a href="/{_name(chance)}">{_text(chance, 2)}</a>, <em>{_text(chance, 20)}</em></p>\n'
    )


def _table(chance: Random) -> str:
    rows = "".join(f'<tr><td class="n">{chance.random():.2f}</td><td>{_text(chance, 2)}</td></tr>' for _ in range(5))
    return f'<!-- {_text(chance, 3)} --><table class="figures"><tbody>{rows}</tbody></table>\n'


def _drawing(chance: Random) -> str:
    path = " ".join(f"{chance.randrange(99)}.{chance.randrange(9)}" for _ in range(24))
    return f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M{path}z" fill="none"></path></svg>\n'


def _script(chance: Random) -> str:
    calls = "".join(f'window.queue.push(["{_name(chance)}", {chance.randrange(999)}]);' for _ in range(40))
    return f"<script>window.queue = window.queue || []; {calls}</script>\n"


_PIECES = (_menu, _card, _card, *[_prose] * 6, _table, _drawing, _drawing, _script)


def _name(chance: Random) -> str:
    return chance.choice(_WORDS)


def _text(chance: Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))
