"""What a page's row holds short is read back as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.contract.desk import NOW, A, B, Desk, new_page
from tocsin.adapters.stores.sql.values import (
    pack_digest,
    pack_outcome,
    pack_report,
    pack_why,
    read_fields,
    read_object,
    to_json,
    unpack_digest,
    unpack_report,
    unpack_why,
    url_key,
    write_fields,
)
from tocsin.engine.judging.cadence import next_check
from tocsin.errors import StoreError
from tocsin.model import CheckOutcome, CheckReport
from tocsin.settings import PageSettings
from tocsin.spec.signals import SOURCES
from tocsin.spec.topper.state import FIELDS

URL = "https://one.example/"
WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.lists(st.sampled_from(FIELDS), unique=True).map(tuple)

reports = st.builds(
    CheckReport,
    url=st.just(URL),
    outcome=st.sampled_from(CheckOutcome) | WORDS,
    changed=NAMES,
    declares=NAMES | st.tuples(WORDS),
    status=st.none() | st.sampled_from([200, 304, 404]),
    final_url=st.none() | st.sampled_from([URL, "https://two.example/"]),
    reason=st.none() | WORDS,
    rule=st.none() | WORDS,
    basis=st.none() | WORDS,
    attempts=st.integers(0, 9),
    bytes=st.integers(0, 10**9),
    elapsed_ms=st.integers(0, 10**6),
    not_modified=st.booleans(),
    next_try=st.none() | st.integers(0, 2**53),
    error=st.none() | st.tuples(WORDS, WORDS),
    problem=st.none() | WORDS,
    saved_bytes=st.integers(0, 10**9),
    signals=st.lists(st.sampled_from([*SOURCES, "content"]), unique=True).map(tuple),
)


def as_json(report: CheckReport) -> dict[str, Any]:
    """A report as JSON shows it."""
    return read_object(to_json(report))


@given(reports)
def test_a_report_is_read_back_as_json_shows_it(report: CheckReport) -> None:
    assert unpack_report(URL, pack_outcome(report.outcome), pack_report(report)) == as_json(report)


def test_the_report_of_a_check_that_found_nothing_new_takes_few_bytes() -> None:
    report = CheckReport(
        URL,
        "unchanged",
        rule="T42",
        basis="declared",
        declares=("created", "topper"),
        status=200,
        final_url=URL,
        attempts=1,
        bytes=9000,
        elapsed_ms=40,
    )

    assert len(pack_report(report)) < 25
    assert len(pack_report(msgspec.structs.replace(report, status=304, not_modified=True, saved_bytes=9000))) < 30


def test_a_report_from_before_there_were_signals_has_none() -> None:
    assert (
        unpack_report(URL, 0, '[200,1,9000,40,0,null,null,null,["refresh"],null,null,null,null,null]')["signals"] == []
    )


def test_every_outcome_of_a_check_has_a_number_of_its_own() -> None:
    numbers = [pack_outcome(outcome) for outcome in CheckOutcome]

    assert sorted(map(str, numbers)) == sorted(str(number) for number in range(len(CheckOutcome)))


@given(WORDS | st.builds("every {} (jittered)".format, WORDS))
@example("every 24h (jittered)")
@example("every  (jittered)")
@example("every now (jittered) (jittered)")
@example("off")
def test_a_reason_is_read_back_as_it_was(why: str) -> None:
    assert unpack_why(pack_why(why)) == why or why.startswith("~")


def test_the_reason_of_most_pages_is_kept_as_its_interval() -> None:
    _, why = next_check(1, NOW, PageSettings(every=timedelta(hours=24)))

    assert (why, pack_why(why)) == ("every 24h (jittered)", "~24h")


@given(WORDS | st.from_regex(r"\A2(\.[0-9a-f]{8})?:[0-9a-f]{32}\Z") | st.from_regex(r"\A[^:]?:[0-9A-Fa-f ]{32}\Z"))
@example("2:" + "0" * 32)
@example(":" + "ab" * 16)
@example("2:" + "AB" * 16)
@example("1:abc")
def test_a_digest_is_read_back_as_it_was(digest: str) -> None:
    assert unpack_digest(pack_digest(digest)) == digest


def test_a_digest_takes_half_its_digits() -> None:
    assert pack_digest("2:" + "0f" * 16) == b"2" + b"\x0f" * 16


@given(st.lists(st.none() | WORDS, max_size=12).map(tuple))
def test_the_values_of_a_state_are_read_back_as_they_were(values: tuple[str | None, ...]) -> None:
    packed = write_fields(values)

    assert read_fields(packed) == values


@given(st.text())
def test_the_key_of_a_url_fills_four_bytes_at_most(url: str) -> None:
    assert -(2**31) <= url_key(url) < 2**31


@pytest.mark.parametrize("written", ["[1]", "{", "", "\x1b[31m"])
def test_what_is_no_object_in_the_store_is_said_with_the_mend(written: str) -> None:
    with pytest.raises(StoreError, match=r"where a JSON object must be .* restore a backup") as said:
        read_object(written)

    assert "\x1b" not in str(said.value)


async def test_two_pages_whose_urls_have_one_key_are_told_apart(tmp_path: Path) -> None:
    desk = await Desk.at(tmp_path)
    async with desk.store:
        await desk.watch(A, B)
        with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db, db:
            db.execute("update pages set key = (select key from pages where url = ?)", [B])

        assert (await desk.page(B)).id == 2
        assert await desk.store.add_pages([new_page(B)], NOW) == [None]
