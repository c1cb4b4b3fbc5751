"""The story as a table: it shows the whole service, and each step can come true."""

from __future__ import annotations

from datetime import UTC, datetime

from tocsin.demo.pages import first_pages
from tocsin.demo.rows import Line
from tocsin.demo.story import STORY, Expected, missing_after


def line(outcome: str = "minor", rule: str = "T47", path: str = "/a", sentence: str = "") -> Line:
    return Line(0, "verdict", "1", f"http://127.0.0.2:80{path}", outcome, rule, sentence)


def test_the_story_shows_every_rule_that_decides() -> None:
    rules = {expected.rule for step in STORY for expected in step.expects}

    assert rules >= {"T40", "T42", "T43", "T44", "T46", "T47", "T55", "T58", "T60", "T72"}


def test_every_page_of_the_site_has_its_first_storing() -> None:
    paths = [expected.path for expected in STORY[0].expects]

    assert paths == [page.path for page in first_pages(datetime.now(UTC))]


def test_a_line_meets_what_is_expected_of_its_page() -> None:
    expected = Expected("verdict", "/a", "minor", "T47")

    assert missing_after([expected], line()) == []
    assert missing_after([expected], line(path="/b")) == [expected]
    assert missing_after([expected], line(rule="T44")) == [expected]
    assert missing_after([expected], line(outcome="major")) == [expected]


def test_a_line_must_say_what_is_expected_of_it() -> None:
    expected = Expected("verdict", "/a", "minor", says="another day")

    assert missing_after([expected], line(sentence="on another day now")) == []
    assert missing_after([expected], line()) == [expected]
    assert str(expected) == "verdict 'minor' of /a saying 'another day'"


def test_one_line_meets_one_of_several_equal_expectations() -> None:
    expected = Expected("verdict", "/a", "minor")

    assert missing_after([expected, expected], line()) == [expected]


def test_what_is_missing_names_row_outcome_rule_and_page() -> None:
    assert str(Expected("verdict", "/a", "minor", "T47")) == "verdict 'minor' by T47 of /a"
