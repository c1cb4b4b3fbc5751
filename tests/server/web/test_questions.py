"""Questions, and every instruction (T60)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.server.web.busy import GONE
from tests.server.web.visiting import Visitor, told, tree
from tocsin.model import PageQuery, View


async def question_of(visitor: Visitor, host: str) -> int:
    return next(row.id for row in await visitor.store.questions() if row.host == host)


async def test_what_is_still_being_gathered_stands_apart_from_what_is_asked(visitor: Visitor, tmp_path: Path) -> None:
    number = await question_of(visitor, "slow.example")
    with closing(sqlite3.connect(tmp_path / "tocsin.db", isolation_level=None)) as db:
        db.execute("update questions set announced_at = null where id = ?", (number,))

    asked, gathered = tree(await visitor.get("/questions")).xpath("//ul[@class='questions']")

    assert "gone.example" in asked.text_content()
    assert "slow.example" not in asked.text_content()
    assert "slow.example" in gathered.text_content()
    assert gathered.xpath("preceding-sibling::h2/text()") == ["Not asked yet"]


async def test_what_was_answered_and_is_not_over_stands_apart_from_what_is_asked(visitor: Visitor) -> None:
    number = await question_of(visitor, "slow.example")
    await visitor.done(f"/questions/{number}/answer", kind="again", when="later")

    page = tree(await visitor.get("/questions"))

    asked, answered = page.xpath("//ul[@class='questions']")
    assert "slow.example" in answered.text_content()
    assert "slow.example" not in asked.text_content()
    assert answered.xpath("preceding-sibling::h2/text()") == ["Answered"]


async def test_T60_a_question_is_answered_with_one_click(visitor: Visitor) -> None:
    number = await question_of(visitor, "gone.example")

    text = await visitor.done(f"/questions/{number}/answer", kind="never")

    assert told(text).startswith("15 pages: never again.")
    assert "gone.example" in {rule.host for rule in await visitor.store.standing_answers()}


async def test_T60_one_page_of_a_question_is_answered_for(visitor: Visitor) -> None:
    number = await question_of(visitor, "gone.example")

    text = await visitor.done(f"/questions/{number}/answer", kind="until-major", url=GONE[0])

    assert told(text).startswith("1 page: wait for a major change.")
    assert GONE[0] in {rule.page_url for rule in await visitor.store.standing_answers()}
    found = await visitor.store.question(number)
    assert found is not None
    assert found.pages == 14


async def test_T60_again_at_a_time_is_kept_with_the_question(visitor: Visitor) -> None:
    number = await question_of(visitor, "slow.example")

    await visitor.done(f"/questions/{number}/answer", kind="again", times="3", when="later", new_connections="yes")

    found = await visitor.store.question(number)
    assert found is not None
    assert found.instruction is not None
    assert (found.instruction.times, found.instruction.later, found.instruction.new_connections) == (3, True, True)


async def test_a_refused_answer_keeps_what_was_typed(visitor: Visitor) -> None:
    number = await question_of(visitor, "gone.example")

    answer = await visitor.post(
        f"/questions/{number}/answer", kind="again", times="700", when="at", at="soon", url=GONE[1], new_connections="1"
    )

    assert answer.status_code == 422
    page = tree(answer.text)
    assert page.xpath("//input[@name='times']/@value") == ["700"]
    assert page.xpath("//input[@name='at']/@value") == ["soon"]
    assert page.xpath("//input[@name='when'][@checked]/@value") == ["at"]
    assert page.xpath("//input[@name='new_connections']/@checked")
    assert page.xpath("//select[@name='url']/option[@selected]/@value") == [GONE[1]]
    assert len(page.xpath("//*[@aria-invalid='true']")) == 2


async def test_taking_pages_off_the_list_is_asked_about_first(visitor: Visitor) -> None:
    number = await question_of(visitor, "gone.example")

    asked = await visitor.post(f"/questions/{number}/answer", kind="drop")
    assert "Delete 15 pages of gone.example?" in asked.text
    assert (await visitor.store.tally_pages(PageQuery(view=View.ASKED))).number > 0
    await visitor.done(f"/questions/{number}/answer", kind="drop", confirmed="yes")

    assert await visitor.store.page(GONE[0]) is None


async def test_known_copies_are_offered_with_their_dates(visitor: Visitor) -> None:
    text = await visitor.get(f"/questions/{await question_of(visitor, 'gone.example')}")

    assert "2025-03-01" in text
    assert len(tree(text).xpath("//input[@name='copy']")) == 4


async def test_a_known_copy_is_taken_for_the_page_that_it_is_one_of(visitor: Visitor) -> None:
    number = await question_of(visitor, "gone.example")
    (copy, *_) = await visitor.store.question_copies(number)

    text = await visitor.done(f"/questions/{number}/answer", kind="copy", copy=copy.url)

    assert told(text).startswith("1 page: take a copy.")


async def test_rules_are_listed_and_lifted(visitor: Visitor) -> None:
    assert "moved.example" in await visitor.get("/questions?show=standing")
    (rule,) = await visitor.store.standing_answers()

    await visitor.done(f"/questions/standing-answers/{rule.id}/lift")

    assert await visitor.store.standing_answers() == []


async def test_an_answer_to_a_question_that_has_ended_is_told_so(visitor: Visitor) -> None:
    number = await question_of(visitor, "slow.example")
    await visitor.done(f"/questions/{number}/answer", kind="drop", confirmed="yes")

    assert told(await visitor.done(f"/questions/{number}/answer", kind="again")).startswith("This question was closed")
