"""The sentence of an event is the same wherever a person reads it."""

from __future__ import annotations

import pytest

from tests.alert_examples import examples
from tocsin.cli.alerts import _row
from tocsin.model import AlertRow, JsonObject
from tocsin.server.streams.feed import entry_of
from tocsin.server.web.telling import tell

ALERTS = [AlertRow(event["id"], 1, event["type"], 812, None, 0, event) for event in examples()]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.type)
def test_web_feed_and_terminal_say_what_the_event_says(alert: AlertRow) -> None:
    data: JsonObject = alert.event["data"]

    assert tell(alert).summary == data["summary"]
    assert entry_of(alert, "").summary.startswith(data["summary"])
    assert data["short"] in _row(alert)


def test_an_event_without_a_sentence_is_listed_all_the_same() -> None:
    alert = AlertRow("01", 1, "tocsin.page.changed.v1", 812, None, 0, {"data": {"outcome": "major"}})

    assert tell(alert).summary is None
    assert entry_of(alert, "").summary == "Major change"
    assert "changed: major" in _row(alert)
