"""What a visitor sees of a page, and what its code names: gathered in one walk, for all who look at it."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.suspicion.folding import LONGEST, fold_words, split_parts

if TYPE_CHECKING:
    from tocsin.spec.html.whole import Whole

MOST_OWN = 4000
"""Letters of text beside links and furniture; a page of more is what it says, whatever else stands on it."""

_MOST_NODES = 30_000
_MOST_CODE = 200_000
_MOST_HEADINGS = 8
_SCRIPT_LETTERS = 8_000
_VALUE_LETTERS = 500
_LABEL_LETTERS = 40
_MOST_LABELS = 200
# Nobody reads these, or only as a part of something else.
_UNSEEN = frozenset({"script", "style", "template", "svg", "title", "textarea", "datalist", "option", "select"})
_HEADINGS = frozenset({"h1", "h2"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "canvas", "object", "embed", "iframe", "frameset", "svg"})
_CODE_ATTRIBUTES = ("id", "class", "src", "action", "name", "href", "data-sitekey", "onload")
_NAMED = (
    "script",
    "style",
    "meta",
    "iframe",
    "form",
    "input",
    "img",
    "link",
    "div",
    "body",
    "html",
    "section",
    "main",
    "a",
)
# Scripts such as Chinese say a word in one or two letters.
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


class Sight:
    """What is seen of one page.

    title, headings  as written, and `parts` of them folded
    own              letters beside links, controls and furniture; Chinese, Japanese and Korean ones count thrice
    links            letters of links beside furniture
    furniture        letters of navigation, of the page's head, foot and side
    passwords        password fields, but those of furniture
    fields           other fields that can be filled in, but those of furniture
    media            pictures, frames and the like
    code             attributes and scripts, in lower case, as far as anybody looks
    is_cut           there is more than anybody looks at, or paragraphs, wherever they stand, hold enough text: then
                     the page is what it says, and nothing else of it was gathered
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
        """What people read beside furniture and controls, folded."""
        return fold_words(" ".join(self._text))

    @cached_property
    def beginning(self) -> list[str]:
        """The parts of the first texts, for pages that have no heading."""
        return split_parts("\n".join(self._text[:6]))

    @cached_property
    def controls(self) -> str:
        """What stands on buttons and beside fields, folded."""
        return fold_words(" | ".join(self._controls))

    @cached_property
    def labels(self) -> list[str]:
        """What stands alone in a button, a link, or anything else that is short: each folded."""
        short = (text for text in (*self._controls, *self._text) if len(text) <= _LABEL_LETTERS)
        return [fold_words(text) for text in islice(short, _MOST_LABELS)]

    @cached_property
    def noscript(self) -> str:
        """What people read whose browser runs no scripts, folded."""
        return fold_words(" ".join(self._noscript))

    @cached_property
    def code(self) -> str:
        """Attributes and scripts, in lower case, each attribute as "tag.name=value"."""
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
        """Whether there is anything in its body but text and comments."""
        body = next(iter(self._whole.document.iter_elements("body")), None)
        return body is not None and next(iter(body.iter_elements()), None) is not None

    @property
    def seen(self) -> int:
        """All letters that are seen."""
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
        """Say whether paragraphs alone hold enough text: most pages are told by them, in a tenth of the time."""
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
