from __future__ import annotations

import pytest

from tocsin.spec.topper.compare import Mode, Outcome, Tell, is_awareness_due, is_stored


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("latest", [True, False])
def test_T50_a_page_that_is_on_is_stored_whatever_it_says(*, answer: bool, latest: bool) -> None:
    assert is_stored(Mode.ON, answer_subject=answer, latest_subject=latest)


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("latest", [True, False])
def test_T51_a_page_that_is_off_is_never_stored(*, answer: bool, latest: bool) -> None:
    assert not is_stored(Mode.OFF, answer_subject=answer, latest_subject=latest)


@pytest.mark.parametrize(
    ("answer", "latest", "stored"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_T51_a_page_on_auto_is_stored_while_it_asks_and_once_after(*, answer: bool, latest: bool, stored: bool) -> None:
    assert is_stored(Mode.AUTO, answer_subject=answer, latest_subject=latest) is stored


@pytest.mark.parametrize(
    ("outcome", "of_any", "of_major"),
    [
        (Outcome.FIRST, False, False),
        (Outcome.UNCHANGED, False, False),
        (Outcome.TOO_SOON, False, False),
        (Outcome.MINOR, True, False),
        (Outcome.MAJOR, True, True),
    ],
)
def test_T54_awareness_is_of_any_change_or_of_major_ones(*, outcome: Outcome, of_any: bool, of_major: bool) -> None:
    assert is_awareness_due(outcome, Tell.ANY) is of_any
    assert is_awareness_due(outcome, Tell.MAJOR) is of_major


def test_modes_and_policies_are_named_as_in_the_configuration() -> None:
    assert [mode.value for mode in Mode] == ["on", "auto", "off"]
    assert [tell.value for tell in Tell] == ["any", "major"]
