from __future__ import annotations

import pytest

from tests.spec.links.reading import tree_of
from tocsin.spec.links.links import Anchors


def found(markup: str, fragment: str) -> str | None:
    element = Anchors(tree_of(markup)).find(fragment)
    return None if element is None else element.get("class")


@pytest.mark.parametrize(
    ("markup", "fragment"), [("<a name=s3.2 class=x>", "s3.2"), ("<h2 id=sec3.2 class=x>", "sec3.2")]
)
def test_LM02_a_fragment_leads_to_an_id_or_the_name_of_an_a(markup: str, fragment: str) -> None:
    assert found(markup, fragment) == "x"


def test_LM02_only_an_a_has_a_name() -> None:
    assert found("<p name=s class=x>", "s") is None


def test_LM02_an_a_may_be_both_ends() -> None:
    assert found("<a name=j93 href=http://e.example/ class=x>", "j93") == "x"


def test_LM03_the_case_counts_only_where_it_must() -> None:
    markup = "<b id=sec class=lower></b><b id=SEC class=upper></b>"

    assert [found(markup, each) for each in ("sec", "SEC", "Sec")] == ["lower", "upper", "lower"]


def test_LM03_letters_are_not_normalised() -> None:
    assert found("<b id=\u00e9 class=x>", "e\u0301") is None
    assert found("<b id=\u00c9 class=x>", "\u00e9") == "x"


def test_LM04_of_duplicates_the_first_counts() -> None:
    assert found("<b id=s class=1></b><b id=s class=2></b><a name=s class=3></a>", "s") == "1"


def test_an_id_stands_above_a_name() -> None:
    assert found("<a name=s class=1></a><b id=s class=2></b>", "s") == "2"


def test_a_fragment_may_be_escaped() -> None:
    assert found("<b id='\u00e9 x' class=y>", "%C3%A9%20x") == "y"
    assert found("<b id=%41 class=y>", "%41") == "y"


def test_an_empty_fragment_leads_to_nothing() -> None:
    assert found("<b id='' class=x>", "") is None
