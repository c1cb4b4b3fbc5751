# ruff: noqa: E501 -- pages, as they are sent
"""What pages of these tests are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

ASKED = "https://www.example.org/guides/garden/roses"

_STYLE = (
    "<style>body{font-family:system-ui,sans-serif;margin:0;background:#fff;color:#222}"
    ".box{max-width:36rem;margin:12vh auto;padding:1rem}h1{font-size:1.6rem}a{color:#06c}</style>"
)


@dataclass(frozen=True)
class StandIn:
    """A response that came where a page was."""

    kind: str
    body: str
    status: int = 200
    final_url: str = ASKED
    headers: tuple[tuple[str, str], ...] = field(default=())
    url: str = ASKED


def document(title: str, body: str, *, head: str = "", lang: str = "en", attributes: str = "") -> str:
    """A whole page."""
    return (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{_STYLE}{head}</head>'
        f"<body{attributes}>{body}</body></html>"
    )


FURNITURE = """
<header class="site-header"><a class="logo" href="/">Rose &amp; Spade</a>
<nav><ul><li><a href="/guides">Guides</a></li><li><a href="/plants">Plants</a></li><li><a href="/tools">Tools</a></li>
<li><a href="/seasons">Seasons</a></li><li><a href="/shop">Shop</a></li><li><a href="/about">About us</a></li></ul></nav>
<form action="/search"><input type="search" name="q" placeholder="Search"><button>Search</button></form></header>
"""
FOOT = """
<footer><p>Rose &amp; Spade is written by gardeners in three countries. All texts may be quoted with a link.</p>
<ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li><li><a href="/contact">Contact</a>
</li></ul><p>© 2026 Rose &amp; Spade</p></footer>
"""
