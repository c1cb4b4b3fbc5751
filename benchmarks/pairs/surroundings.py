"""What stands around and between what people wrote: advertisements, links to other pages, counters, boxes, banners."""

from __future__ import annotations

from html import escape
from random import Random

from benchmarks.pairs.language import chance
from benchmarks.pairs.visit import Visit


def _path(title: str) -> str:
    return f"/{chance(title).randrange(10**6)}/page-{chance(title, 'path').randrange(10**9):x}"


def _lines(pieces: list[str]) -> str:
    return "\n".join(pieces)


def _links(headlines: list[str]) -> str:
    items = [f'<li><a href="{_path(line)}">{escape(line)}</a></li>' for line in headlines]
    return f"<ul>\n{_lines(items)}\n</ul>"


def ad_frame(visit: Visit) -> str:
    """Give an advertisement in a frame."""
    token = visit.token("ad-frames")
    frame = (
        f'<iframe id="google_ads_iframe_{token}" src="https://ads.example/serve?slot={token[:6]}&amp;ord={token}"'
        ' width="728" height="90" title="" loading="lazy"></iframe>'
    )
    return visit.skin.block("ad", frame, data_request=token)


def ad_ins(visit: Visit) -> str:
    """Give an advertisement that a script puts into an `ins` element, or that came filled."""
    by = visit.by("ad-ins")
    text = f'<a href="https://ads.example/c/{visit.token("ad-ins")}" rel="nofollow">{visit.say("ads", "ad-ins")}</a>'
    return (
        f'<ins class="adsbygoogle" style="display:block" data-ad-client="ca-pub-{visit.token("ad-ins", 1)}"'
        f' data-ad-slot="{by.randrange(10**9)}">{text if visit.has("filled ins", 0.5) else ""}</ins>\n'
        "<script>(adsbygoogle = window.adsbygoogle || []).push({});</script>\n"
    )


def ad_text(visit: Visit) -> str:
    """Give a text advertisement."""
    link = f'<a href="https://shop.example/?c={visit.token("ad-text")}" rel="sponsored nofollow" target="_blank">'
    return visit.skin.block(
        "adtext", f"<small>{visit.label('ad')}</small>\n<p>{link}{visit.say('ads', 'ad-text')}</a></p>"
    )


def ad_box(visit: Visit) -> str:
    """Give a sponsored box that looks like a part of the article."""
    by = visit.by("ad-box")
    link = f"https://brand.example/{visit.token('ad-box')}"
    first, second = (escape(visit.language.say("ads", by)) for _ in range(2))
    pieces = [
        f'<span class="label">{visit.label("ad")}</span>',
        f'<h4><a href="{link}" rel="sponsored">{escape(visit.language.say("headings", by))}</a></h4>',
        f'<img src="https://cdn.ads.example/{by.randrange(10**9)}.jpg" alt="" width="300" height="250">',
        f"<p>{first} {second}</p>",
        f'<a class="btn" href="{link}" rel="sponsored">{visit.say("more", "ab-words")}</a>',
    ]
    return visit.skin.block("adtext", _lines(pieces))


def inline_related(visit: Visit) -> str:
    """Give a line within the article that leads to another one."""
    line = visit.language.say("headings", visit.by("inline-related"))
    text = f'<strong>{visit.label("related")}:</strong> <a href="{_path(line)}">{escape(line)}</a>'
    return f"{visit.skin.part('inline', text)}\n"


def related(visit: Visit) -> str:
    """Give a box of related pages; in a shop, of other products with their prices."""
    by = visit.by("related-items")
    lines = [visit.language.say("headings", by) for _ in range(6)]
    visit.by("related-order").shuffle(lines)
    if visit.page.layout == "shop":
        cards = [
            visit.skin.block(
                "teaser",
                f'<a href="{_path(line)}"><img src="/cdn/{chance(line).randrange(9999)}.jpg" alt=""></a>\n'
                f"<h3>{escape(line)}</h3>\n<span>{visit.language.price(chance(line))}</span>",
            )
            for line in lines
        ]
        return visit.skin.block("related", f"<h2>{visit.label('related')}</h2>\n{''.join(cards)}")
    if visit.has("related teasers", 0.5):
        cards = [
            visit.skin.block(
                "teaser",
                f'<h3><a href="{_path(line)}">{escape(line)}</a></h3>\n'
                f"<p>{escape(visit.language.say('sentences', chance(line)))}</p>\n"
                f"<time>{visit.say('ago', 'ago')}</time>",
            )
            for line in lines
        ]
        return visit.skin.block("related", f"<h2>{visit.label('related')}</h2>\n{''.join(cards)}")
    return visit.skin.block("related", f"<h2>{visit.label('related')}</h2>\n{_links(lines)}")


