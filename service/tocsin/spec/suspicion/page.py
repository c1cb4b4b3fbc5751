"""A page that may stand in for another one: what a visitor sees of it, what its code names, what it declares."""

from __future__ import annotations

import re
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any

from tocsin.spec.html.microsyntax import fold_space, lower_ascii
from tocsin.spec.suspicion.landing import read_landing
from tocsin.spec.suspicion.phrases import LONGEST, fold_words, split_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.document import Meta
    from tocsin.spec.html.whole import Whole


# Letters of text outside of links and furniture; a page with more of them is a real page.
MOST_OWN = 4000

_MOST_NODES = 30_000
_MOST_CODE = 200_000
_MOST_HEADINGS = 8
_SCRIPT_LETTERS = 8_000
_VALUE_LETTERS = 500
_LABEL_LETTERS = 40
_MOST_LABELS = 200
# Text that is not shown, or is read as part of something else.
_UNSEEN = frozenset({"script", "style", "template", "svg", "title", "textarea", "datalist", "option", "select"})
_HEADINGS = frozenset({"h1", "h2"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "canvas", "object", "embed", "iframe", "frameset", "svg"})
_CODE_ATTRIBUTES = ("id", "class", "src", "action", "name", "href", "data-sitekey", "onload")
_NAMED = (
    *("script", "style", "meta", "iframe", "form", "input", "img"),
    *("link", "div", "body", "html", "section", "main", "a"),
)
# From here on, scripts such as Chinese write a word in one or two letters.
_DENSE = "\u2e80"
_DENSE_WEIGHT = 3
_LINK, _APART, _CONTROL, _NOSCRIPT, _IN_MAIN, _TOP = 1, 2, 4, 8, 16, 32
_ZONES = {
    "a": _LINK,
    "article": _IN_MAIN,
    "aside": _APART,
    "button": _CONTROL,
    "footer": _APART,
    "head": _APART,
    "label": _CONTROL,
    "legend": _CONTROL,
    "main": _IN_MAIN,
    "nav": _APART,
    "noscript": _NOSCRIPT,
}


