"""Each known label refuses, and none of the labels that accept is ever taken for one."""

from __future__ import annotations

import re

import pytest

from tocsin.spec.consent import KNOWN_BUTTONS, PageButton, find_refusal
from tocsin.spec.html.whole import check_selector, parse_whole
from tocsin.spec.words import read_lists, split_phrases

_LISTS = read_lists("consent")
_BANNER = "We use cookies. Accept all"


def _entries(name: str) -> list[tuple[str, str]]:
    return [(language, phrase) for language, text in _LISTS[name].items() for phrase in split_phrases(text)]


@pytest.mark.parametrize("name", ["refusals", "necessary only"])
def test_each_label_of_a_list_refuses_in_a_banner_of_its_language(name: str) -> None:
    about = {language: split_phrases(text)[0] for language, text in _LISTS["about cookies"].items()}
    wrong = [
        (language, label)
        for language, label in _entries(name)
        for written in (label, label.upper() + ".", f" {label.title()} ")
        if find_refusal([PageButton(written, f"{about[language]} · {written}")]) != 0
    ]

    assert wrong == []


def test_each_word_about_cookies_makes_a_banner() -> None:
    wrong = [
        (language, word)
        for language, word in _entries("about cookies")
        if find_refusal([PageButton("Reject all", f"xyzzy {word} xyzzy")]) != 0
    ]

    assert wrong == []


def test_the_three_lists_have_the_same_languages() -> None:
    names = ("refusals", "necessary only", "about cookies")

    assert {tuple(_LISTS[name]) for name in names} == {tuple(_LISTS["refusals"])}


@pytest.mark.parametrize(
    "label",
    split_phrases(
        """Accept | Accept all | Allow all | Agree | OK | Got it | Yes | Continue | Save | Settings | Manage options |
        Alle akzeptieren | Akzeptieren | Zustimmen | Einverstanden | Ja | Speichern | Auswahl erlauben | Einstellungen |
        Tout accepter | J'accepte | Aceptar todo | Aceptar | Accetta tutto | Accetto | Aceitar tudo |
        Alles accepteren | Akkoord | Zaakceptuj wszystko | Принять все | Tümünü kabul et | すべて同意する | 全部接受 |
        모두 수락 | قبول الكل | Godkänn alla | Accepter alle | Přijmout vše | Прийняти все | Cookies | Roses"""
    ),
)
def test_a_label_that_accepts_or_only_asks_is_never_clicked(label: str) -> None:
    assert find_refusal([PageButton(label, f"{_BANNER} {label}")]) is None


def test_no_label_that_accepts_is_in_the_lists_without_a_word_that_limits_it() -> None:
    limits = (
        "only|necessary|essential|without|do not|nur|notwendig|nicht|ohne|n accept|pas|sans|uniquement|solo|sin|no |"
        "senza|non|apenas|somente|sem|não|alleen|niet|zonder|tylko|nie|только|не |etmiyorum|etmeden|仅|只|僅|"
        "inte|endast|nödvändiga|kun|pouze|лише"
    )
    accepts = re.compile("accept|akzept|godkänn|aceit|acept|akcept|принять|kabul|接受|allow|zulassen|tillad|přijmout")
    wrong = [
        (language, label)
        for name in ("refusals", "necessary only")
        for language, label in _entries(name)
        if accepts.search(label) and not re.search(limits, label)
    ]

    assert wrong == []


@pytest.mark.parametrize("around", ["", "You are invited to dinner. Decline", "Newsletter: sign up now"])
def test_the_same_word_elsewhere_on_a_page_is_left_alone(around: str) -> None:
    assert find_refusal([PageButton("Decline", around)]) is None


def test_the_first_button_that_refuses_is_taken() -> None:
    buttons = [
        PageButton(label, "Wir verwenden Cookies.") for label in ("Alle akzeptieren", "Ablehnen", "Nur notwendige")
    ]

    assert find_refusal(buttons) == 1


@pytest.mark.parametrize("product", _LISTS["buttons of products"])
def test_each_button_of_a_product_is_a_selector_that_matches_its_markup(product: str) -> None:
    for selector in _LISTS["buttons of products"][product].split(", "):
        assert check_selector(selector) is None
        assert selector in KNOWN_BUTTONS
        whole = parse_whole(_markup(selector).encode(), "text/html")
        assert whole is not None
        assert len(whole.select(KNOWN_BUTTONS)) == 1


def _markup(selector: str) -> str:
    """Write elements that a selector of one to two simple parts matches."""
    found = ""
    for part in reversed(selector.split()):
        tag = re.match(r"[a-z]+", part)
        attributes = [f'id="{name}"' for name in re.findall(r"#([\w-]+)", part)]
        attributes += [f'class="{name}"' for name in re.findall(r"\.([\w-]+)", part)]
        attributes += re.findall(r"\[([^\]]+)\]", part)
        name = tag[0] if tag else "div"
        found = f"<{name} {' '.join(attributes)}>{found}</{name}>"
    return found
