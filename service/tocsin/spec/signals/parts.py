"""The parts of a page as a person sees them: which ones are compared, and what leaves the others out."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from tocsin.spec.html.blocks import CELL, HEADING, ITEM, LINKED, OUTSIDE, Blocks, read_blocks_of
from tocsin.spec.html.whole import ELEMENT, TEXT, Whole
from tocsin.spec.signals.content import ALL, CHOSEN, choose_blocks, fold, read_blocks_at, to_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


PartKind: TypeAlias = Literal["heading", "row", "item", "link", "text"]
# A selector of the user; menus, adverts and what else is beside the content; what changes by itself; not chosen.
LeftOutBy: TypeAlias = Literal["selector", "beside", "fleeting", "unchosen"]
SelectorSetting: TypeAlias = Literal["look_at", "ignore"]

# Each is looked for in the whole page.
MOST_SELECTORS: Final = 30
# Of all selectors together: more elements are not looked into, so that a large page takes no longer than two checks.
_MOST_ELEMENTS: Final = 20_000
_KINDS: Final[tuple[tuple[int, PartKind], ...]] = (
    (HEADING, "heading"),
    (CELL, "row"),
    (ITEM, "item"),
    (LINKED, "link"),
)


_NAME: Final = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_MOST_STEPS: Final = 8
# Parts that get a selector.
_MOST_FOUND: Final = 10
# Elements that are tried for each part: taking the text of an element costs time for each letter.
_MOST_TRIES: Final = 4


class PagePart(Struct, frozen=True):
    """A part of a page: a paragraph, a heading, an entry of a list, a row.

    left_out_by  None: it is compared
    selector     of the user, which leaves it out
    """

    text: str
    kind: PartKind
    left_out_by: LeftOutBy | None = None
    selector: str | None = None


class SelectorUse(Struct, frozen=True):
    """What a selector of the user does on a page.

    elements  how many it matches
    parts     how many parts they hold: `ignore` leaves them out, `look_at` chooses them
    """

    setting: SelectorSetting
    selector: str
    elements: int
    parts: int


class PageParts(Struct, frozen=True):
    """All parts of a page in their order, and the selectors, at most 30."""

    parts: tuple[PagePart, ...]
    selectors: tuple[SelectorUse, ...]


class _Line(NamedTuple):
    text: str
    mark: int
    path: int


def read_parts(whole: Whole, look_at: str, ignore: str) -> PageParts:
    """Read the parts of a page, and say of each whether these settings compare it.

    Raises ValueError where one is no selector.
    """
    chosen = choose_blocks(whole, look_at, ignore)
    # Where selectors choose, no part is beside the content.
    every = read_blocks_at(whole, min(chosen.level, ALL))
    lines = list(_lines(every, chosen.title))
    uses, texts_of = _judge_selectors(whole, (("look_at", look_at), ("ignore", ignore)))
    compared = Counter(to_content(*chosen).text.split("\n"))
    known = Counter(line.text for line in lines)
    # What a selector takes out of a part leaves another text of the same place.
    altered = deque(line for line in _lines(chosen.blocks, chosen.title) if not known[line.text])
    parts = []
    for line in lines:
        if compared[line.text] > 0 and not line.mark & OUTSIDE:
            compared[line.text] -= 1
            parts.append(PagePart(line.text, _kind_of(line)))
        elif altered and altered[0][1:] == line[1:]:
            parts.append(PagePart(altered.popleft().text, _kind_of(line)))
        else:
            parts.append(_left_out(line, texts_of, is_chosen=chosen.level == CHOSEN))
    parts += [PagePart(line.text, _kind_of(line)) for line in altered]
    return PageParts(tuple(parts), tuple(uses))


def split_selectors(text: str) -> list[str]:
    """Split a list of CSS selectors at its commas; those within brackets and quotation marks belong to a selector."""
    found, depth, quote, start, escaped = [], 0, "", 0, False
    for place, letter in enumerate(text):
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth <= 0:
            found.append(text[start:place].strip())
            start = place + 1
    return [each for each in (*found, text[start:].strip()) if each]


def find_selectors(whole: Whole, texts: Iterable[str]) -> dict[str, str]:
    """Make a CSS selector for the element that holds each of these parts and nothing else; at most ten."""
    wanted = list(dict.fromkeys(texts))[:_MOST_FOUND]
    tries = Counter[str]()
    found: dict[str, str] = {}
    for node in whole.document.descendants:
        if type(node) is not TEXT or not (begin := fold(node.data)):
            continue
        for text in wanted:
            if text not in found and text.startswith(begin) and tries[text] < _MOST_TRIES:
                tries[text] += 1
                if (holder := _holder_of(node, text)) is not None:
                    found[text] = _selector_of(whole, holder)
        if len(found) == len(wanted):
            break
    return found


def _holder_of(node: Any, text: str) -> Any:
    """Return the outermost element whose whole text is this, above the text that begins it; None if there is none."""
    holder = None
    while type(node := node.parent) is ELEMENT and node.tag not in ("body", "html"):
        shown = " ".join(node.text.split())
        if shown == text:
            holder = node
        elif not text.startswith(shown):
            break
    return holder


def _selector_of(whole: Whole, node: Any) -> str:
    steps: list[str] = []
    while type(node) is ELEMENT and node.tag not in ("body", "html") and len(steps) < _MOST_STEPS:
        own = node.attr("id")
        if own and _NAME.fullmatch(own):
            return " > ".join([f"#{own}", *steps])
        name = next((each for each in (node.attr("class") or "").split() if _NAME.fullmatch(each)), "")
        steps.insert(0, f"{node.tag}.{name}" if name else node.tag)
        if len(whole.select(" > ".join(steps))) == 1:
            break
        node = node.parent
    return " > ".join(steps)


def _lines(blocks: Blocks, title: str = "") -> Iterator[_Line]:
    if title:
        yield _Line(title, HEADING, 0)
    for text, mark, path in zip(*blocks, strict=True):
        if folded := fold(text):
            yield _Line(" ".join(folded.split()) if mark & OUTSIDE else folded, mark, path)


def _kind_of(line: _Line) -> PartKind:
    return next((kind for mark, kind in _KINDS if line.mark & mark), "text")


def _judge_selectors(
    whole: Whole, settings: tuple[tuple[SelectorSetting, str], ...]
) -> tuple[list[SelectorUse], dict[str, set[str]]]:
    """Return what each selector does, and the texts of what each of `ignore` leaves out."""
    uses: list[SelectorUse] = []
    texts_of: dict[str, set[str]] = {}
    left = _MOST_ELEMENTS
    for setting, text in settings:
        for selector in list(dict.fromkeys(split_selectors(text)))[: MOST_SELECTORS - len(uses)]:
            elements = whole.select(selector)
            texts = [line.text for line in _lines(read_blocks_of(elements[:left]))]
            left = max(left - len(elements), 0)
            uses.append(SelectorUse(setting, selector, len(elements), len(texts)))
            if setting == "ignore":
                texts_of[selector] = set(texts)
    return uses, texts_of


def _left_out(line: _Line, texts_of: dict[str, set[str]], *, is_chosen: bool) -> PagePart:
    by: LeftOutBy
    selector = next((each for each, texts in texts_of.items() if line.text in texts), None)
    if selector is not None:
        by = "selector"
    elif line.mark & OUTSIDE:
        by = "beside"
    else:
        by = "unchosen" if is_chosen else "fleeting"
    return PagePart(line.text, _kind_of(line), by, selector)
