"""Answers as somebody fills them in (T60)."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.alert_examples import _question
from tests.fakes import START
from tocsin.model import Instruction, KnownCopy
from tocsin.server.decisions import read_moment
from tocsin.server.web.questions import TypedAnswer, read_answer
from tocsin.spec.html.urls import LONGEST_URL_BYTES

PAGE = "https://example.org/a"
MANY = replace(_question(PAGE, []), pages=312)
ONE = replace(MANY, pages=1)
COPY = KnownCopy(PAGE, "https://archive.example/a", "2026-01-02", "memento", "mset", "https://example.net/list")
HOUR = 3_600_000_000


def read(form: dict[str, str], *, one: bool = False) -> tuple[TypedAnswer | None, dict[str, str]]:
    return read_answer(form, ONE if one else MANY, [COPY], START, UTC)


def good(form: dict[str, str], *, one: bool = False) -> TypedAnswer:
    answer, wrong = read(form, one=one)
    assert answer is not None, wrong
    return answer


def test_T60_one_click_tries_again_at_once() -> None:
    assert good({"kind": "again"}) == TypedAnswer(Instruction("again"))


def test_T60_again_so_many_times_on_new_connections() -> None:
    answer = good({"kind": "again", "times": "5", "new_connections": "yes", "when": "now"})

    assert answer.instruction == Instruction("again", times=5, new_connections=True)


def test_the_url_of_one_page_is_read_whole_however_long_a_watched_one_may_be() -> None:
    url = PAGE.ljust(LONGEST_URL_BYTES, "a")

    assert good({"kind": "again", "url": url}).url == url


def test_T60_again_at_a_time() -> None:
    assert good({"kind": "again", "when": "at", "at": "6h"}).instruction.at == START + 6 * HOUR


def test_T60_again_at_a_time_to_be_set_later() -> None:
    assert good({"kind": "again", "when": "later"}).instruction == Instruction("again", later=True)


@pytest.mark.parametrize("kind", ["never", "until-major"])
@pytest.mark.parametrize("scope", ["page", "host-cause", "host", "cause"])
def test_T60_what_stays_is_remembered_for_what_was_chosen(kind: str, scope: str) -> None:
    answer = good({"kind": kind, "scope": scope})

    assert (answer.instruction.kind, answer.scope) == (kind, scope)


def test_T60_without_a_choice_a_rule_is_for_host_and_cause_or_for_the_one_page() -> None:
    assert good({"kind": "never"}).scope == "host-cause"
    assert good({"kind": "never", "url": PAGE}).scope == "page"


def test_a_rule_for_a_host_cannot_be_for_one_page_of_it() -> None:
    assert read({"kind": "never", "url": PAGE, "scope": "host"})[1].keys() == {"scope"}


def test_a_copy_that_is_known_is_for_the_page_that_it_is_one_of() -> None:
    answer = good({"kind": "copy", "copy": COPY.url})

    assert (answer.instruction.copy_url, answer.url) == (COPY.url, PAGE)


def test_a_copy_that_nobody_named_needs_the_page_it_is_of_where_there_are_many() -> None:
    form = {"kind": "copy", "copy_url": "https://elsewhere.example/"}

    assert read(form)[1].keys() == {"url"}
    assert good(form, one=True).instruction.copy_url == "https://elsewhere.example/"


def test_a_copy_of_another_page_is_refused() -> None:
    assert read({"kind": "copy", "copy": COPY.url, "url": "https://example.org/b"})[1].keys() == {"copy"}


@pytest.mark.parametrize("copy", ["", "javascript:alert(1)", "file:///etc/passwd", "nonsense"])
def test_GHSA_44pq_9929_f8mq_a_copy_is_a_page_of_the_web(copy: str) -> None:
    assert read({"kind": "copy", "copy_url": copy}, one=True)[1].keys() == {"copy"}


@pytest.mark.parametrize("times", ["0", "-1", "101", "1e3", "many", "٣", "9" * 400])
def test_times_are_from_one_to_a_hundred(times: str) -> None:
    assert read({"kind": "again", "times": times})[1].keys() == {"times"}


@pytest.mark.parametrize("at", ["", "soon", "2020-01-01", "9999-01-01", "-5h", "99999999999d"])
def test_a_time_is_one_to_come_and_within_reach(at: str) -> None:
    assert read({"kind": "again", "when": "at", "at": at})[1].keys() == {"at"}


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert read({"kind": "again", "times": "x", "when": "at", "at": "x"})[1].keys() == {"times", "at"}


def test_a_time_without_an_offset_is_meant_in_the_time_zone_of_the_instance() -> None:
    berlin = ZoneInfo("Europe/Berlin")

    assert read_moment("2026-12-01T18:00", START, berlin) == read_moment("2026-12-01T17:00:00Z", START, berlin)


@given(st.dictionaries(st.sampled_from(["kind", "times", "when", "at", "scope", "url", "copy", "copy_url"]), st.text()))
def test_whatever_is_typed_is_an_answer_or_says_what_is_wrong(form: dict[str, str]) -> None:
    answer, wrong = read(form)

    assert (answer is None) == bool(wrong)


@given(st.sampled_from(["again", "never", "copy"]), st.text(), st.text())
def test_no_text_in_a_field_ends_in_an_error(kind: str, one: str, other: str) -> None:
    form = {"kind": kind, "times": one, "when": "at", "at": other, "scope": one, "copy_url": other}

    assert read(form, one=True) is not None
