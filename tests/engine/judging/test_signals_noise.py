"""What changes from check to check is muted, and what goes back and forth is told as one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, json_ld, page

if TYPE_CHECKING:
    from tocsin.model import CheckResult

OTHER = (FIRST, NEWS, THIRD)


def outcomes(results: list[CheckResult]) -> list[str]:
    return [str(result.report.outcome) for result in results]


def test_a_declaration_that_changes_at_every_check_is_muted_and_says_so() -> None:
    watched = Watched(report=("unchanged",))
    results = [watched.check(page(head=json_ld(dateModified=f"2026-11-{day:02}"))) for day in range(1, 8)]

    told = outcomes(results)

    assert told[:3] == ["first", "minor", "minor"]
    assert told[-1] == "unchanged"
    (alert,) = results[-1].alerts
    assert alert.event["data"]["trace"][-1]["rule"] == "S6"


def test_a_declaration_that_changes_along_with_the_content_is_never_muted() -> None:
    watched = Watched()
    texts = [f"{NEWS} It was the boat number {day} of this week, and {day} more are to come." for day in range(1, 9)]
    results = [
        watched.check(page(FIRST, SECOND, text, head=json_ld(dateModified=f"2026-11-{day:02}")))
        for day, text in enumerate(texts, 1)
    ]

    assert {result.report.basis for result in results[1:] if result.report.outcome == "minor"} == {"declared"}
    assert outcomes(results)[-1] == "minor"


def test_what_goes_back_and_forth_is_told_once_each_way() -> None:
    watched = Watched()
    versions = [page(), page(*OTHER)]
    results = [watched.check(versions[number % 2]) for number in range(7)]

    assert outcomes(results) == ["first", "minor", "minor", *["unchanged"] * 4]
    back = results[2].verdict
    assert back is not None
    assert "back to an earlier version" in back.data["trace"][-1]["why"]


def test_how_often_it_went_back_is_counted() -> None:
    watched = Watched(report=("unchanged",))
    versions = [page(), page(*OTHER)]
    results = [watched.check(versions[number % 2]) for number in range(6)]

    assert results[-1].known is not None
    assert results[-1].known.flaps == 4
    (alert,) = results[-1].alerts
    assert alert.event["data"]["trace"][-1] == {
        "rule": "S8",
        "says": "nothing",
        "why": "content went back to an earlier version 4 times in a row, which was told once",
    }


def test_a_new_version_is_told_however_often_the_content_went_back_and_forth() -> None:
    watched = Watched()
    versions = [page(), page(*OTHER)]
    for number in range(6):
        watched.check(versions[number % 2])

    result = watched.check(page(FIRST, SECOND, THIRD, NEWS))

    assert result.report.outcome == "minor"
    assert result.known is not None
    assert result.known.flaps == 0


def test_a_declaration_is_heard_while_the_content_goes_back_and_forth() -> None:
    watched = Watched()
    for number in range(6):
        watched.check(page(*((), OTHER)[number % 2], head=json_ld(dateModified="2026-11-01")))

    result = watched.check(page(head=json_ld(dateModified="2026-11-21")))

    assert (result.report.outcome, result.report.rule) == ("minor", "S1")
    assert result.report.signals == ("json-ld.modified", "content")


def test_what_goes_back_and_forth_with_its_own_date_is_told_once_each_way() -> None:
    watched = Watched()
    versions = [
        page(head=json_ld(dateModified="2026-11-01")),
        page(*OTHER, head=json_ld(dateModified="2026-11-02")),
    ]
    results = [watched.check(versions[number % 2]) for number in range(6)]

    assert outcomes(results) == ["first", "minor", "minor", *["unchanged"] * 3]


def test_an_earlier_text_with_a_new_date_is_a_new_version() -> None:
    watched = Watched()
    for day, text in enumerate(((), OTHER, (), OTHER), 1):
        watched.check(page(*text, head=json_ld(dateModified=f"2026-11-0{day}")))

    result = watched.check(page(head=json_ld(dateModified="2026-11-05")))

    assert (result.report.outcome, result.report.basis) == ("minor", "declared")


def test_a_line_that_names_the_request_is_quiet_after_three_checks() -> None:
    watched = Watched()
    names = ("7a4e8c1d4e0ad6bf", "0f91c2d3aa04b5e6", "9e8d7c6b5a4f3e21", "4b3c2d1e0f9a8b7c", "1a2b3c4d5e6f7089")

    results = [watched.check(page(FIRST, SECOND, THIRD, f"Request {name}")) for name in names]

    assert set(outcomes(results[3:])) == {"unchanged"}
    assert not any(result.alerts for result in results[3:])


def test_a_short_row_with_a_name_of_the_request_is_learnt_though_rows_are_facts() -> None:
    watched = Watched()
    row = "<table><tr><td>Served by<td>web-{}</table>"

    results = [watched.check(page(FIRST, SECOND, THIRD, row.format(name))) for name in ("a1", "b7", "c2", "d9", "e4")]

    assert outcomes(results)[-1] == "unchanged"