class PageView:
    """What a visitor sees of a page, and what its code names; gathered in one walk.

    title, headings  as written; their `parts` are folded
    own              letters outside of links, controls and furniture; Chinese, Japanese and Korean ones count thrice
    links            letters of links outside of furniture
    furniture        letters of navigation, header, footer and sidebars
    passwords        password fields outside of furniture
    fields           other fields to fill in, outside of furniture
    media            pictures, frames and the like
    code             attributes and scripts in lower case, up to a limit
    is_cut           the page has too many nodes, or enough text in its paragraphs to be a real page; nothing else of
                     it was gathered then
    """

    def __init__(self, whole: Whole) -> None:
        self.title = whole.title[:400]
        self.headings: list[str] = []
        self.own = self.links = self.furniture = 0
        self.passwords = self.fields = self.media = 0
        self.is_cut = False
        self._text: list[str] = []
        self._controls: list[str] = []
        self._noscript: list[str] = []
        self._whole = whole
        self._walk()

    @cached_property
    def title_parts(self) -> list[str]:
        """The parts of the title, folded."""
        return split_parts(self.title)

    @cached_property
    def heading_parts(self) -> list[str]:
        """The parts of the headings, folded."""
        return [part for heading in self.headings for part in split_parts(heading)]

    @cached_property
    def text(self) -> str:
        """The text outside of furniture and controls, folded."""
        return fold_words(" ".join(self._text))

    @cached_property
    def beginning(self) -> list[str]:
        """The parts of the first texts, for pages without a heading."""
        return split_parts("\n".join(self._text[:6]))

    @cached_property
    def controls(self) -> str:
        """The text of buttons and of labels of fields, folded."""
        return fold_words(" | ".join(self._controls))

    @cached_property
    def labels(self) -> list[str]:
        """Each short text of a button, a link or another element, folded."""
        short = (text for text in (*self._controls, *self._text) if len(text) <= _LABEL_LETTERS)
        return [fold_words(text) for text in islice(short, _MOST_LABELS)]

    @cached_property
    def noscript(self) -> str:
        """The text for browsers that run no scripts, folded."""
        return fold_words(" ".join(self._noscript))

    @cached_property
    def code(self) -> str:
        """Attributes as "tag.name=value" and scripts, in lower case."""
        found: list[str] = []
        left = _MOST_CODE
        for node in self._whole.elements(*_NAMED):
            for name in _CODE_ATTRIBUTES if node.tag != "meta" else ():
                value = node.attr(name)
                if value:
                    found.append(f"{node.tag}.{name}={value[:_VALUE_LETTERS]}")
                    left -= len(found[-1])
            if node.tag in {"script", "style"}:
                found.append(f"{node.tag}.")
            elif node.tag == "meta" and lower_ascii(node.attr("http-equiv") or "") == "refresh":
                found.append(f"meta.content={(node.attr('content') or '')[:_VALUE_LETTERS]}")
            if node.tag == "script":
                found.append(node.text[:_SCRIPT_LETTERS])
                left -= len(found[-1])
            if left < 0:
                break
        return "\n".join(found).lower()

    @property
    def has_elements(self) -> bool:
        """Whether its body contains any element."""
        body = next(iter(self._whole.document.iter_elements("body")), None)
        return body is not None and next(iter(body.iter_elements()), None) is not None

    @property
    def seen(self) -> int:
        """All visible letters."""
        return self.own + self.links + self.furniture

    def _walk(self) -> None:
        document = self._whole.document
        if next(islice(document.descendants, _MOST_NODES, None), None) is not None:
            self.is_cut = True
            return
        if self._has_long_paragraphs():
            self.is_cut = True
            return
        stack: list[tuple[Any, int]] = [(document, 0)]
        while stack:
            node, zone = stack.pop()
            if self.own > MOST_OWN:
                self.is_cut = True
                return
            tag = getattr(node, "tag", None)
            if tag is None:
                data = getattr(node, "data", None)
                if data is None:  # the document, and what is no element
                    stack += [(child, zone) for child in reversed(node.children)]
                elif type(node).__name__ == "Text":
                    self._read(data, zone)
                continue
            self._note(node, tag, zone)
            if tag in _UNSEEN:
                continue
            below = _zone_below(tag, zone)
            stack += [(child, below) for child in reversed(node.children)]

    def _has_long_paragraphs(self) -> bool:
        # Most real pages are recognised by their paragraphs alone, in a tenth of the time of a walk.
        letters = 0
        for paragraph in self._whole.elements("p"):
            letters += len(paragraph.text)
            if letters > MOST_OWN:
                return True
        return False

    def _read(self, data: str, zone: int) -> None:
        words = data.split()
        if not words:
            return
        text = " ".join(words)
        if zone & _NOSCRIPT:
            self._noscript.append(text)
            return
        letters = len(text)
        if not text.isascii():
            letters += (_DENSE_WEIGHT - 1) * sum(letter >= _DENSE for letter in text[:MOST_OWN])
        if zone & _CONTROL:
            self._controls.append(text)
        elif zone & (_APART | _TOP):
            self.furniture += letters
        else:
            if zone & _LINK:
                self.links += letters
            else:
                self.own += letters
            if self.own + self.links <= LONGEST:
                self._text.append(text[:LONGEST])

    def _note(self, node: Any, tag: str, zone: int) -> None:
        if tag in _MEDIA and not zone & _NOSCRIPT:
            self.media += 1
        elif tag in _HEADINGS:
            if len(self.headings) < _MOST_HEADINGS and not zone & (_APART | _NOSCRIPT):
                self.headings.append(" ".join(node.text[:2000].split())[:400])
        elif tag == "input":
            self._note_field(node, zone)
        elif tag in {"textarea", "select"} and not zone & (_APART | _TOP):
            self.fields += 1

    def _note_field(self, node: Any, zone: int) -> None:
        kind = lower_ascii(node.attr("type") or "text")
        if kind in {"submit", "button", "reset"}:
            self._controls.append((node.attr("value") or "")[:_VALUE_LETTERS])
        elif zone & (_APART | _TOP) or kind in {"hidden", "image", "checkbox", "radio", "search"}:
            return
        elif kind == "password":
            self.passwords += 1
        else:
            self.fields += 1


