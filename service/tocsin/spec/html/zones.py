# ruff: noqa: RUF001 - some signs are of other scripts
"""Zones of a page: whether an element's names, attributes and headings put its text in the content or beside it."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from tocsin.spec.words import read_lists, split_phrases, to_phrases, to_words


class Zone(Enum):
    """The zone of a text beside the content, by the names of its element.

    APART  beside it: advertisements, consent to cookies, requests to the reader
    PLACE  beside it unless most of its text is prose: the name says where it is, or that it is not shown at first
    LINKS  beside it if most of it is links: navigation, menus
    HEAD   above it, unless it holds the page's heading
    COUNT  a figure that counts visitors, comments or the like
    TALK   beside it, however long: what readers wrote
    NOTE   in it after all: a note or a warning in any element
    """

    APART = 1
    LINKS = 2
    HEAD = 3
    COUNT = 4
    TALK = 5
    NOTE = 6
    PLACE = 7


_LISTS: Final = read_lists("zones")
_APART: Final = to_words(_LISTS["apart"])
_PLACES: Final = to_words(_LISTS["places"])
_TALK: Final = to_words(_LISTS["talk"])
_LINKS: Final = to_words(_LISTS["links"])
_COUNTS: Final = to_words(_LISTS["counts"])
_NOTES: Final = to_words(_LISTS["notes"])
# Text that people watch a page for, wherever it is.
_NEVER: Final = to_words(_LISTS["never"])
# Within the others' words, since they are written in one as often.
_PARTS: Final = re.compile(
    r"cookie|consentban|newsletter|advert|sponsor|taboola|outbrain|mw-portlet|(?<![a-z])p-(?:tb|navigation|current-events)|"
    r"usercentrics|onetrust|ab-test|(?<![a-z])variant[-_]?[a-d](?![a-z])"
)
_PARTS_OF_PLACES: Final = re.compile("sidebar|mostread|most-read|most_read|meistgelesen|relatedarticle|relatedpost")
# Names by which style sheets show an element on some screens (`d-lg-none`, `lg:hidden`), and on small ones alone.
_ON_SCREENS: Final = re.compile(r"(?:d-)?(sm|md|lg|xl|xxl|2xl)[-:](none|hidden|block|flex|grid|inline\S*|table\S*)")
_SCREENS: Final = ("sm", "md", "lg", "xl", "xxl", "2xl")
_ON_SMALL_SCREENS: Final = re.compile(
    r"hidden-(?:lg|xl)|hidden-(?:md|lg)-up|visible-(?:xs|sm)\S*|(?:show|visible)-for-small(?:-only)?|"
    r"hide-for-(?:medium|large)|mobile-only|only-mobile|(?:is-)?hid(?:den|e)-(?:on-)?desktop"
)
# In the order in which they are looked for: the first zone that a name has a word of.
_ZONES: Final = (
    (Zone.COUNT, _COUNTS, None),
    (Zone.TALK, _TALK, None),
    (Zone.APART, _APART, _PARTS),
    (Zone.PLACE, _PLACES, _PARTS_OF_PLACES),
    (Zone.LINKS, _LINKS, None),
    (Zone.NOTE, _NOTES, None),
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]++|[A-Z]++(?![a-z])")
# A layout that has one, or has none, is not one itself; and some builders of pages call everything a widget.
_LAYOUT: Final = re.compile(r"(?<![a-z])(?:has|no|with|without|elementor)(?![a-z])")
# Parts of names that a machine made, in which words are by chance, such as the `ad` of `x-5ad2` or `ad2k81qe`: a letter
# directly behind a figure, but for measures (`ad300x250`) and words that begin with a capital letter (`top100Counter`).
_BY_CHANCE: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]*?\d(?!x\d|[A-Z][a-z]{3})[A-Za-z][A-Za-z0-9]*")
# Numbers of elements, such as `u_0_4_AD`.
_NUMBER: Final = re.compile(r"(?=\D*\d)[A-Za-z0-9]{1,2}(?:[_-][^\W_]{1,2}){3,}", re.ASCII)
# What builders of style sheets put behind a name, as in `Page_sidebar__x7a9K`.
_SCOPE: Final = re.compile(r"(?<=[A-Za-z])__(?=[\w+-]*(?:\d|.[A-Z]))[\w+-]{5}$", re.ASCII)
_MOST_LETTERS: Final = 200
_MOST_NAMES: Final = 8192

# Selectors of elements that are not shown at first, and of those shown to some visitors only.
NOT_SHOWN: Final = '[hidden],[aria-hidden="true"],[aria-modal],[style*="display:none"],[style*="display: none"]'
ADVERTS: Final = (
    '[data-ad],[data-ad-slot],[data-ad-unit],[data-ad-client],[data-google-query-id],[data-testid="sponsored"]'
)
# Attributes that name a part of the page as classes do, where these are made by a machine.
_NAMING: Final = ("data-component", "data-testid", "data-module", "data-widget")
_OFTEN_ALONE: Final = frozenset({"class", "id"})
# A selector of the attributes, beside the class, that can name a zone.
TELLING: Final = f"[id],[role],[aria-label],{','.join(f'[{name}]' for name in _NAMING)},{NOT_SHOWN},{ADVERTS}"
_ZONES_OF_ROLES: Final = {"banner": Zone.HEAD} | dict.fromkeys(
    (
        *("navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "status", "timer", "log"),
        *("marquee", "menu", "menubar", "toolbar", "tooltip", "tablist"),
    ),
    Zone.APART,
)
_LABELS: Final = to_phrases(_LISTS["labels"])


# Headings above lists of other pages, comments and the like, as `to_heading` returns them.
HEADINGS: Final = to_phrases(_LISTS["headings"]) | to_phrases(_LISTS["more headings"])
# Headings above an advertisement, as `to_heading` returns them.
ADVERTISEMENTS: Final = to_phrases(_LISTS["advertisements"]) | to_phrases(_LISTS["more advertisements"])

# Phrases in boxes with a button that ask the reader for something.
ASKING: Final = tuple(split_phrases(_LISTS["asking"]["phrases"]))

_FIGURES: Final = re.compile(r"[\d()\[\]（）.,]+")
_LONGEST_HEADING: Final = 60


def to_heading(text: str) -> str:
    """Return a heading as the lists have it: in lower case, without figures, up to a colon.

    "" for one that ends like a sentence: so do headings of terms, and labels never.
    """
    text = text.strip()
    return "" if len(text) > _LONGEST_HEADING or text.endswith(".") else _fold_heading(text)


# Labels are the same on many pages.
@lru_cache(maxsize=4096)
def _fold_heading(text: str) -> str:
    text = text.lower().replace("i\u0307", "i")  # of a Turkish capital letter
    if text.replace(" ", "").isalpha():
        return text
    text = text.replace("：", ":").partition(":")[0]
    return " ".join(_FIGURES.sub(" ", text).split())


# A cache of `name_zone`, since most pages use the same few names; emptied when it is full.
KNOWN_NAMES: Final[dict[str, tuple[Zone | None, int]]] = {}


def name_zone(name: str) -> tuple[Zone | None, int]:
    """Return the zone that a class or an id names, and a number that is the same for names that differ by figures."""
    known = KNOWN_NAMES.get(name)
    if known is None:
        if len(KNOWN_NAMES) >= _MOST_NAMES:
            KNOWN_NAMES.clear()
        known = _look_at(name[:_MOST_LETTERS])
        if len(name) <= _MOST_LETTERS:
            KNOWN_NAMES[name] = known
    return known


def _look_at(name: str) -> tuple[Zone | None, int]:
    tokens = name.split()
    # Of block__element--modifier, the element names the zone.
    parts = [_SCOPE.sub("", token).partition("--")[0].rpartition("__")[2] for token in tokens]
    parts = [_BY_CHANCE.sub("", part) for part in parts if _NUMBER.fullmatch(part) is None]
    words = {word.lower() for part in parts if not _LAYOUT.search(part) for word in _WORD.findall(part)}
    first = " ".join(_WORD.findall(tokens[0])).lower() if tokens else ""
    number = xxh3_64_intdigest(first.encode()) & 0xFFFF_FFFF
    if not words or not _NEVER.isdisjoint(words):
        return None, number
    for zone, named, pattern in _ZONES:
        if not named.isdisjoint(words) or (pattern is not None and _has_part(pattern, parts)):
            return zone, number
    return Zone.PLACE if _is_for_small_screens(tokens) else None, number


def _is_for_small_screens(tokens: list[str]) -> bool:
    """Return whether an element is shown on small screens alone: it repeats what is elsewhere, or asks for an app."""
    shown = [found for token in tokens if (found := _ON_SCREENS.fullmatch(token)) is not None]
    if shown:
        # The rule for the largest screens decides.
        return max(shown, key=lambda found: _SCREENS.index(found[1]))[2] in {"none", "hidden"}
    return any(_ON_SMALL_SCREENS.fullmatch(token) for token in tokens)


def _has_part(pattern: re.Pattern[str], parts: list[str]) -> bool:
    return any(pattern.search(part.lower()) and not _LAYOUT.search(part) for part in parts)


def zone_by_attributes(node: Any, *, names: bool) -> Zone | None:
    """Return the zone that the other attributes of an element name.

    names  its id may say so
    """
    if set(node.attrs) <= _OFTEN_ALONE:  # most have no other
        return _zone_by_names(node, ("id",)) if names else None
    role = node.attr("role")
    if role is not None and (zone := _ZONES_OF_ROLES.get(role.strip().lower())) is not None:
        return zone
    is_advert = node.matches(ADVERTS)
    if is_advert or (node.matches(NOT_SHOWN) and node.attr("hidden") != "until-found"):
        return Zone.APART if is_advert else Zone.PLACE
    if not names:
        return None
    label = node.attr("aria-label")
    if label is not None and label.strip().lower() in _LABELS:
        return Zone.APART
    return _zone_by_names(node, ("id", *_NAMING))


def _zone_by_names(node: Any, attributes: tuple[str, ...]) -> Zone | None:
    for attribute in attributes:
        name = node.attr(attribute)
        if name and (zone := name_zone(name)[0]) is not None:
            return zone
    return None
