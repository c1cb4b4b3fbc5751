"""Comparing what the store says was accepted with what channels were given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.demo.ledger import find_fault, is_settled
from tocsin.model import AlertRow


def alert(position: int, page_id: int | None = 1, *, state: str = "accepted") -> AlertRow:
    deliveries = (("journal", state, 1, None),)
    return AlertRow(f"id-{position}", position, "tocsin.page.changed.v1", page_id, "http://a/", 0, {}, deliveries)


def event(position: int) -> dict[str, str]:
    return {"id": f"id-{position}"}


def test_alerts_given_in_order_have_no_fault() -> None:
    assert find_fault([alert(1), alert(2)], [event(1), event(2)]) is None


@given(st.permutations([1, 2, 3, 4]))
def test_alerts_of_different_pages_may_come_in_any_order(order: list[int]) -> None:
    assert find_fault([alert(number, number) for number in range(1, 5)], [event(number) for number in order]) is None


def test_T72_an_alert_may_come_twice() -> None:
    assert find_fault([alert(1), alert(2)], [event(1), event(1), event(2)]) is None


def test_a_lost_alert_is_named() -> None:
    assert "id-2" in (find_fault([alert(1), alert(2)], [event(1)]) or "")


def test_an_event_of_no_alert_is_named() -> None:
    assert "id-9" in (find_fault([alert(1)], [event(1), event(9)]) or "")


def test_alerts_of_one_page_in_the_wrong_order_are_named() -> None:
    assert "alerts 1 and 2" in (find_fault([alert(1), alert(2)], [event(2), event(1)]) or "")


def test_what_a_channel_has_not_accepted_is_not_settled() -> None:
    assert is_settled([alert(1)])
    assert not is_settled([alert(1), alert(2, state="waiting")])
