"""Templates hold no text of their own: what people read comes from the words, in each language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tocsin.server.web import rendering

TEMPLATES: Final = {each.name: each for each in (Path(rendering.__file__).parent / "templates").glob("*.html")}
_COMMENT: Final = re.compile(r"\{#.*?#\}|<!--.*?-->", re.DOTALL)
_CODE: Final = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
_NAMED: Final = re.compile(r'\b(?:aria-label|title|placeholder|alt|label)="([^"]*)"')
_TAG: Final = re.compile(r"<[^<>]*>")
# Of a macro that gives attributes.
_ATTRIBUTE: Final = re.compile(r'\b[\w-]+="[^"]*"')
_COMMAND: Final = re.compile(r'\bcode\("[^"]*"')
_QUOTED: Final = re.compile(r'"([A-Z][a-z][^"]*)"')
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
# Names, which are the same in each language; and what a browser reads.
_NAMES: Final = frozenset(
    [
        "Tocsin",
        "API",
        "HTML",
        "https",
        "English",
        "Deutsch",
        "doctype",
        "html",
        "amp",
        "nbsp",
        "Esc",
        "CSV",
        "OPML",
        "Atom",
    ]
)


def texts_of(template: str) -> list[str]:
    """Find the words that a template holds itself: between tags, in attributes, and quoted in its code."""
    template = _COMMENT.sub("", template)
    code = [_COMMAND.sub("", each) for each in _CODE.findall(template)]
    shown = re.sub(r"<(code|kbd)>.*?</\1>", "", _CODE.sub("", template), flags=re.DOTALL)
    between = _ATTRIBUTE.sub("", _TAG.sub(" ", shown))
    found = [*_NAMED.findall(shown), between, *(text for each in code for text in _QUOTED.findall(each))]
    return [word for text in found for word in _WORD.findall(text) if word not in _NAMES]


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_template_holds_no_text(name: str) -> None:
    assert texts_of(TEMPLATES[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ('<p>{{ t("a.b") }}</p>{# a remark #}', []),
        ("<p>Some {{ x }} text</p>", ["Some", "text"]),
        ('<a aria-label="Go on" href="/go/on">…</a>', ["Go", "on"]),
        ('{{ m.act("/x", "Undo") }}', ["Undo"]),
        ("<code>tocsin check</code> · <b>Tocsin</b>", []),
        ('{{ t("a.b", command=m.code("Authorization: X")) }}{% macro a() %} lang="en"{% endmacro %}', []),
    ],
)
def test_a_text_is_found(template: str, words: list[str]) -> None:
    assert texts_of(template) == words
