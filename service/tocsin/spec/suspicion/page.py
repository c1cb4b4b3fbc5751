"""A page that may stand in for another one: what a visitor sees of it, what its code names, what it declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from typing import Any

from tocsin.spec.html.decoding import NOT_ASCII
from tocsin.spec.html.document import Meta
from tocsin.spec.html.microsyntax import fold_space, lower_ascii
from tocsin.spec.html.search import holds_any
from tocsin.spec.html.whole import ELEMENT, TEXT, Whole
from tocsin.spec.suspicion.marks import NEEDLES, Landing, ProductMark, find_mark, read_landing
from tocsin.spec.suspicion.phrases import LONGEST, fold_words, split_parts

# Letters of text outside of links and furniture; a page with more of them is a real page.
MOST_OWN = 2500

_MOST_CODE = 200_000
_MOST_HEADINGS = 8
_MOST_FIELDS = 1000
_SCRIPT_LETTERS = 8_000
_VALUE_LETTERS = 500
_LABEL_LETTERS = 40
_MOST_LABELS = 200
_FIRST_TEXTS = 6
_CODE_ATTRIBUTES = ("id", "class", "src", "action", "name", "href", "data-sitekey", "onload")
_NAMED = (
    *("script", "style", "meta", "iframe", "form", "input", "img"),
    *("link", "div", "body", "html", "section", "main", "a"),
)
# From here on, scripts such as Chinese write a word in one or two letters.
_DENSE = re.compile("[\u2e80-\U0010ffff]+")
_DENSE_WEIGHT = 3

# Where an element puts the text below it. Of elements in one another, the one with the highest number decides.
_OWN, _LINK, _APART, _CONTROL, _NOSCRIPT, _UNSEEN = range(6)
_ZONES = {
    "a": _LINK,
    "noscript": _NOSCRIPT,
    **dict.fromkeys(("nav", "footer", "aside", "header"), _APART),
    **dict.fromkeys(("button", "label", "legend"), _CONTROL),
    # Text that is not shown, or is read as part of something else.
    **dict.fromkeys(("head", "title", "script", "style", "template", "svg"), _UNSEEN),
    **dict.fromkeys(("select", "textarea", "datalist", "option"), _UNSEEN),
}
# A header within them is part of the page.
_MAIN = frozenset({"main", "article"})

_FURNITURE = ":is(nav,footer,aside,header:not(:is(main,article) header))"
_FIELDS = ",".join(f"{tag}:not({_FURNITURE} *)" for tag in ("input", "textarea", "select"))
_USER_FIELDS = f"input[autocomplete~=username i]:not({_FURNITURE} *)"
_BUTTONS = "input:is([type=submit i],[type=button i],[type=reset i])"
_NO_FIELDS = frozenset({"hidden", "image", "checkbox", "radio", "search", "submit", "button", "reset"})
_HEADINGS = ",".join(f"{tag}:not(:is(nav,footer,aside,noscript) *)" for tag in ("h1", "h2"))
_MEDIA = ",".join(
    f"{tag}:not(noscript *)"
    for tag in ("img", "picture", "video", "audio", "canvas", "object", "embed", "iframe", "frameset", "svg")
)
_BESIDE_PARAGRAPHS = f":is({_FURNITURE},a,button,label,legend,noscript)"
_WITHIN_PARAGRAPHS = "a,button,label,noscript,script,select,style,svg,textarea"


class _ZonedText:
    """The text of a page by zones.

    The walk ends where there is enough of it, and enters links and furniture only when they are asked for.
    own  letters outside of links, controls and furniture; Chinese, Japanese and Korean ones count thrice
    """

    def __init__(self, document: Any) -> None:
        # Texts, and links that were not entered.
        self._pieces: list[Any] = []
        self._texts: list[str] = []
        self._resolved = 0
        self._letters = [0] * (_APART + 1)
        self._others: dict[int, list[str]] = {_CONTROL: [], _NOSCRIPT: []}
        self._unentered: list[tuple[Any, int]] = []
        self._walk(iter(document.children), _OWN)
        self.own = self._letters[_OWN]

    def first_texts(self, number: int) -> list[str]:
        """Return the texts of links and outside of them, but not of furniture and controls: as many, or some more."""
        while len(self._texts) < number and self._resolved < len(self._pieces):
            piece = self._pieces[self._resolved]
            self._resolved += 1
            if type(piece) is ELEMENT:
                self._walk(iter(piece.children), _LINK)
            else:
                self._texts.append(piece)
        return self._texts

    @property
    def texts(self) -> list[str]:
        """All of these texts, up to LONGEST."""
        return self.first_texts(LONGEST)

    @property
    def links(self) -> int:
        """Letters of links outside of furniture."""
        return self._letters[_LINK] if self.texts else 0

    @cached_property
    def furniture(self) -> int:
        """Letters of navigation, header, footer and sidebars."""
        _ = self.texts  # those within links are known then
        for node, zone in self._unentered:
            self._walk(iter(node.children), zone, is_entered=True)
        return self._letters[_APART]

    def others(self, zone: int) -> list[str]:
        """Return the texts of controls (buttons, labels of fields), or for browsers that run no scripts."""
        _ = self.furniture
        return self._others[zone]

    def _walk(self, ahead: Iterator[Any], zone: int, *, is_entered: bool = False) -> None:  # noqa: C901, PLR0912 - calls cost
        # Nodes are made anew whenever they are asked for, so each is asked for once.
        above: list[tuple[Iterator[Any], int, bool]] = []
        letters, zones, is_main = self._letters, _ZONES, False
        while True:
            for node in ahead:
                if type(node) is TEXT:
                    self._take(node.data, zone)
                    continue
                if type(node) is not ELEMENT:
                    continue
                tag = node.tag
                own = zones.get(tag, _OWN)
                if own == _APART and tag == "header" and is_main:
                    own = _OWN
                if own >= _APART:
                    if own == _UNSEEN:
                        continue
                    if not is_entered:
                        self._unentered.append((node, max(zone, own)))
                        continue
                if own == _LINK and zone == _OWN:
                    self._pieces.append(node)
                    continue
                children = node.children
                if len(children) == 1 and type(children[0]) is TEXT:
                    self._take(children[0].data, max(zone, own))
                elif children:
                    above.append((ahead, zone, is_main))
                    ahead, zone, is_main = iter(children), max(zone, own), is_main or tag in _MAIN
                    break
            else:
                if not above or letters[_OWN] > MOST_OWN:
                    return
                ahead, zone, is_main = above.pop()

    def _take(self, data: str, zone: int) -> None:
        text = " ".join(data.split())
        if not text:
            return
        if zone >= _CONTROL:
            self._others[zone].append(text)
            return
        letters = len(text)
        if not text.isascii():
            letters += (_DENSE_WEIGHT - 1) * sum([len(run) for run in _DENSE.findall(text[:MOST_OWN])])
        self._letters[zone] += letters
        if zone != _APART and self._letters[_OWN] + self._letters[_LINK] <= LONGEST:
            (self._pieces if zone == _OWN else self._texts).append(text[:LONGEST])


class PageView:
    """What a visitor sees of a page, and what its code names. Each part of it is read when a rule asks for it.

    title  as written
    """

    def __init__(self, whole: Whole) -> None:
        self.title = whole.title[:400]
        self._whole = whole

    @cached_property
    def prose(self) -> int:
        """Letters of paragraphs outside of links and furniture; those beyond the first 2500 are not counted."""
        letters = 0
        beside: dict[Any, bool] = {}  # paragraphs have few parents
        paragraphs: Sequence[Any] = self._whole.elements("p")
        for paragraph in paragraphs:
            parent = paragraph.parent
            if parent not in beside:
                beside[parent] = paragraph.closest(_BESIDE_PARAGRAPHS) is not None
            if not beside[parent]:
                letters += len(" ".join(paragraph.text.split()))
                letters -= sum([len(node.text) for node in paragraph.select(_WITHIN_PARAGRAPHS)])
            if letters > MOST_OWN:
                break
        return letters

    @cached_property
    def _zoned(self) -> _ZonedText:
        return _ZonedText(self._whole.document)

    @property
    def own(self) -> int:
        """Letters outside of links, controls and furniture; Chinese, Japanese and Korean ones count thrice."""
        return self._zoned.own

    @property
    def links(self) -> int:
        """Letters of links outside of furniture."""
        return self._zoned.links

    @property
    def furniture(self) -> int:
        """Letters of navigation, header, footer and sidebars."""
        return self._zoned.furniture

    @property
    def number_of_links(self) -> int:
        """How many links there are, those of furniture, too."""
        return len(self._whole.elements("a"))

    def shows_at_most(self, letters: int) -> bool:
        """Return whether it has no more visible letters than this."""
        return self.own <= letters and self.own + self.links + self.furniture <= letters

    @cached_property
    def headings(self) -> list[str]:
        """The first headings outside of furniture, as written."""
        found = self._whole.select(_HEADINGS)[:_MOST_HEADINGS]
        return [" ".join(node.text[:2000].split())[:400] for node in found]

    @cached_property
    def media(self) -> int:
        """Pictures, frames and the like."""
        return len(self._whole.select(_MEDIA))

    @cached_property
    def passwords(self) -> int:
        """Password fields outside of furniture."""
        return self._kinds_of_fields.count("password")

    @cached_property
    def fields(self) -> int:
        """Other fields to fill in, outside of furniture."""
        return sum([kind not in _NO_FIELDS for kind in self._kinds_of_fields]) - self.passwords

    @property
    def asks_for_user(self) -> bool:
        """Whether a field outside of furniture is for the name of a user, as browsers and password managers know it."""
        return bool(self._whole.select(_USER_FIELDS))

    @cached_property
    def _kinds_of_fields(self) -> list[str]:
        found = self._whole.select(_FIELDS)[:_MOST_FIELDS]
        return [lower_ascii(node.attr("type") or "text") if node.tag == "input" else "text" for node in found]

    @cached_property
    def title_parts(self) -> list[str]:
        """The parts of the title, folded."""
        return split_parts(self.title)

    @cached_property
    def heading_parts(self) -> list[str]:
        """The parts of the headings, folded."""
        return [part for heading in self.headings for part in split_parts(heading)]

    @cached_property
    def _first_texts(self) -> list[str]:
        return self._zoned.first_texts(_FIRST_TEXTS)[:_FIRST_TEXTS]

    @property
    def _texts(self) -> list[str]:
        return self._zoned.texts

    @cached_property
    def _controls(self) -> list[str]:
        buttons = self._whole.select(_BUTTONS)[:_MOST_LABELS]
        return [*self._zoned.others(_CONTROL), *[(node.attr("value") or "")[:_VALUE_LETTERS] for node in buttons]]

    @cached_property
    def text(self) -> str:
        """The text outside of furniture and controls, folded."""
        return fold_words(" ".join(self._texts))

    @cached_property
    def beginning(self) -> list[str]:
        """The parts of the first texts, for pages without a heading."""
        return split_parts("\n".join(self._first_texts))

    @property
    def first_line(self) -> str:
        """The first text, as written; "" if there is none."""
        return next(iter(self._first_texts), "")

    @cached_property
    def start(self) -> str:
        """The first texts, folded."""
        return fold_words(" ".join(self._first_texts))

    @cached_property
    def controls(self) -> str:
        """The text of buttons and of labels of fields, folded."""
        return fold_words(" | ".join(self._controls))

    @cached_property
    def labels(self) -> list[str]:
        """Each short text of a button, a link or another element, folded."""
        short = (text for text in (*self._controls, *self._texts) if len(text) <= _LABEL_LETTERS)
        return [fold_words(text) for text in islice(short, _MOST_LABELS)]

    @cached_property
    def noscript(self) -> str:
        """The text for browsers that run no scripts, folded."""
        return fold_words(" ".join(self._zoned.others(_NOSCRIPT)))

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
                found.append(self._whole.code_of(node)[:_SCRIPT_LETTERS])
                left -= len(found[-1])
            if left < 0:
                break
        return "\n".join(found).lower()

    @property
    def has_elements(self) -> bool:
        """Whether its body contains any element."""
        body = next(iter(self._whole.document.iter_elements("body")), None)
        return body is not None and next(iter(body.iter_elements()), None) is not None


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
        self.url, self.final_url = url, final_url
        self.headers: dict[str, str] = {}
        for name, value in headers:
            self.headers.setdefault(name.lower(), value)
        self.view = PageView(whole)

    @cached_property
    def landing(self) -> Landing:
        """Where the request ended."""
        return read_landing(self.url, self.final_url)

    @cached_property
    def named(self) -> dict[str, str]:
        """The content of its meta elements, by name, property or http-equiv in lower case; the first of each."""
        found: dict[str, str] = {}
        for meta in self._whole.metas[:200]:
            name = meta.name or meta.property or meta.http_equiv
            if name and meta.content:
                found.setdefault(lower_ascii(name.strip()), meta.content)
        return found

    def find_mark(self, name: str) -> ProductMark | None:
        """Return the first mark of a list that its code contains."""
        # A search in all bytes takes less time than naming all elements and their attributes.
        if self.encoding not in NOT_ASCII and not holds_any(self.body, NEEDLES[name]):
            return None
        return find_mark(name, self.view.code)

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