def share_buttons(visit: Visit) -> str:
    """Give buttons to share, with what they count."""
    count = visit.say("shares", "shares")
    icon = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12h16M12 4v16"/></svg>'
    buttons = "".join(
        f'<a href="/share/{where}" rel="nofollow">{icon}{where}</a>\n' for where in ("Mail", "Feed", "Link")
    )
    return visit.skin.block("share", f"<span>{escape(visit.language['share'])}</span>\n{buttons}<span>{count}</span>")


def ticker(visit: Visit) -> str:
    """Give a ticker of other news."""
    lines = [visit.language.say("headings", visit.by("latest"))]
    lines.append(visit.language.say("sentences", visit.by("latest")))
    return visit.skin.block("ticker", f"<b>{visit.label('latest')}</b>\n{_links(lines)}")


def cookie_banner(visit: Visit) -> str:
    """Give a cookie banner, or nothing: it is gone on half of the visits."""
    by = visit.by("cookie")
    if by.random() < 0.5:
        return ""
    accept, other = visit.language.all("accept")[0], by.choice(visit.language.all("accept")[1:])
    buttons = f'<button type="button">{escape(accept)}</button>\n<button type="button">{escape(other)}</button>'
    return visit.skin.block("cookie", f"<p>{escape(visit.language.say('cookie', by))}</p>\n{buttons}")


def comments(visit: Visit) -> str:
    """Give comments: what they say stays as it is, how many they are said to be and how old does not."""
    by = visit.fixed("comments")
    items = [
        visit.skin.block(
            "comment",
            f"<b>{escape(visit.language.say('person', by))}</b> <time>{visit.say('ago', 'ago')}</time>\n"
            f"<p>{escape(' '.join(visit.language.sentences(2, by)))}</p>",
        )
        for _ in range(by.randrange(1, 5))
    ]
    top = f"<h3>{escape(visit.language['comments_title'])}: {visit.say('comments', 'comment-count')}</h3>"
    return visit.skin.block("comments", f"{top}\n{''.join(items)}")


def newsletter(visit: Visit) -> str:
    """Give a box that asks for an address."""
    field = '<input type="email" name="email" placeholder="name@example.org">'
    hidden = f'<input type="hidden" name="csrf_token" value="{visit.token("csrf", "newsletter", 32)}">'
    button = f'<button type="submit">{visit.say("subscribe", "ab-words")}</button>'
    return visit.skin.block("newsletter", f"<p>{visit.say('newsletter', 'newsletter')}</p>\n{field}{hidden}\n{button}")


def product_counters(visit: Visit) -> str:
    """Give what a shop says around its price."""
    lines = [visit.say("viewers", "viewers"), visit.say("rating", "rating"), visit.say("offer", "offer")]
    pieces = "".join(visit.skin.block("widget", f"<span>{line}</span>") for line in lines)
    return f'{pieces}<button type="submit" name="add">{visit.say("buy", "ab-words")}</button>\n'


def _box(visit: Visit, title: str, inner: str) -> str:
    return visit.skin.block("module", f"{visit.skin.part('mtitle', title)}\n{inner}")


def _popular(visit: Visit) -> str:
    by = visit.by("popular")
    return _box(visit, visit.label("popular"), _links([visit.language.say("headings", by) for _ in range(8)]))


def _testimonials(visit: Visit) -> str:
    by: Random = visit.by("testimonials")
    said = [
        f"<blockquote><p>{escape(visit.language.say('quotes', by))}</p></blockquote>\n"
        f"<cite>{escape(visit.language.say('person', by))}</cite>"
        for _ in range(2)
    ]
    return _box(visit, escape(visit.language["testimonials"]), _lines(said))


def _widget(visit: Visit, name: str) -> str:
    return _box(visit, "", visit.skin.part("widget", f"<span>{visit.say(name, name)}</span>"))


def _tags(visit: Visit) -> str:
    links = "".join(
        f'<a href="/tag/{place}">{escape(tag)}</a>\n' for place, tag in enumerate(visit.language.all("topics"))
    )
    return _box(visit, escape(visit.language["tags"]), links)


def modules(visit: Visit) -> list[str]:
    """Give the boxes of the sidebar in the order of this visit."""
    found = {
        "popular": lambda: _popular(visit),
        "newsletter": lambda: newsletter(visit),
        "testimonials": lambda: _testimonials(visit),
        "weather": lambda: _widget(visit, "weather"),
        "stocks": lambda: _widget(visit, "stocks"),
        "poll": lambda: _widget(visit, "poll"),
        "ad": lambda: ad_frame(visit),
        "ins": lambda: ad_ins(visit),
        "tags": lambda: _tags(visit),
        "latest": lambda: ticker(visit),
    }
    names = [name for name in found if visit.has(f"module {name}", 0.7)]
    visit.by("module-order").shuffle(names)
    return [found[name]() for name in names]
