"""What a check makes of its picture: a verdict by the user's rule, and what later pictures are compared with."""

from __future__ import annotations

import pytest

from tests.builders import DAY
from tests.engine.watching import FIRST, NEWS, Watched, page
from tocsin.model import CheckResult, KeptPicture, PictureDifference, SeenPicture

RULE = "picture by 5 %: minor"
NOARCHIVE = "<meta name=robots content=noarchive>"


def seen(name: str, share: float | None = None) -> SeenPicture:
    """A picture that differs by a share from the one before; the first one without a share."""
    difference = PictureDifference(share) if share is not None else None
    return SeenPicture(KeptPicture(name, 1280, 2000, 3, None if share is None else "before", difference))


def watched() -> Watched:
    """A page in a browser, whose first check took the picture "first"."""
    found = Watched(fetch="browser", signal_rules=(RULE,))
    result = found.check(page(), seen=seen("first"))
    assert kept(result) == "first"
    return found


def kept(result: CheckResult) -> str | None:
    return result.learnt.picture.digest if result.learnt.picture is not None else None


def trace(result: CheckResult) -> list[str]:
    assert result.verdict is not None
    return [step["why"] for step in result.verdict.data["trace"]]


def test_a_page_of_equal_bytes_that_looks_different_is_told_by_its_rule() -> None:
    result = watched().check(page(), seen=seen("second", 0.07))

    assert (result.report.outcome, result.report.rule, result.report.basis) == ("minor", "S4", "inferred")
    assert trace(result)[1:] == [f"the picture differs by 7 %; your rule: {RULE}"]
    assert kept(result) == "second"


def test_a_smaller_difference_says_nothing_and_what_it_is_compared_with_stays() -> None:
    result = watched().check(page(), seen=seen("second", 0.04))

    assert (result.report.outcome, kept(result)) == ("unchanged", None)


def test_the_same_picture_says_nothing() -> None:
    result = watched().check(page(), seen=SeenPicture())

    assert (result.report.outcome, kept(result)) == ("unchanged", None)


def test_another_text_is_told_with_its_picture_which_later_ones_are_compared_with() -> None:
    result = watched().check(page(FIRST, NEWS), seen=seen("second", 0.02))

    assert result.report.signals == ("content",)
    assert trace(result)[-1] == "the picture differs by 2 %, which is less than your rules ask for"
    assert kept(result) == "second"


def test_a_text_that_looks_different_is_still_one_that_pages_of_a_host_may_share() -> None:
    result = watched().check(page(FIRST, NEWS), seen=seen("second", 0.2))

    assert result.report.signals == ("content", "picture")
    assert result.verdict is not None
    assert result.verdict.storm_key is not None


def test_where_pictures_are_compared_for_the_first_time_nothing_is_told() -> None:
    page_before = Watched(fetch="browser")
    page_before.check(page())
    page_before.set(signal_rules=(RULE,))

    result = page_before.check(page(), seen=seen("latest", 0.5))

    assert (result.report.outcome, kept(result)) == ("unchanged", "latest")


def test_a_slide_show_is_muted_once_it_changed_in_three_of_seven_checks() -> None:
    slides = watched()

    outcomes = [slides.check(page(), seen=seen(f"slide {number}", 0.3)).report.outcome for number in range(5)]

    assert outcomes == ["minor", "minor", "minor", "unchanged", "unchanged"]


def test_of_a_page_that_forbids_copies_no_picture_is_kept() -> None:
    secret = Watched(fetch="browser", signal_rules=(RULE,))
    body = page(head=NOARCHIVE)

    assert [kept(secret.check(body, seen=seen("one"))) for _ in range(2)] == [None, None]


def test_signals_that_are_not_read_leave_the_picture_alone() -> None:
    declaring = watched()
    topper = page(head='<meta name="topper-minor" content="2026-01-01">')
    declaring.check(topper, seen=seen("second", 0.01))

    result = declaring.check(topper, seen=seen("third", 0.9))

    assert (result.report.outcome, kept(result)) == ("unchanged", None)


@pytest.mark.parametrize("fetch", ["http", "auto"])
def test_a_rule_about_the_picture_of_a_page_that_is_read_by_http_is_explained(fetch: str) -> None:
    result = Watched(fetch=fetch, signal_rules=(RULE,)).check(page())

    assert "checks by HTTP see none; read it in a browser" in (result.report.problem or "")
    assert "picture" not in (Watched(fetch=fetch, signal_rules=("content: minor",)).check(page()).report.problem or "")


def test_why_a_picture_was_not_compared_is_a_problem_of_the_check() -> None:
    result = watched().check(page(), seen=SeenPicture(problem="no room"))

    assert (result.report.outcome, result.report.problem) == ("unchanged", "no room")


def test_a_picture_is_kept_as_of_the_state_that_it_shows() -> None:
    late = watched()
    result = late.check(page(), seen=seen("second", 0.5))

    assert result.state is not None
    assert result.verdict is not None
    assert result.state.stored_at == result.verdict.at == late.at - DAY
