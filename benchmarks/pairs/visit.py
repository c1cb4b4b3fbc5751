"""One visit to a page: what differs from visit to visit without anybody having written anything."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from random import Random
from typing import NamedTuple

from benchmarks.pairs.language import Language, chance, language
from benchmarks.pairs.skins import Skin

NOISE: dict[str, str] = {
    "ad-frames": "advertisements in iframes: other addresses and ids",
    "ad-ins": "advertisements in ins elements, filled by the server with other texts",
    "ad-text": "another text advertisement in the middle of the article",
    "ad-box": "another sponsored box, of heading, image, text and button, in the middle of the article",
    "ad-places": "the advertisements of the article stand after other paragraphs, or are fewer",
    "inline-related": "another \u201cread also\u201d line in the middle of the article",
    "related-order": "related links in another order",
    "related-items": "other related links or products",
    "popular": "another list of what is read most",
    "latest": "other news in a ticker",
    "module-order": "the modules of the sidebar in another order",
    "newsletter": "another newsletter box",
    "testimonials": "other testimonials",
    "poll": "votes of a poll",
    "weather": "the weather",
    "stocks": "stock prices beside the article",
    "cookie": "a cookie banner comes, goes, or says something else",
    "greeting": "the greeting of a session",
    "cart": "the number of things in the basket",
    "today": "the date of today in the header",
    "clock": "a live clock",
    "ago": "relative times",
    "views": "a counter of views",
    "comment-count": "a counter of comments",
    "shares": "a counter of shares",
    "rating": "ratings and their number",
    "viewers": "how many people look at this now",
    "offer": "the countdown of an offer",
    "online": "how many visitors are online",
    "ab-words": "other words on buttons, for a test of variants",
    "ab-classes": "other class names, for a test of variants",
    "ab-wrappers": "more elements around the same text, for a test of variants",
    "class-names": "class names made by a machine, after a release",
    "ids": "random ids and data attributes",
    "assets": "cache busters of styles, scripts and images",
    "csrf": "csrf tokens, in meta elements and hidden fields",
    "nonce": "nonces of scripts",
    "request-id": "ids of requests and times of rendering, in comments, attributes and meta elements",
    "state": "state for scripts, as JSON",
    "white-space": "white space between the elements: minified or not",
}
"""Each kind of noise: its name, and what of a page it changes."""


class Page(NamedTuple):
    """A page as its site has it.

    name    of the pair that it is in
    drawn   by which name all is drawn that its site has
    layout  a name of `LAYOUTS`
    """

    name: str
    drawn: str
    layout: str
    skin: str
    language: str


class Visit:
    """A page on one visit.

    versions  of each kind of noise; equal versions look alike, and those that are not named are 0
    """

    def __init__(self, page: Page, versions: Mapping[str, int]) -> None:
        """Take a page and what this visit finds."""
        self.page, self._versions = page, versions
        self.language: Language = language(page.language)
        variant = self.by("ab-classes").choice(["", "exp-b", "variant-2", "ab-new-design"])
        build = f"{page.drawn}/{versions.get('class-names', 0)}"
        self.skin = Skin(page.skin, self.fixed("number").randrange(100, 99999), build, variant)

    def by(self, kind: str) -> Random:
        """Give the chance of a kind of noise on this visit."""
        if kind not in NOISE:
            raise KeyError(kind)
        return chance(self.page.drawn, kind, self._versions.get(kind, 0))

    def fixed(self, name: str) -> Random:
        """Give a chance that is the same on every visit."""
        return chance(self.page.drawn, name)

    def has(self, name: str, share: float) -> bool:
        """Say whether this page has something that so many pages have."""
        return self.fixed(f"has {name}").random() < share

    def say(self, name: str, kind: str) -> str:
        """Say a phrase as this visit finds it, fit for markup."""
        return escape(self.language.say(name, self.by(kind)))

    def label(self, name: str) -> str:
        """Say a phrase that is the same on every visit, fit for markup."""
        return escape(self.language.say(name, self.fixed(f"label {name}")))

    def token(self, kind: str, place: object = "", letters: int = 16) -> str:
        """Make up a token, another one for each place."""
        by = chance(self.page.drawn, kind, self._versions.get(kind, 0), place)
        return f"{by.getrandbits(letters * 4):0{letters}x}"
