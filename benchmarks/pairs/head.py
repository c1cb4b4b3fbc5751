"""What a page holds that nobody reads: meta elements, structured data, styles, scripts and their state."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape

from benchmarks.pairs.language import chance
from benchmarks.pairs.story import Story, texts
from benchmarks.pairs.visit import Visit

_NAMES = (
    "grid",
    "card",
    "hero",
    "menu",
    "panel",
    "badge",
    "media",
    "shelf",
    "stack",
    "field",
    "modal",
    "badge",
    "crumb",
)


def head(visit: Visit, story: Story) -> str:
    """Give the head element."""
    title, lead = escape(story.title), escape(story.blocks[0].rows[0][0])
    version = visit.token("assets", letters=8)
    lines = [
        '<meta charset="utf-8">',
        f"<title>{title}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="description" content="{lead}">',
        f'<meta property="og:title" content="{title}">',
        f'<meta property="og:description" content="{lead}">',
        f'<link rel="canonical" href="https://site.example/{visit.page.name}">',
        f'<link rel="stylesheet" href="/assets/site.css?v={version}">',
        f'<meta name="csrf-token" content="{visit.token("csrf", letters=40)}">',
        f'<meta name="request-id" content="{visit.token("request-id")}">',
        f"<style>{_styles(visit.page.drawn)}</style>",
        *_declared(visit, story),
        f'<script nonce="{visit.token("nonce")}" src="/assets/site.{version}.js" defer></script>',
    ]
    return f"<head>\n{chr(10).join(lines)}\n</head>\n"


def _declared(visit: Visit, story: Story) -> list[str]:
    """What the page says of its last change; many say nothing."""
    published, modified = (f"{day.isoformat()}T08:00:00+00:00" for day in (story.published, story.modified))
    lines = []
    if visit.has("article times", 0.35):
        lines.append(f'<meta property="article:published_time" content="{published}">')
        lines.append(f'<meta property="article:modified_time" content="{modified}">')
    if visit.has("og:updated_time", 0.15):
        lines.append(f'<meta property="og:updated_time" content="{modified}">')
    if visit.has("last-modified", 0.05):
        lines.append(f'<meta http-equiv="last-modified" content="{story.modified:%a, %d %b %Y} 08:00:00 GMT">')
    if visit.has("json-ld", 0.45):
        main = {
            "@type": "Article",
            "headline": story.title,
            "datePublished": published,
            "dateModified": modified,
            "author": {"@type": "Person", "name": story.author},
        }
        data = {"@context": "https://schema.org", "@graph": [main, {"@type": "WebSite", "name": "Site"}]}
        lines.append(f'<script type="application/ld+json">{_json(data)}</script>')
    return lines


def scripts(visit: Visit, story: Story) -> str:
    """Give the scripts at the end of the body, with their state."""
    nonce = visit.token("nonce")
    fixed, calls = _fixed_script(visit.page.drawn)
    settings = {**fixed, "request": visit.token("state"), "rendered": visit.by("state").randrange(10**10)}
    found = f'<script nonce="{nonce}">var settings = {_json(settings)};</script>\n'
    found += f'<script nonce="{nonce}">{calls}</script>\n'
    if visit.page.skin in {"hashed", "shop"}:
        state = {
            "props": {"text": texts(story)},
            "build": visit.token("assets", "build"),
            "session": visit.token("state", 1),
        }
        found += f'<script id="__NEXT_DATA__" type="application/json">{_json(state)}</script>\n'
    stamp = visit.by("request-id").randrange(1, 999)
    return f"{found}<!-- rendered in {stamp} ms by web-{stamp % 7}, request {visit.token('request-id')} -->\n"


@lru_cache(maxsize=2)
def _styles(drawn: str) -> str:
    by = chance(drawn, "styles")
    rules = (
        f".{by.choice(_NAMES)}-{by.randrange(99)}{{margin:{by.randrange(64)}px;color:#{by.randrange(4096):03x}}}"
        for _ in range(by.randrange(100, 900))
    )
    return "".join(rules)


@lru_cache(maxsize=2)
def _fixed_script(drawn: str) -> tuple[dict[str, object], str]:
    """What the scripts of a page hold on every visit: settings, and calls."""
    by = chance(drawn, "scripts")
    settings = {f"{by.choice(_NAMES)}{by.randrange(999)}": by.randrange(10**6) for _ in range(by.randrange(50, 700))}
    calls = (f'q.push(["{by.choice(_NAMES)}",{by.randrange(10**6)}]);' for _ in range(by.randrange(20, 500)))
    return {**settings}, "".join(calls)


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
