from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Answer, Installation
from tests.origin import Origin, Page


@pytest.fixture
async def origin(installation: Installation) -> AsyncIterator[Origin]:
    """A site two of whose pages were asked about."""
    async with Origin() as site:
        await call(installation, "check", site.url("/gone"), site.url("/lost"))
        yield site


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


@pytest.mark.usefixtures("origin")
async def test_T60_pages_of_one_host_that_fail_for_one_cause_are_one_question(installation: Installation) -> None:
    (question,) = (await call(installation, "attention", "list")).records

    assert (question["host"], question["cause"], question["pages"]) == ("127.0.0.1", "status 404", 2)
    assert question["asked_at"] is not None
    assert question["attempts"][0]["status"] == 404


async def test_T60_never_is_remembered_until_the_user_lifts_it(installation: Installation, origin: Origin) -> None:
    answered = await call(installation, "attention", "answer", "1", "never")
    (rule,) = (await call(installation, "attention", "list", "--standing")).records
    open_questions = (await call(installation, "attention", "list")).records
    lifted = await call(installation, "attention", "lift", rule["id"])

    assert answered.records == [{"question": "1", "instruction": "never", "pages": 2, "dry_run": False}]
    assert (rule["instruction"], rule["scope"], rule["host"]) == (
        "never",
        "host-cause",
        origin.url().split("/")[2].split(":")[0],
    )
    assert open_questions == []
    assert lifted.status == 0
    assert (await call(installation, "attention", "list", "--standing")).records == []


async def test_T60_again_at_a_time_makes_the_pages_due_then(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "attention", "answer", "1", "again", "--times", "3", "--at", "6h")

    assert answer.status == 0
    pages = (await call(installation, "watch", "list", "--matching", origin.url("/gone"))).records
    assert "again" in pages[0]["next_why"]


@pytest.mark.usefixtures("origin")
async def test_an_answer_to_one_page_leaves_the_others_asked_about(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "attention", "answer", "1", "never", "--url", origin.url("/gone"))

    assert answer.records[0]["pages"] == 1
    assert (await call(installation, "attention", "list")).records[0]["pages"] == 1


async def test_questions_are_listed_to_a_limit(installation: Installation, origin: Origin) -> None:
    origin.pages["/broken"] = Page("", status=500)
    await call(installation, "check", origin.url("/broken"))

    limited = await call(installation, "attention", "list", "--limit", "1")
    whole = await call(installation, "attention", "list", "--limit", "9")

    assert [question["id"] for question in limited.records] == ["1"]
    assert [question["id"] for question in whole.records] == ["1", "2"]


async def test_dropping_pages_is_asked_for(installation: Installation, origin: Origin) -> None:
    refused = await call(installation, "attention", "answer", "1", "drop")
    looked = await call(installation, "attention", "answer", "1", "drop", "--dry-run")
    dropped = await call(installation, "attention", "answer", "1", "drop", "--yes")

    assert (refused.status, looked.status, dropped.status) == (2, 0, 0)
    assert looked.records[0]["dry_run"] is True
    assert dropped.records[0]["pages"] == 2
    assert (await call(installation, "watch", "list")).records == []
    assert origin.asked("/gone")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["1", "never", "--times", "2"], "are for again"),
        (["1", "again", "--scope", "host"], "--scope is for never and until-major"),
        (["1", "copy"], "only the answer copy takes a copy"),
        (["1", "again", "https://example.org/copy"], "only the answer copy takes a copy"),
        (["1", "again", "--at", "6h", "--later"], "exclude each other"),
        (["1", "again", "--at", "whenever"], "is not a time"),
        (["1", "again", "--at", "2020-01-01"], "is in the past"),
        (["7", "again"], "question 7: no such question"),
        (["1", "never", "--url", "https://example.org/"], "not among the pages of question 1"),
        (["1", "never", "--url", "https://example.org/", "--scope", "host"], "--url is for one page"),
        (["1", "maybe"], "maybe"),
    ],
)
@pytest.mark.usefixtures("origin")
async def test_an_answer_that_cannot_be_meant_is_refused(
    installation: Installation, arguments: list[str], word: str
) -> None:
    answer = await call(installation, "attention", "answer", *arguments)

    assert answer.status == 2
    assert word in answer.err


@pytest.mark.parametrize("number", ["0", "abc", "1e3", "99999999999999999999999", "9223372036854775808", "\u0663"])
def test_what_is_no_number_of_a_question_is_refused_in_words(installation: Installation, number: str) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a")

    answer = installation.call("attention", "answer", number, "again")

    assert answer.status == 2
    assert f"'{number}' is not the number of a question; see: tocsin attention list" in answer.err