def _zone_below(tag: str, zone: int) -> int:
    if tag == "header":
        return zone if zone & _IN_MAIN else zone | _TOP
    return zone | _ZONES.get(tag, 0)


_SHOWN = 80
_ARTICLE = re.compile(r'"@type"\s*+:\s*+\[?\s*+"[A-Za-z]{0,30}?(?:Article|Posting|Recipe|Product|Event)"')
_LITTLE_TEXT = 400
_SEVERAL = 2
_QUESTION_WORDS = 5
_ASKS = ("?", "\uff1f", "\u061f")
_MOST_JSON = 50_000
_MOST_SCRIPTS = 8
# Meta elements that do not describe the page.
_SILENT = frozenset({"viewport", "robots", "generator", "theme-color", "format-detection", "referrer", "color-scheme"})


class SuspectPage:
    """A response whose page may stand in for the requested one.

    body      as it was sent
    encoding  its name, in lower case
    headers   by their names in lower case; the first of each name
    landing   where the request ended
    view      what a visitor sees
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
        self.landing = read_landing(url, final_url)
        self.view = PageView(whole)

    @cached_property
    def named(self) -> dict[str, str]:
        """The content of its meta elements, by name, property or http-equiv in lower case; the first of each."""
        found: dict[str, str] = {}
        for meta in self._whole.metas[:200]:
            name = meta.name or meta.property or meta.http_equiv
            if name and meta.content:
                found.setdefault(lower_ascii(name.strip()), meta.content)
        return found

    @property
    def is_hidden(self) -> bool:
        """Whether it asks not to be indexed, as stand-ins often do."""
        robots = self.named.get("robots", "") + " " + self.headers.get("x-robots-tag", "")
        return "noindex" in lower_ascii(robots)

    @property
    def is_put_off(self) -> bool:
        """Whether its status is 202, as of pages that are still being made."""
        return self.status == HTTPStatus.ACCEPTED

    @property
    def refresh(self) -> str | None:
        """The value of its refresh, in lower case; None if it has none."""
        value = self.named.get("refresh") or self.headers.get("refresh")
        return None if value is None else value[:500].lower()

    @property
    def is_silent(self) -> bool:
        """Whether none of its meta elements describes the page."""
        return not any(
            meta.property or (lower_ascii(meta.name.strip()) not in _SILENT if meta.name else _is_item(meta))
            for meta in self._whole.metas
        )

    @cached_property
    def hints(self) -> list[str]:
        """Signs, beside its words, that the page is temporary."""
        hints = {
            "noindex": self.is_hidden,
            "a Retry-After": "retry-after" in self.headers,
            "a refresh": self.refresh is not None,
            "status 202": self.is_put_off,
        }
        return [name for name, holds in hints.items() if holds]

    def is_told_enough(self, told: Sequence[str]) -> bool:
        """Return whether phrases are enough evidence for a page of this length.

        told  the phrases found; up to 400 letters one is enough, above that two, or one and a hint
        """
        needed = 1 if self.view.own <= _LITTLE_TEXT else _SEVERAL
        # A phrase within a longer one is not a second piece of evidence.
        things = [thing for thing in told if not any(thing in other for other in told if other is not thing)]
        return bool(things) and len(things) + len(self.hints) >= needed

    @cached_property
    def asks(self) -> bool:
        """Whether its first heading is a whole question: the page is then about its subject, not an instance of it."""
        heading = next(iter(self.view.headings), "").rstrip()
        return heading.endswith(_ASKS) and len(heading.split()) >= _QUESTION_WORDS

    @cached_property
    def speaks_for_itself(self) -> bool:
        """Whether it declares changes, or says that it is an article or the like: it is then taken for a real page."""
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
        """Return a text of the page as one short line of evidence."""
        line = fold_space("".join(letter if letter.isprintable() else " " for letter in text[: 4 * _SHOWN]))
        return f'"{line}"' if len(line) <= _SHOWN else f'"{line[:_SHOWN]}…"'


def _is_item(meta: Meta) -> bool:
    """Return whether an element without a name can only be one of microdata."""
    return meta.http_equiv is None and meta.charset is None
