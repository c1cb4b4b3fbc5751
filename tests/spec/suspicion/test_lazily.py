"""What is read of a page only where a rule asks for it leads to the result of reading all of it, node by node."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.suspicion import innocents, plain_pages, stand_ins
from tests.spec.suspicion.documents import StandIn
from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.suspicion.kinds import Suspicion, find_suspicion, suspect
from tocsin.spec.suspicion.marks import find_mark
from tocsin.spec.suspicion.page import PageView, SuspectPage
from tocsin.spec.suspicion.phrases import fold_words

if TYPE_CHECKING:
    from tocsin.spec.suspicion.marks import ProductMark

_UNSEEN = {"head", "title", "script", "style", "template", "svg", "textarea", "datalist", "option", "select"}
_ZONES = {"a": "link"} | dict.fromkeys(("button", "label", "legend"), "control") | {"noscript": "noscript"}
_APART = {"nav", "footer", "aside"}
_NO_FIELDS = {"hidden", "image", "checkbox", "radio", "search", "submit", "button", "reset"}
_MEDIA = {"img", "picture", "video", "audio", "canvas", "object", "embed", "iframe", "frameset", "svg"}
# Of elements in one another, the one that is last here decides.
_ORDER = ("own", "link", "apart", "control", "noscript")


class _WalkedView(PageView):
    """The same, but for the code, in one walk through all nodes of the page."""

    def __init__(self, whole: Whole) -> None:
        super().__init__(whole)
        self.texts: dict[str, list[str]] = {zone: [] for zone in _ORDER}
        self.shown: list[str] = []
        self.values: list[str] = []
        self.heads: list[str] = []
        self.media_seen = self.fields_seen = self.passwords_seen = 0
        self._walk(whole.document, "own", in_main=False, is_apart=False)

    def _walk(self, node: Any, zone: str, *, in_main: bool, is_apart: bool) -> None:
        for child in node.children:
            tag = getattr(child, "tag", None)
            if tag is None:
                text = " ".join(child.data.split()) if type(child).__name__ == "Text" else ""
                if text:
                    self.texts[zone].append(text)
                    self.shown += [text] if zone in {"own", "link"} else []
                continue
            self._note(child, tag, zone, is_apart=is_apart)
            if tag not in _UNSEEN:
                own = "apart" if tag in _APART or (tag == "header" and not in_main) else _ZONES.get(tag, "own")
                self._walk(
                    child,
                    max(zone, own, key=_ORDER.index),
                    in_main=in_main or tag in {"main", "article"},
                    is_apart=is_apart or own == "apart",
                )

    def _note(self, node: Any, tag: str, zone: str, *, is_apart: bool) -> None:
        self.media_seen += tag in _MEDIA and zone != "noscript"
        if tag in {"h1", "h2"} and node.closest("nav,footer,aside,noscript") is None:
            self.heads.append(" ".join(node.text.split()))
        if tag not in {"input", "textarea", "select"}:
            return
        kind = lower_ascii(node.attr("type") or "text") if tag == "input" else "text"
        if kind in {"submit", "button", "reset"}:
            self.values.append(node.attr("value") or "")
        self.passwords_seen += kind == "password" and not is_apart
        self.fields_seen += kind != "password" and kind not in _NO_FIELDS and not is_apart

    def has_prose(self, _letters: int) -> bool:
        return False

    own = property(lambda self: self.count("own"))
    links = property(lambda self: self.count("link"))
    furniture = property(lambda self: self.count("apart"))
    headings = property(lambda self: self.heads[:8])
    media = property(lambda self: self.media_seen)
    passwords = property(lambda self: self.passwords_seen)
    fields = property(lambda self: self.fields_seen)
    _texts = property(lambda self: self.shown)
    _first_texts = property(lambda self: self.shown[:6])
    _controls = property(lambda self: self.texts["control"] + self.values)
    noscript = property(lambda self: fold_words(" ".join(self.texts["noscript"])))

    def count(self, zone: str) -> int:
        return sum(len(text) + 2 * sum(letter >= "\u2e80" for letter in text) for text in self.texts[zone])


class _WalkedPage(SuspectPage):
    def find_mark(self, name: str) -> ProductMark | None:
        return find_mark(name, self.view.code)


def _look(page: StandIn, body: bytes) -> tuple[Suspicion | None, Suspicion | None]:
    whole = parse_whole(body, "text/html; charset=utf-8")
    if whole is None:
        return None, None
    asked: dict[str, Any] = {"body": body, "status": page.status, "url": page.url, "final_url": page.final_url}
    walked = _WalkedPage(whole, headers=page.headers, **asked)
    walked.view = _WalkedView(whole)
    return find_suspicion(whole, headers=page.headers, **asked), suspect(walked)


_PAGES = {
    **stand_ins.ALL,
    **innocents.ALL,
    **{f"plain {number}: {page.kind}": page for number, page in enumerate(plain_pages.PLAIN)},
}


_TAGS = ("<nav>", "<header>", "<main>", "</main>", "<a href=x>", "<p>", "<b>")


def _kind(found: Suspicion | None) -> str | None:
    return None if found is None else found.kind


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_is_suspected_of_what_a_walk_through_all_of_it_finds(name: str) -> None:
    lazily, fully = _look(_PAGES[name], _PAGES[name].body.encode())

    assert _kind(lazily) == _kind(fully)


@given(name=st.sampled_from(sorted(_PAGES)), chance=st.randoms(use_true_random=False))
def test_a_mangled_page_is_suspected_of_what_a_walk_through_all_of_it_finds(name: str, chance: Random) -> None:
    page = _PAGES[name]

    lazily, fully = _look(page, mangle(page.body, chance).encode("utf-8", "replace"))

    assert _kind(lazily) == _kind(fully)


def mangle(body: str, chance: Random) -> str:
    """Cut a page into pieces at its tags, and drop, repeat or move some of them."""
    pieces = body.replace("<", "\0<").split("\0")
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(pieces))
        match chance.randrange(3):
            case 0:
                pieces = pieces[:place] + pieces[place + chance.randint(1, 6) :] or [""]
            case 1:
                pieces.insert(chance.randrange(len(pieces)), pieces[place])
            case _:
                pieces.insert(
                    place, chance.choice(("<nav>", "<header>", "<main>", "</main>", "<a href=x>", "<p>", "<b>"))
                )
    return "".join(pieces)
