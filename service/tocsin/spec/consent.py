"""Which button of a page refuses cookies that the page does not need; none of them ever accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from tocsin.spec.suspicion.phrases import Phrases, fold_words
from tocsin.spec.words import read_lists, split_phrases

# The label of a button; longer ones are sentences.
_LONGEST_LABEL: Final = 80

_LISTS: Final = read_lists("consent")
_LABELS: Final = frozenset(
    fold_words(phrase)
    for name in ("refusals", "necessary only")
    for text in _LISTS[name].values()
    for phrase in split_phrases(text)
)
_ABOUT: Final = Phrases(_LISTS["about cookies"])

# One CSS selector for the buttons of all programs that are known.
KNOWN_BUTTONS: Final = ", ".join(_LISTS["buttons of products"].values())


class PageButton(Struct, frozen=True):
    """A visible button: its label, and the text of the box that it is in."""

    label: str
    around: str


def find_refusal(buttons: Sequence[PageButton]) -> int | None:
    """Return the index of the first button that refuses cookies; None if there is none."""
    # The same word declines an invitation elsewhere on a page.
    return next((at for at, each in enumerate(buttons) if _refuses(each) and _is_about_cookies(each)), None)


def _refuses(button: PageButton) -> bool:
    return len(button.label) <= _LONGEST_LABEL and fold_words(button.label) in _LABELS


def _is_about_cookies(button: PageButton) -> bool:
    return bool(_ABOUT.found_in(fold_words(button.around)))
