"""Each entry of the lists of words, marks and places decides alone: no other sign on the page would be enough."""

from __future__ import annotations

from html import escape

import pytest

from tests.spec.suspicion.documents import ASKED, document
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.suspicion.kinds import Suspicion, find_suspicion
from tocsin.spec.suspicion.marks import MARKS, PLACES, ProductMark
from tocsin.spec.suspicion.phrases import PHRASES, fold_words
from tocsin.spec.words import read_lists, split_phrases

_LISTS = read_lists("suspicion")
_HIDDEN = '<meta name="robots" content="noindex">'
_PASSWORD = "<form method=post><input type=password name=p></form>"
_AT_CONSENT = "https://consent.example.net/"
_SOME_TEXT = "<p>" + "Roses want sun, air and a deep soil. " * 4 + "</p>"


def _look(
    title: str,
    body: str,
    *,
    head: str = "",
    status: int = 200,
    url: str = ASKED,
    final_url: str = "",
    headers: tuple[tuple[str, str], ...] = (),
) -> Suspicion | None:
    sent = document(title, body, head=head).encode()
    whole = parse_whole(sent, "text/html; charset=utf-8")
    assert whole is not None
    return find_suspicion(whole, body=sent, status=status, url=url, final_url=final_url or url, headers=headers)


# By list: title, body and head of a page on which one phrase, in the place of {}, is the only sign of its kind beside
# those that all such pages have.
_PAGES_WITH = {
    "challenge titles": ("{}", "<script>1</script>", _HIDDEN),
    "challenge tells": ("One moment please", "<p>{}</p>", ""),
    "script tells": ("One moment please", "<p>{}</p>", ""),
    "consent titles": ("{}", "<p>Cookies.</p><button>Accept all</button>", ""),
    "consent buttons": ("Before you continue", "<p>Cookies.</p><button>{}</button>", ""),
    "consent tells": ("Before you continue", "<p>{}</p><button>Accept all</button>", ""),
    "login titles": ("{}", _PASSWORD, ""),
    "login tells": ("Roses", "<p>{}</p>" + _PASSWORD, ""),
    "parked titles": ("{}", "", ""),
    "parked tells": ("Roses", "<p>{}</p><script src=//sedoparking.com/x.js></script>" + _SOME_TEXT, ""),
    "maintenance titles": ("{}", "<p>Roses.</p>", _HIDDEN),
    "maintenance tells": ("Maintenance", "<p>{}</p>", ""),
    "not found titles": ("{}", _SOME_TEXT, _HIDDEN),
    "not found tells": ("Page not found", "<p>{}</p>" + _SOME_TEXT, ""),
    "redirect titles": ("{}", "", ""),
    "edge servers": ("Roses", "<p>{}</p>", ""),
    "blocked titles": ("{}", "", ""),
    "blocked tells": ("Access denied", "<p>{}</p>", ""),
    "error titles": ("{}", "", ""),
    "error tells": ("Something went wrong", "<p>{}</p>", ""),
    "breakdowns": ("Roses", "<p>{}</p>", ""),
}


def test_every_list_of_phrases_is_tried() -> None:
    assert {*_PAGES_WITH, "exclamations"} == set(_LISTS)


@pytest.mark.parametrize("word", [word for text in _LISTS["exclamations"].values() for word in split_phrases(text)])
def test_each_exclamation_before_a_title_says_nothing(word: str) -> None:
    assert _look(f"{word} Access denied", "") is not None


@pytest.mark.parametrize("name", _PAGES_WITH)
def test_each_phrase_of_a_list_is_evidence_by_itself(name: str) -> None:
    wrong = []
    for text in _LISTS[name].values():
        for phrase in split_phrases(text):
            title, body, head = (part.replace("{}", phrase) for part in _PAGES_WITH[name])
            found = _look(title, body, head=head)
            # Of phrases that contain one another, each counts for a soft 404; elsewhere the longer would never decide.
            shown = PHRASES[name].found_in(fold_words(phrase))[0] if name == "not found tells" else phrase
            if found is None or fold_words(shown) not in fold_words(found.evidence):
                wrong.append((phrase, found))

    assert wrong == []


def _see_mark(name: str, mark: ProductMark) -> Suspicion | None:
    code = f"<script>{mark.needle}</script>"
    match name:
        case "challenge headers":
            header, _, value = mark.needle.partition(": ")
            return _look("Roses", _SOME_TEXT, headers=((header, value),))
        case "challenge scripts":
            return _look("Roses", code, status=202)
        case "captchas":
            return _look("Roses", f"{code}<p>Verify you are human</p>{_SOME_TEXT}")
        case "consent":
            return _look("Roses", code + _SOME_TEXT, final_url=_AT_CONSENT)
        case "not found":
            return _look("Page not found", f"<div class='{escape(mark.needle)}'>{_SOME_TEXT}</div>")
        case _:
            return _look("Roses", code)


@pytest.mark.parametrize("name", list(MARKS))
def test_each_mark_of_a_list_is_evidence_by_itself(name: str) -> None:
    wrong = []
    for mark in MARKS[name]:
        found = _see_mark(name, mark)
        shown = mark.product if name in {"captchas", "consent"} else mark.needle.strip().replace("\n", " ")
        if found is None or shown not in found.evidence:
            wrong.append((mark, found))

    assert wrong == []


_MISSING = f"<p>{'A novel in three parts, in print. ' * 5}</p>"
_SENT_THERE = {
    "login": ("Roses", _PASSWORD),
    "consent": ("Roses", f"<script>didomi</script>{_SOME_TEXT}"),
    "challenge": ("Roses", f"<p>Verify you are human.</p>{_SOME_TEXT}"),
    "parked": ("Roses", f"<p>Buy this domain.</p>{_SOME_TEXT * 3}"),
    "maintenance": ("Roses", f"<p>Try again later.</p>{_SOME_TEXT}"),
    "not-found": ("Page not found", _MISSING),
}


@pytest.mark.parametrize("kind", _SENT_THERE)
def test_each_word_of_a_place_is_evidence_by_itself(kind: str) -> None:
    for word in PLACES[kind]:
        found = _look(*_SENT_THERE[kind], final_url=f"https://www.example.org/{word}")

        assert found is not None, word
        assert found.kind == kind, word
        assert "sent to" in found.evidence, word


_ASKED_FOR = {
    "login": ("Log in", _PASSWORD),
    "consent": ("Before you continue", "<p>Cookies.</p><button>Accept all</button>"),
    "maintenance": ("Maintenance", "<p>Come back later.</p>"),
    "not-found": ("Page not found", "<p>The page you are looking for is gone.</p>"),
    "error": ("Something went wrong", "<p>Reload the page.</p>"),
}


@pytest.mark.parametrize("kind", _ASKED_FOR)
def test_a_page_of_a_kind_at_a_place_of_that_kind_is_what_was_asked_for(kind: str) -> None:
    assert _look(*_ASKED_FOR[kind]) is not None
    for word in PLACES[kind]:
        assert _look(*_ASKED_FOR[kind], url=f"https://www.example.org/{word}") is None, word
