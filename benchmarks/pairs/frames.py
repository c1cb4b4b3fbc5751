"""How the parts of a page are put together: today's way, an application's, a table of tables, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from html import escape

from benchmarks.pairs import surroundings
from benchmarks.pairs.body import Body, to_markup
from benchmarks.pairs.head import head, scripts
from benchmarks.pairs.story import FIRST_DAY, Story
from benchmarks.pairs.visit import Visit

_WITH_COMMENTS = frozenset({"article", "blog", "plain", "shop"})
_OLD_ENCODINGS = {"ja": "shift_jis", "ru": "windows-1251", "ar": "windows-1256"}
_PLAIN = frozenset({"terms", "notice", "docs", "timetable", "wiki"})
_ICON = '<svg width="24" height="24" viewBox="0 0 24 24" role="img"><path d="M3 6h18M3 12h18M3 18h18"/></svg>'


def _today(visit: Visit) -> str:
    return visit.language.day(FIRST_DAY + timedelta(days=400 + visit.by("today").randrange(90)))


def _clock(visit: Visit) -> str:
    by = visit.by("clock")
    return f"{by.randrange(24):02d}:{by.randrange(60):02d}:{by.randrange(60):02d}"


def _menu(visit: Visit) -> str:
    sections = []
    for place, topic in enumerate(visit.language.all("topics")):
        below = "\n".join(
            f'<li class="menu-item"><a href="/{place}/{number}">{escape(entry)}</a></li>'
            for number, entry in enumerate(visit.language.all("menu"))
        )
        sections.append(f'<li class="menu-item"><a href="/{place}">{escape(topic)}</a>\n<ul>\n{below}\n</ul></li>')
    return visit.skin.block("nav", f"<ul>\n{chr(10).join(sections)}\n</ul>")


def _header(visit: Visit) -> str:
    tools = [
        f'<a href="/" class="logo">{_ICON} Site</a>',
        f'<form role="search" action="/s"><input name="q" placeholder="{escape(visit.language["search"])}">',
        f'<input type="hidden" name="authenticity_token" value="{visit.token("csrf", "search", 40)}"></form>',
    ]
    optional = {
        "today": f'<span class="date">{_today(visit)}</span>',
        "clock": f'<span class="clock">{_clock(visit)}</span>',
        "greeting": f"<span>{visit.say('greeting', 'greeting')}</span>",
        "cart": f'<a href="/cart" rel="nofollow">{visit.say("cart", "cart")}</a>',
    }
    tools += [text for name, text in optional.items() if visit.has(name, 0.6)]
    return visit.skin.block("header", f"{chr(10).join(tools)}\n{_menu(visit)}")


def _footer(visit: Visit) -> str:
    links = " ".join(f'<a href="/f/{n}">{escape(entry)}</a>' for n, entry in enumerate(visit.language.all("menu")))
    online = f"<p>{visit.say('online', 'online')}</p>\n" if visit.page.layout == "forum" else ""
    rights = f"<p>© 2025 Site. {escape(visit.language['rights'])}</p>"
    return visit.skin.block("footer", f"{online}<p>{links}</p>\n{rights}")


def _byline(visit: Visit, story: Story) -> str:
    day = story.modified.isoformat()
    marks = 'itemprop="dateModified" ' if visit.has("microdata", 0.15) else ""
    pieces = [f"{escape(visit.language['by'])} {escape(story.author)}"]
    if visit.has("published", 0.7):
        published = visit.language.day(story.published)
        pieces.append(
            f'{escape(visit.language["published"])} <time datetime="{story.published.isoformat()}">{published}</time>'
        )
    if visit.has("updated", 0.4):
        pieces.append(
            f'{escape(visit.language["updated"])}: <time {marks}datetime="{day}">'
            f"{visit.language.day(story.modified)}</time>"
        )
    counted = {"ago": "ago", "views": "views", "comment-count": "comments"}
    pieces += [
        f"<span>{visit.say(name, kind)}</span>"
        for kind, name in counted.items()
        if visit.has(f"byline {kind}", 0.3) and visit.page.layout not in _PLAIN
    ]
    return f"{visit.skin.part('meta', ' · '.join(pieces))}\n"


def _content(visit: Visit, story: Story) -> str:
    """What stands in the middle: title, byline, story and what follows it."""
    layout = visit.page.layout
    pieces = [f"{visit.skin.part('title', to_markup(story.title))}\n"]
    if layout not in {"front", "shop"}:
        pieces.append(_byline(visit, story))
    if layout not in _PLAIN:
        pieces.append(surroundings.share_buttons(visit))
    if layout == "shop":
        pieces.append(surroundings.product_counters(visit))
    body = visit.skin.block("body", Body(visit).write(story))
    if visit.by("ab-wrappers").random() < 0.5:
        body = f'<div data-experiment="{visit.token("ab-wrappers", letters=4)}">\n<div>\n{body}</div>\n</div>\n'
    pieces.append(body)
    if layout in _WITH_COMMENTS and visit.has("comments", 0.6):
        pieces.append(surroundings.comments(visit))
    if layout not in _PLAIN | {"front"}:
        pieces.append(surroundings.related(visit))
    return visit.skin.block("article", "".join(pieces))


def modern(visit: Visit, story: Story) -> str:
    """Give a page as most sites put it together."""
    asides = [] if visit.page.layout in {"terms", "notice", "timetable"} else surroundings.modules(visit)
    aside = visit.skin.block("aside", "".join(asides)) if asides else ""
    main = visit.skin.block("main", _content(visit, story))
    top = surroundings.ticker(visit) if visit.has("ticker", 0.3) and visit.page.layout not in _PLAIN else ""
    middle = f"{main}{aside}" if visit.has("aside after", 0.8) else f"{aside}{main}"
    page = visit.skin.block(
        "page", f"{_header(visit)}{top}{middle}{_footer(visit)}", data_request=visit.token("request-id")
    )
    banner = surroundings.cookie_banner(visit)
    inside = f"{banner}{page}" if visit.has("banner first", 0.5) else f"{page}{banner}"
    return _document(visit, story, inside)


def app(visit: Visit, story: Story) -> str:
    """Give a page that a server rendered for an application in the browser: nested divs and the state to go on with."""
    nested = _content(visit, story)
    for _ in range(5):
        nested = f'<div class="{visit.token("class-names", len(nested), 6)}">\n{nested}</div>\n'
    aside = visit.skin.block("aside", "".join(surroundings.modules(visit)))
    page = visit.skin.block("page", f"{_header(visit)}{nested}{aside}{_footer(visit)}")
    return _document(visit, story, f"{page}{surroundings.cookie_banner(visit)}")


def _document(visit: Visit, story: Story, inside: str) -> str:
    language = visit.language
    body = f'<body class="{visit.page.layout}" data-page="{visit.token("ids", letters=8)}">\n'
    return (
        f'<!doctype html>\n<html lang="{language.code}" dir="{language.direction}">\n{head(visit, story)}'
        f"{body}{inside}{scripts(visit, story)}</body>\n</html>\n"
    )


def old(visit: Visit, story: Story) -> str:
    """Give a page laid out with tables, paragraphs parted by line breaks."""
    rows = []
    for block in story.blocks:
        text = "<br>\n".join(" ".join(map(to_markup, row)) for row in block.rows)
        rows.append(
            f"<b><font size=3>{text}</font></b>" if block.kind == "h2" else f"<font face=Arial size=2>{text}</font>"
        )
    advert = surroundings.ad_text(visit)
    rows.insert(visit.fixed("old ad").randrange(1, len(rows)), f"<center>{advert}</center>")
    links = "".join(
        f'<tr><td bgcolor=#ddeeff><a href="{n}.html">{escape(entry)}</a></td></tr>\n'
        for n, entry in enumerate(visit.language.all("menu"))
    )
    date = f"<td align=right><small>{_today(visit)} {_clock(visit)}</small></td>"
    right = "".join(surroundings.modules(visit)[:3])
    spacer = f'<img src="spacer.gif?{visit.token("assets", letters=6)}" width=1 height=1 alt="">'
    content = "<br><br>\n".join(rows)
    inside = (
        f"<table width=760 border=0 cellspacing=0>\n<tr><td colspan=2><img src=logo.gif alt=Site></td>{date}</tr>\n"
        f"<tr>\n<td width=140 valign=top><table>\n{links}</table>{spacer}</td>\n"
        f"<td valign=top><h1>{to_markup(story.title)}</h1>\n{content}\n</td>\n"
        f"<td width=160 valign=top>{right}</td>\n</tr>\n"
        f"<tr><td colspan=3 align=center><small>{visit.say('views', 'views')} | "
        f"{escape(visit.language['rights'])}</small></td></tr>\n</table>\n"
    )
    return _bare(visit, story, inside, " bgcolor=#ffffff link=#0000cc")


def minimal(visit: Visit, story: Story) -> str:
    """Give a page that somebody wrote by hand."""
    updated = visit.language.day(story.modified)
    inside = (
        f"<p><small>{_today(visit)}</small></p>\n<h1>{to_markup(story.title)}</h1>\n{Body(visit).write(story)}<hr>\n"
        f"<address>{escape(story.author)}, {escape(visit.language['updated'])}: {updated}. "
        f"{visit.say('views', 'views')}</address>\n"
    )
    return _bare(visit, story, inside, "")


def _bare(visit: Visit, story: Story, inside: str, attributes: str) -> str:
    stamp = f"<!-- {visit.token('request-id')} {visit.by('request-id').randrange(999)} ms -->\n"
    return (
        f'<html lang="{visit.language.code}" dir="{visit.language.direction}">\n'
        f'<head><meta charset="{charset_of(visit)}">\n'
        f"<title>{escape(story.title)}</title></head>\n<body{attributes}>\n{inside}{stamp}</body></html>\n"
    )


def charset_of(visit: Visit) -> str:
    """Name the encoding of a page: many of those that are old or written by hand have one of their time."""
    has_old_one = visit.page.layout in {"old", "minimal"} and visit.has("old encoding", 0.5)
    return _OLD_ENCODINGS.get(visit.page.language, "windows-1252") if has_old_one else "utf-8"


FRAMES: dict[str, Callable[[Visit, Story], str]] = {"modern": modern, "app": app, "old": old, "minimal": minimal}
