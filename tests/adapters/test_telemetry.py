from __future__ import annotations

import io
import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.telemetry import FanOut, LogTelemetry
from tocsin.events import Happening
from tocsin.settings import LogSettings


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


def log(
    *happenings: Happening,
    level: Literal["debug", "info", "warning", "error"] = "info",
    form: Literal["auto", "human", "json"] = "json",
    stream: io.StringIO | None = None,
) -> str:
    stream = stream or io.StringIO()
    telemetry = LogTelemetry(LogSettings(level=level, format=form), stream)
    for happening in happenings:
        telemetry.emit(happening)
    return stream.getvalue()


def line(**values: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(log(Happening("page.changed", "info", values)))
    return parsed


def test_a_happening_is_one_line_of_json_when_nobody_looks() -> None:
    text = log(Happening("page.changed", "warning", {"url": "https://example.org/é", "tries": 2}), form="auto")

    parsed = json.loads(text)
    assert text.count("\n") == 1
    assert (parsed["event"], parsed["level"], parsed["url"], parsed["tries"]) == (
        "page.changed",
        "warning",
        "https://example.org/é",
        2,
    )
    assert parsed["at"].endswith("Z")


def test_a_happening_is_for_people_on_a_terminal() -> None:
    text = log(Happening("page.changed", "info", {"tries": 2}), form="auto", stream=Terminal())

    assert "page.changed" in text
    assert not text.startswith("{")


@pytest.mark.parametrize(("least", "shown"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_what_is_below_the_level_is_left_out(least: Literal["debug", "info", "warning", "error"], shown: int) -> None:
    levels: tuple[Literal["debug", "info", "warning", "error"], ...] = ("debug", "info", "warning", "error")

    text = log(*(Happening("x.y", level) for level in levels), level=least)

    assert text.count("\n") == shown


def test_secrets_never_show() -> None:
    shown = line(
        secret="a", Password="b", authorization="c", url="https://user:pw@example.org/", nested={"token": "d", "n": 1}
    )

    assert (shown["secret"], shown["Password"], shown["authorization"]) == ("***", "***", "***")
    assert shown["url"] == "https://***@example.org/"
    assert line(url="https://user:p@ss@example.org/@a")["url"] == "https://***@example.org/@a"
    assert shown["nested"] == {"token": "***", "n": 1}


@pytest.mark.parametrize("form", ["human", "json"])
def test_foreign_text_cannot_move_a_terminals_cursor(form: Literal["human", "json"]) -> None:
    hostile = "a\x1b[2J\x07\r\n\x9b1m\u202e\u2028b"

    text = log(Happening("page.odd", "info", {"title": hostile, "all": [hostile]}), form=form)

    assert text.count("\n") == 1
    assert not any(mark in text.rstrip("\n") for mark in "\x1b\x07\r\n\x9b\u202e\u2028")


def test_a_value_named_like_the_lines_own_stands_beside_it() -> None:
    shown = line(event="mine", level="high", at="noon")

    assert (shown["event"], shown["event_"], shown["level_"], shown["at_"]) == ("page.changed", "mine", "high", "noon")


@pytest.mark.parametrize("stream", [Closed(), io.StringIO()])
def test_a_log_that_cannot_be_written_disturbs_nothing(stream: io.StringIO) -> None:
    telemetry = LogTelemetry(LogSettings(), stream)
    if type(stream) is io.StringIO:
        stream.close()

    telemetry.emit(Happening("page.changed"))


@given(
    values=st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ),
    form=st.sampled_from(["human", "json"]),
)
def test_any_happening_is_one_line(values: dict[str, Any], form: Literal["human", "json"]) -> None:
    text = log(Happening("x.y", "info", values), form=form)

    assert len(text.splitlines()) == 1


def test_a_line_names_the_request_that_it_is_about() -> None:
    stream = io.StringIO()
    telemetry = LogTelemetry(LogSettings(format="json"), stream, request_id=lambda: "01ABC")

    telemetry.emit(Happening("page.added", "info", {"page_id": 7}))
    telemetry.emit(Happening("http.answered", "info", {"request_id": "its own"}))

    named = [json.loads(text) for text in stream.getvalue().splitlines()]
    assert [(line["event"], line["request_id"]) for line in named] == [
        ("page.added", "01ABC"),
        ("http.answered", "its own"),
    ]


def test_outside_of_a_request_none_is_named() -> None:
    assert "request_id" not in line(page_id=7)


def test_each_of_several_is_told() -> None:
    heard: list[list[Happening]] = [[], []]
    happening = Happening("page.added")

    class Ear:
        def __init__(self, place: int) -> None:
            self._place = place

        def emit(self, happening: Happening) -> None:
            heard[self._place].append(happening)

    FanOut([Ear(0), Ear(1)]).emit(happening)

    assert heard == [[happening], [happening]]
