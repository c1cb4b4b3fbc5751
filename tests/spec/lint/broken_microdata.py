"""For each rule of microdata, pages that break it and pages that do not."""

from __future__ import annotations

_WORK = "itemscope itemtype=http://n.whatwg.org/work"
_BOAT = "itemscope itemtype=http://boats.example/boat"

MICRODATA_ERRORS: tuple[tuple[str, str, str], ...] = (
    ("MD-01", "<p itemscope=true>x</p>", "<p itemscope=ITEMSCOPE>x</p>"),
    ("MD-02", "<p itemtype='http://boats.example/boat'>x</p>", f"<p {_BOAT}>x</p>"),
    ("MD-03", "<p itemscope itemtype=boat>x</p>", f"<p {_BOAT}>x</p>"),
    ("MD-03", "<p itemscope itemtype=''>x</p>", "<p itemscope>x</p>"),
    ("MD-03", "<p itemscope itemtype=' http://boats.example/boat'>x</p>", f"<p {_BOAT}>x</p>"),
    ("MD-03", "<p itemscope itemtype='http://boats.example/a|b'>x</p>", f"<p {_BOAT}>x</p>"),
    ("MD-03", "<p itemscope itemtype='http://www.w3.org/1999/xhtml/microdata#x'>x</p>", f"<p {_BOAT}>x</p>"),
    ("MD-05", f"<p {_BOAT} itemid='a b'>x</p>", f"<p {_BOAT} itemid=' urn:x-hull:7 '>x</p>"),
    ("MD-06", "<p itemscope itemid=urn:x-hull:7>x</p>", f"<p {_BOAT} itemid=urn:x-hull:7>x</p>"),
    ("MD-06", "<p itemid=urn:x-hull:7>x</p>", f"<p {_BOAT} itemid=''>x</p>"),
    (
        "MD-06",
        f"<p {_WORK} itemid=urn:x-hull:7><a itemprop=work href=x>x</a></p>",
        f"<p {_WORK}><a itemprop=work href=x>x</a></p>",
    ),
    ("MD-07", "<p itemref=a>x</p><p id=a>y</p>", "<p itemscope itemref=a>x</p><p id=a>y</p>"),
    (
        "MD-07",
        "<p itemscope itemref=A>x</p><p id=a>y</p>",
        "<p itemscope itemref='b a'>x</p><p id=a>y</p><p id=b>z</p>",
    ),
    ("MD-08", "<p itemscope><b itemprop=a.b>x</b></p>", f"<p {_BOAT}><b itemprop='a.b http://a.example/b'>x</b></p>"),
    ("MD-08", "<p itemscope><b itemprop=a:b>x</b></p>", "<p itemscope><b itemprop='ab urn:a:b'>x</b></p>"),
    ("MD-08", "<p itemscope><b itemprop=''>x</b></p>", "<p itemscope><b itemprop=a>x</b></p>"),
    (
        "MD-08",
        f"<p {_BOAT}><b itemprop='http://www.w3.org/1999/xhtml/microdata#a'>x</b></p>",
        f"<p {_BOAT}><b itemprop=crew itemscope><i itemprop=a.b>x</i></b></p>",
    ),
    (
        "MD-13",
        "<div itemscope itemref=a><p id=a itemprop=a>x</p></div>",
        "<p itemscope itemref=a></p><p id=a itemprop=a>",
    ),
    ("MD-13", "<p itemscope itemref='a b'></p><p id=a><b id=b>x</b></p>", "<p itemscope itemref=a></p><p id=a>x</p>"),
    ("MD-15", "<p itemprop=a>x</p>", "<p itemscope><b itemprop=a>x</b></p>"),
    ("MD-15", "<p itemscope itemprop=a>x</p>", "<p itemscope><b itemprop=a itemscope>x</b></p>"),
    ("TOK-02", "<p itemscope><b itemprop='a a'>x</b></p>", "<p itemscope><b itemprop='a A'>x</b></p>"),
    ("TOK-02", "<p itemscope itemref='a a'></p><p id=a>x</p>", "<p itemscope itemref=a></p><p id=a>x</p>"),
    ("WK-01", f"<p {_WORK}>x</p>", f"<p {_WORK}><a itemprop='work license' href=x>x</a></p>"),
    (
        "WK-01",
        f"<p {_WORK}><a itemprop=work href=x>x</a><b itemprop=title>x</b><b itemprop=title>y</b></p>",
        f"<p {_WORK}><a itemprop=work href=x>x</a><b itemprop=title>x</b><b itemprop=author>y</b></p>",
    ),
    (
        "WK-01",
        f"<p {_WORK}><b itemprop=work>x</b></p>",
        f"<p {_WORK}><img itemprop=work src=x><a itemprop=license href=y>y</a><a itemprop=license href=z>z</a></p>",
    ),
    (
        "WK-01",
        f"<p {_WORK}><a itemprop=work href=x>x</a><b itemprop=author itemscope>y</b></p>",
        f"<p {_WORK}><a itemprop='work http://a.example/p' href=x>x</a></p>",
    ),
    (
        "WK-01",
        f"<p {_WORK}><a itemprop=work href=x>x</a><b itemprop=licence>y</b></p>",
        f"<p {_WORK}><a itemprop=work href=x>x</a><a itemprop=license href=y>y</a></p>",
    ),
)
"""Rule, a part of a page in which something breaks it, one in which nothing does."""

_REFERRING = "<p itemscope itemref=b></p><b id=b itemscope itemprop=x itemref=c></b>"
MICRODATA_WARNINGS: tuple[tuple[str, str, str], ...] = (
    (
        "MD-11",
        "<p itemscope><b itemprop=url>http://a.example/</b></p>",
        "<p itemscope><a itemprop=url href=http://a.example/>x</a><b itemprop=note>Note: soon</b></p>",
    ),
    (
        "MD-11",
        "<p itemscope><b itemprop=day>2026-11-21</b></p>",
        "<p itemscope><time itemprop=day datetime=2026-11-21>today</time><b itemprop=score>10:20</b></p>",
    ),
    (
        "MD-11",
        "<p itemscope><time itemprop=day>2026-11-21</time></p>",
        "<p itemscope><time itemprop=day datetime=2026-11-21>21 November</time></p>",
    ),
    (
        "MD-12",
        f"{_REFERRING}<b id=c itemscope itemprop=y itemref=b></b>",
        f"{_REFERRING}<b id=c itemscope itemprop=y></b>",
    ),
    ("MD-18", "<p itemscope itemtype='http://a.example/x http://a.example/y'>x</p>", f"<p {_BOAT}>x</p>"),
)
"""The same, of what is unwise."""
