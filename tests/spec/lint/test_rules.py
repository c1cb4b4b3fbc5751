from __future__ import annotations

import pytest

from tests.spec.lint.broken import ELSEWHERE, ERRORS, WARNINGS, judge, levels
from tocsin.spec.html.positions import FindingLevel
from tocsin.spec.lint.rules import RULES


@pytest.mark.parametrize(("rule", "breaks", "keeps"), ERRORS)
def test_what_an_author_must_not_do_is_an_error(rule: str, breaks: str, keeps: str) -> None:
    assert levels(rule, breaks) in (["error"], ["error", "error"])
    assert levels(rule, keeps) == []


@pytest.mark.parametrize(("rule", "breaks", "keeps"), WARNINGS)
def test_what_is_unwise_is_a_warning(rule: str, breaks: str, keeps: str) -> None:
    assert levels(rule, breaks) == ["warning"]
    assert levels(rule, keeps) == []


def test_each_rule_is_broken_by_a_test() -> None:
    assert {rule for rule, *_ in (*ERRORS, *WARNINGS)} | ELSEWHERE == set(RULES)


def test_the_level_of_a_rule_is_that_of_its_worst_finding() -> None:
    errors = {rule for rule, *_ in ERRORS} | {"CI-08", "CI-09"}

    assert {name for name, rule in RULES.items() if rule.level is FindingLevel.ERROR} == errors


@pytest.mark.parametrize("name", RULES)
def test_each_rule_says_what_is_right_and_why(name: str) -> None:
    rule = RULES[name]

    assert rule.promise.endswith(".")
    assert rule.help.endswith(".")
    assert rule.source


@pytest.mark.parametrize("keeps", [keeps for *_, keeps in (*ERRORS, *WARNINGS)])
def test_what_keeps_a_rule_breaks_no_other_but_by_being_old(keeps: str) -> None:
    assert {finding.rule for finding in judge(keeps) if finding.level is FindingLevel.ERROR} == set()


@pytest.mark.parametrize(("rule", "breaks", "_"), [*ERRORS, *WARNINGS])
def test_each_message_says_the_mend(rule: str, breaks: str, _: str) -> None:
    for finding in judge(breaks):
        if finding.rule == rule:
            assert any(mark in finding.message for mark in (";", ":", ",")), finding.message


@pytest.mark.parametrize(
    ("source", "mend"),
    [
        ("<a rel=up href=x>x</a>", ": leave it out"),
        ("<area rel=first href=x alt=x>", ": leave it out"),
        ("<link rel='next archives' href=x>", ": write an a element, which needs no type"),
    ],
)
def test_LK44_the_message_says_what_to_write_in_place_of_an_old_type(source: str, mend: str) -> None:
    (message,) = (finding.message for finding in judge(source) if finding.rule == "LK-44")

    assert message.endswith(mend)
