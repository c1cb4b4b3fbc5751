"""Whether scripts make a page's content: then what is received is an empty shell, which never changes."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.html.whole import Whole

# Letters of text that a shell may show until its scripts have run, such as "Loading…".
_MOST_LETTERS: Final = 40
# A message to browsers without scripts is at least a few words; a picture that counts visitors has none.
_LEAST_MESSAGE: Final = 12
_MOST_NODES: Final = 5_000
_MOST_PARAGRAPHS: Final = 20
# How far below the body the element is that scripts fill.
_DEEPEST_ROOT: Final = 3
# From here on, a script writes a word in one or two letters.
_DENSE: Final = "\u2e80"
_DENSE_WEIGHT: Final = 3

_UNSEEN: Final = frozenset({"script", "style", "template"})
_FURNITURE: Final = frozenset({"aside", "footer", "header", "nav"})
_ASIDE: Final = _FURNITURE | {"noscript"}
_MEDIA: Final = frozenset(
    {"audio", "embed", "frameset", "iframe", "img", "input", "object", "picture", "select", "textarea", "video"}
)
# Types of scripts that a browser runs; others are data.
_CODE: Final = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})


class _ShellView:
    """What is in a page's body, gathered in one walk that ends where it is too much for a shell.

    letters     of text outside of its navigation; Chinese, Japanese and Korean ones count thrice
    furniture   letters of its navigation
    message     letters of text for browsers that run no scripts
    is_shown    it shows a picture, a frame or a field, or has more text or nodes than a shell
    roots       elements near the body that scripts can find: they have an id, or (True) a name of their own
    """

    def __init__(self, body: Any) -> None:
        self.letters = self.furniture = self.message = 0
        self.is_shown = False
        self.roots: list[tuple[Any, bool]] = []
        waiting: list[tuple[Any, int, bool, bool]] = [(child, 1, False, False) for child in body.children]
        nodes = 0
        while waiting and not self.is_shown:
            node, depth, is_furniture, is_message = waiting.pop()
            nodes += 1
            tag = getattr(node, "tag", None)
            if tag is None:
                if type(node).__name__ == "Text":
                    self._count(_letters_of(node.data), is_furniture=is_furniture, is_message=is_message)
            elif tag not in _UNSEEN:
                is_message = is_message or tag == "noscript"
                is_furniture = is_furniture or tag in _FURNITURE
                if not is_furniture and not is_message:
                    self._note(node, tag, depth)
                waiting += [(child, depth + 1, is_furniture, is_message) for child in node.children]
            if nodes > _MOST_NODES or self.letters > _MOST_LETTERS:
                self.is_shown = True

    def _count(self, letters: int, *, is_furniture: bool, is_message: bool) -> None:
        if is_message:
            self.message += letters
        elif is_furniture:
            self.furniture += letters
        else:
            self.letters += letters

    def _note(self, node: Any, tag: str, depth: int) -> None:
        if tag in _MEDIA and lower_ascii(node.attr("type") or "") != "hidden":
            self.is_shown = True
        is_own = "-" in tag
        if depth <= _DEEPEST_ROOT and (is_own or node.attr("id")):
            self.roots.append((node, is_own))


def is_shell(whole: Whole) -> bool:
    """Return whether scripts make a page's content, by its structure alone, in any language.

    It has a script, no picture, frame or field, and hardly any text outside of its navigation. And one of these:

    - there is no text at all;
    - it has a message for browsers that run no scripts, and an element for scripts to fill: near the body, with an id
      or a name of its own, and empty, or with all of the page's text;
    - an element with a name of its own has all of its text, and there is no navigation.
    """
    scripts = [each for each in whole.elements("script") if lower_ascii((each.attr("type") or "").strip()) in _CODE]
    body = next(iter(whole.elements("body")), None)
    is_forwarding = any(lower_ascii(meta.http_equiv or "") == "refresh" for meta in whole.metas)
    if not scripts or body is None or is_forwarding or _has_paragraph(whole):
        return False
    view = _ShellView(body)
    if view.is_shown:
        return False
    if not view.letters and not view.furniture:
        return True
    if not any(each.attr("src") for each in scripts):
        return False
    if view.message >= _LEAST_MESSAGE:
        return any(_letters_of(root.text) in (0, view.letters) for root, _ in view.roots)
    return not view.furniture and any(is_own and _letters_of(root.text) == view.letters for root, is_own in view.roots)


def _has_paragraph(whole: Whole) -> bool:
    # Most pages are recognised by a paragraph, in a fifth of the time of a walk.
    for paragraph in islice(whole.elements("p"), _MOST_PARAGRAPHS):
        if _letters_of(paragraph.text) > _MOST_LETTERS:
            node = paragraph.parent
            while node is not None and getattr(node, "tag", None) not in _ASIDE:
                node = node.parent
            if node is None:
                return True
    return False


def _letters_of(text: str) -> int:
    words = "".join(text.split())
    if words.isascii():
        return len(words)
    return len(words) + (_DENSE_WEIGHT - 1) * sum(letter >= _DENSE for letter in words)
