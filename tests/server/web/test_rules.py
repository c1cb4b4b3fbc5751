"""The page of all rules, to which each change links."""

from __future__ import annotations

import pytest

from tests.server.web.visiting import Visitor, tree
from tocsin.engine.judging import signals
from tocsin.server.web.rules import DECLARED, SIGNALS
from tocsin.spec.signals import weigh
from tocsin.wording.words import LANGUAGES, words_of

GIVEN = {
    weigh.OTHERWISE, weigh.EDITED, weigh.SERVED, weigh.USER, weigh.GIVES_WAY, weigh.MUTED, weigh.NEITHER,
    signals.BACK, signals.WITNESSED, *signals._WHY,
}  # fmt: skip


def test_each_rule_that_an_alert_can_name_is_explained_in_each_language() -> None:
    assert {*DECLARED, *SIGNALS} == GIVEN
    assert [key for key in GIVEN for each in LANGUAGES if f"rule.{key}" not in words_of(each)] == []


async def test_a_rule_is_found_by_its_name(visitor: Visitor) -> None:
    answer = await visitor.client.get("/rules/T44", headers={"Accept": "text/html"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/rules#T44")
    assert tree(await visitor.get("/rules")).xpath("//dt[@id='T44']/following-sibling::dd[1]/text()") == [
        "The page changed its list of major changes: major."
    ]


@pytest.mark.parametrize("name", ["T99", "%2e%2e", "t44", "<b>"])
async def test_a_rule_that_does_not_exist_is_not_found(visitor: Visitor, name: str) -> None:
    await visitor.get(f"/rules/{name}", status=404)
