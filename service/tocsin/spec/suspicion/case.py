"""All that is weighed when a page may stand in for another: what is seen, where it came from, what it declares."""

from __future__ import annotations

import re
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING

from tocsin.spec.html.microsyntax import fold_space, lower_ascii
from tocsin.spec.suspicion.place import see_place
from tocsin.spec.suspicion.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.meta import Meta
    from tocsin.spec.html.whole import Whole

_SHOWN = 80
_ARTICLE = re.compile(r'"@type"\s*+:\s*+\[?\s*+"[A-Za-z]{0,30}?(?:Article|Posting|Recipe|Product|Event)"')
_LITTLE_TEXT = 400
_SEVERAL = 2
_QUESTION_WORDS = 5
_ASKS = ("?", "\uff1f", "\u061f")
_MOST_JSON = 50_000
_MOST_SCRIPTS = 8
# Metas that say nothing of what a page is about.
_SILENT = frozenset({"viewport", "robots", "generator", "theme-color", "format-detection", "referrer", "color-scheme"})


class Case:
    """A page that may stand in for another.

    body     as it was sent
    encoding of it, in lower case
    status   of the response
    headers  by their names in lower case; the first of each name
    """

    def __init__(
        self,
        whole: Whole,
        *,
        body: bytes,
        status: int,
        url: str,
        final_url: str,
        headers: Sequence[tuple[str, str]],
    ) -> None:
        self._whole = whole
        self.body, self.encoding = body, whole.encoding
        self.status = status
        self.final_url = final_url
        self.headers: dict[str, str] = {}
        for name, value in headers:
            self.headers.setdefault(name.lower(), value)
        self.place = see_place(url, final_url)
        self.sight = Sight(whole)

    @cached_property
    def named(self) -> dict[str, str]:
        """What its meta elements say, by name, property or http-equiv in lower case; the first of each."""
        found: dict[str, str] = {}
        for meta in self._whole.metas[:200]:
            name = meta.name or meta.property or meta.http_equiv
            if name and meta.content:
                found.setdefault(lower_ascii(name.strip()), meta.content)
        return found

    @property
    def is_hidden(self) -> bool:
        """Whether it asks not to be indexed, as pages do that are none."""
        robots = self.named.get("robots", "") + " " + self.headers.get("x-robots-tag", "")
        return "noindex" in lower_ascii(robots)

    @property
    def is_put_off(self) -> bool:
        """Whether it was "accepted", as pages are that are still to come."""
        return self.status == HTTPStatus.ACCEPTED

    @property
    def refresh(self) -> str | None:
        """Where or how often it forwards or reloads itself; None if it does not."""
        value = self.named.get("refresh") or self.headers.get("refresh")
        return None if value is None else value[:500].lower()

    @property
    def is_silent(self) -> bool:
        """Whether its meta elements say nothing of what it is about."""
        return not any(
            meta.property or (lower_ascii(meta.name.strip()) not in _SILENT if meta.name else _is_item(meta))
            for meta in self._whole.metas
        )

    @cached_property
    def hints(self) -> list[str]:
        """What a page says beside its words of not being there to stay."""
        hints = {
            "noindex": self.is_hidden,
            "a Retry-After": "retry-after" in self.headers,
            "a refresh": self.refresh is not None,
            "status 202": self.is_put_off,
        }
        return [name for name, holds in hints.items() if holds]

    def is_told_enough(self, told: Sequence[str]) -> bool:
        """Say whether words of the text are enough for a page of its length: the longer, the more it takes.

        told  what it says to its visitor; up to 400 letters one thing is enough, above it takes two, or a hint
        """
        needed = 1 if self.sight.own <= _LITTLE_TEXT else _SEVERAL
        things = [thing for thing in told if not any(thing in other for other in told if other is not thing)]
        return bool(things) and len(things) + len(self.hints) >= needed

    @cached_property
    def asks(self) -> bool:
        """Whether its first heading is a whole question: then it is about what it names, and is not that."""
        heading = next(iter(self.sight.headings), "").rstrip()
        return heading.endswith(_ASKS) and len(heading.split()) >= _QUESTION_WORDS

    @cached_property
    def speaks_for_itself(self) -> bool:
        """Whether it declares its changes, or that it is an article or the like: then it is what it says."""
        if any(name.startswith(("topper", "article:")) for name in self.named) or self.named.get("og:type") in {
            "article",
            "product",
        }:
            return True
        for number, script in enumerate(self._whole.scripts("application/ld+json")):
            if number >= _MOST_SCRIPTS:
                break
            if _ARTICLE.search(script[:_MOST_JSON]):
                return True
        return False

    def shown(self, text: str) -> str:
        """Give a text of the page as evidence shows it: one short line."""
        line = fold_space("".join(letter if letter.isprintable() else " " for letter in text[: 4 * _SHOWN]))
        return f'"{line}"' if len(line) <= _SHOWN else f'"{line[:_SHOWN]}…"'


def _is_item(meta: Meta) -> bool:
    """Say whether an element without a name is one of microdata."""
    return meta.http_equiv is None and meta.charset is None
