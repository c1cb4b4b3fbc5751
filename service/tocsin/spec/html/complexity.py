"""Pages that HTML itself makes slow or large: they are refused before a parser sees them (CI-08)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import turbohtml

from tocsin.errors import TooComplex
from tocsin.spec.html.search import count, count_attributes, end_names, find, find_each, find_tag_end, lower

# A page of more is too complex (CI-08): each element of a parsed page costs about 100 bytes.
MOST_TAGS: Final = 1_000_000
# A page of more is too complex: each of these is kept, for three times as much.
MOST_METAS: Final = 131_072

# HTML merges the attributes of each further html and body element into the first one.
_MERGED = re.compile(rb"<(?:html|body)(?=[\t\n\f\r />])", re.IGNORECASE)
_MERGED_TAGS = 256
_MERGED_ATTRIBUTES = 4096
# HTML opens unclosed formatting elements again in each paragraph: of those that are alike at most three, of links one.
_FORMATTING: Final = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
_LINKS: Final = ("a", "nobr")
_ALIKE = 3
_CLOSED = ord(">")
# An attribute takes 26 bytes, and an element as much as four: what is opened again takes 42 MB at most. Each of 51 real
# pages has less than six tenths of it, even if nothing on it were closed.
_REOPENED = 1_600_000
_ELEMENT: Final = 4
# Of elements that are open, which are remembered until they are closed; a page has a few.
_MOST_LIVE: Final = _REOPENED // 16
# An attribute begins behind one of these.
_BEFORE_ATTRIBUTE: Final = b"\t\n\f\r /\"'"
_SHORTEST_ATTRIBUTE: Final = 2
# The attributes of a tag as most are written, at most so many, and its end. Each is one to HTML, too.
_USUAL: Final = (
    r"""(?:[^\t\n\f\r "'<>/=]++(?:="[^"]*+"|='[^']*+'|=[^\t\n\f\r "'<>=`]++)?+(?:[\t\n\f\r ]++|(?=/?>))){0,MOST}+/?>"""
)
# So many patterns of them are made: the most that there is room for is rounded down to a power of two.
_MOST_USUAL: Final = 2**15
# Behind the beginning of one of these, an end tag may not end what was open before it, or may be none.
_SCOPES: Final = frozenset(
    {"applet", "caption", "marquee", "math", "noscript", "object", "select", "svg", "table", "td", "template", "th"}
)
_CELLS: Final = frozenset({"caption", "td", "th"})
_FOREIGN: Final = frozenset({"svg", "math"})
# An end tag moves a formatting element by as many blocks at a time.
_MOST_WITHIN: Final = 7
_TEXT, _COMMENT = turbohtml.TokenType.TEXT, turbohtml.TokenType.COMMENT
_NEEDLES: Final = tuple([f"<{name} ".encode() for name in (*_FORMATTING, *_LINKS)])
_START, _END = turbohtml.TokenType.START_TAG, turbohtml.TokenType.END_TAG
# HTML copies the chosen option of a select into each of these.
_COPIES = 16

# Bytes times tags of a page that cannot open enough again to matter.
LITTLE_TO_REOPEN = _SHORTEST_ATTRIBUTE * _REOPENED


def refuse_too_complex(markup: bytes, tags: int) -> None:
    """Refuse a page that takes any parser of HTML quadratic time, or too much memory.

    markup  in UTF-8
    tags    how many `<` it holds
    Raises TooComplex.
    """
    if tags > MOST_TAGS:
        raise TooComplex(f"more than {MOST_TAGS} tags; split the page")
    lowered = lower(markup)
    if tags > MOST_METAS and count(lowered, b"<meta") > MOST_METAS:
        raise TooComplex(f"more than {MOST_METAS} meta elements; a page has dozens")
    if _count_merged(markup, lowered) > _MERGED_ATTRIBUTES:
        raise TooComplex("too many html or body elements; a page has one of each")
    if count(lowered, b"<selectedcontent") > _COPIES:
        raise TooComplex("too many selectedcontent elements; a select has one")
    _refuse_reopening(markup, lowered, tags)


def refuse_reopening(markup: bytes) -> None:
    """Refuse a page in which unclosed formatting elements are opened again and again, each time as new elements.

    Raises TooComplex.
    """
    _refuse_reopening(markup, lower(markup), count(markup, b"<"))


def _count_merged(markup: bytes, lowered: bytes) -> int:
    """Count the attributes that html and body elements bring together; more than too many where there are too many."""
    attributes = found = 0
    for name in (b"<html", b"<body"):
        place = find(lowered, name)
        while place >= 0:
            if _MERGED.match(markup, place):
                found += 1
                attributes += count_attributes(markup, place, at_most=_MERGED_ATTRIBUTES)
                if found > _MERGED_TAGS or attributes > _MERGED_ATTRIBUTES:
                    return _MERGED_ATTRIBUTES + 1
            place = find(lowered, name, place + 1)
    return attributes


def _refuse_reopening(markup: bytes, lowered: bytes, tags: int) -> None:
    most = _REOPENED // max(tags, 1)
    if _may_weigh_more(markup, lowered, most) and _OpenFormatting().reopens_too_much(markup):
        raise TooComplex("too many formatting elements that are never closed; close them")


def _may_weigh_more(markup: bytes, lowered: bytes, most: int) -> bool:
    """Return whether one tag may open more again than `most`, in attributes, if nothing is ever closed.

    HTML finds no more elements than this, wherever tags are hidden.
    """
    ended = end_names(markup)
    weight = 0
    for name in _FORMATTING:
        needle = f"<{name} ".encode()
        if opened := count(ended, needle):
            bare = count(lowered, f"<{name}>".encode())
            weight += _ELEMENT * min(bare, _ALIKE)
            if opened > bare and weight <= most:
                weight += _weigh_unlike(markup, ended, needle, most - weight)
    room = (most - weight) // len(_LINKS)
    return weight > most or any(_holds_heavier(markup, ended, f"<{name} ".encode(), room) for name in _LINKS)


def _weigh_unlike(markup: bytes, ended: bytes, name: bytes, most: int) -> int:
    """Weigh the tags of a name that have attributes, of those that are alike three; no further than `most`."""
    alike: dict[bytes, int] = {}
    weight = 0
    for place in find_each(ended, name):
        end = place + len(name)
        if markup[end - 1] != _CLOSED:
            tag = markup[place : markup.find(b">", end) + 1]
            # A tag that is known is as long as it was before.
            if tag not in alike:
                tag = markup[place : find_tag_end(markup, place)]
            known = alike[tag] = alike.get(tag, 0) + 1
            weight += _weigh(tag) if known <= _ALIKE else 0
            if weight > most:
                break
    return weight


@cache
def usual_of(most: int) -> re.Pattern[bytes]:
    """Return a pattern of what follows the name of a tag that is written as usual, with at most so many attributes."""
    return re.compile(_USUAL.replace("MOST", str(most)).encode())


def _holds_heavier(markup: bytes, ended: bytes, name: bytes, room: int) -> bool:
    """Return whether any tag of a name weighs more than there is room; one alone of these is opened again."""
    most = min(room - _ELEMENT, _MOST_USUAL)
    if most < 1:
        return count(ended, name) > 0
    is_light, length = usual_of(1 << (most.bit_length() - 1)).match, len(name)
    for place in find_each(ended, name):
        # Nearly all are: the others are looked at letter by letter.
        if is_light(markup, place + length) is None and _weigh(markup[place : find_tag_end(markup, place)]) > room:
            return True
    return False


def _weigh(tag: bytes) -> int:
    """Return what an element takes when it is opened again, in attributes; it has no more than these."""
    return _ELEMENT + len(tag) - len(tag.translate(None, _BEFORE_ATTRIBUTE))


class _OpenFormatting:
    """The formatting elements that are open, as a page's tokens come; an end tag counts where it is sure to end one.

    live  what one tag may open again, in attributes; one that begins an element of these, but a link, opens nothing
    work  what all tags may have opened again so far
    """

    def __init__(self) -> None:
        self.live = self.work = 0
        # Scopes have numbers, since one of another name or place is another one.
        self._scopes: list[tuple[str, int]] = [("", 0)]
        self._blocks = self._number = self._foreign = 0
        self._is_lost = False
        # By name: key, weight, scope, and how many blocks had begun; and how many more there are that are alike.
        self._open: dict[str, list[tuple[object, int, int, int]]] = {}
        self._more: dict[str, int] = {}
        self._alike: dict[object, int] = {}

    def reopens_too_much(self, markup: bytes) -> bool:
        """Return whether the tags of a page may open too much again."""
        for token in turbohtml.tokenize(markup.decode("latin-1")):
            kind, name = token.type, token.tag
            if kind is _START or kind is _END:
                if kind is _END or not (name in _FORMATTING or name in _LINKS):
                    self.work += self.live
                if self.work > _REOPENED or self.live > _MOST_LIVE:
                    return True
                if name in _SCOPES:
                    self._go_through(name, is_start=kind is _START)
                elif name in _FORMATTING or name in _LINKS:
                    if kind is _END:
                        self._end(name)
                    else:
                        self._start(name, token.attrs or [])
                else:
                    self._blocks += kind is _START
            elif self._foreign or self._is_lost:
                self._look_for_hidden(kind, token.data or "")
        return False

    def _look_for_hidden(self, kind: turbohtml.TokenType, text: str) -> None:
        """Weigh what SVG or MathML may have as tags where HTML has text, and the other way round, as in a style.

        From then on, no end tag is sure to be one.
        """
        if kind is _TEXT and "<" in text:
            markup = text.encode("latin-1", "replace")
            ended = end_names(markup)
            for needle in _NEEDLES:
                if count(ended, needle):
                    self.live += _ELEMENT * _ALIKE + _weigh_unlike(markup, ended, needle, _REOPENED)
                    self._is_lost = True
        elif kind is _COMMENT and text.startswith("[CDATA["):
            self._is_lost = True

    def _start(self, name: str, attributes: list[tuple[str, str]]) -> None:
        weight, scope = _ELEMENT + len(attributes), self._scopes[-1][1]
        found = self._open.setdefault(name, [])
        if name in _LINKS:
            # One that follows in the same scope ends the one before; of others the heaviest counts.
            while found and ((found[-1][2] == scope and not self._is_lost) or found[-1][1] <= weight):
                self._forget(found)
            self.work += self.live
            if found:
                return
        key = (name, tuple(attributes))
        known = self._alike.get(key, 0)
        if known == _ALIKE:
            self._more[name] = self._more.get(name, 0) + 1
            return
        self._alike[key] = known + 1
        self.live += weight
        found.append((key, weight, scope, self._blocks))

    def _end(self, name: str) -> None:
        found = self._open.get(name)
        if self._is_lost:
            return
        if self._more.get(name):
            self._more[name] -= 1
        elif found and found[-1][2] == self._scopes[-1][1] and self._blocks - found[-1][3] <= _MOST_WITHIN:
            self._forget(found)

    def _forget(self, found: list[tuple[object, int, int, int]]) -> None:
        key, weight, _, _ = found.pop()
        self.live -= weight
        self._alike[key] -= 1
        if not self._alike[key]:
            del self._alike[key]

    def _go_through(self, name: str, *, is_start: bool) -> None:
        if is_start:
            if name in _CELLS and self._scopes[-1][0] in _CELLS:
                self._scopes.pop()
            self._number += 1
            self._scopes.append((name, self._number))
            self._foreign += name in _FOREIGN
            return
        while name == "table" and self._scopes[-1][0] in _CELLS:
            self._scopes.pop()
        if self._scopes[-1][0] == name:
            self._scopes.pop()
            self._foreign -= name in _FOREIGN
