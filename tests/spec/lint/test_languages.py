from __future__ import annotations

import pytest

from tests.spec.lint.broken import judge
from tocsin.spec.lint.elements import is_language_tag


@pytest.mark.parametrize(
    "tag",
    [
        "en",
        "EN-gb",
        "zh-Hans-CN",
        "es-419",
        "sl-rozaj-biske",
        "de-1996",
        "zh-yue",
        "en-u-ca-gregory",
        "x-default",
        "i-klingon",
        "en-GB-oed",
        "sgn-BE-FR",
        "zh-min-nan",
        "de-x-a",
    ],
)
def test_a_language_tag_has_one_of_these_shapes(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize(
    "text", ["", "e", "en_US", "english1", "en-", "-en", "en--GB", "en-x", "en-u", "en GB", "\u212an", "a" * 101]
)
def test_what_has_another_shape_is_none(text: str) -> None:
    assert not is_language_tag(text)


def test_LM26_the_mend_of_an_underscore_is_shown() -> None:
    assert judge("<p lang=pt_BR>")[0].message == '"pt_BR" is no language tag; write such as "pt-BR"'
