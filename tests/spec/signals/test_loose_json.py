from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.signals.linked import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_read_as_json(value: Any) -> None:
    assert read_json(json.dumps(value)) == ([value], None)


@pytest.mark.parametrize(
    "text",
    [
        '<!-- {"a": "1", "b": ["2"]} -->',
        '//<![CDATA[\n{"a": "1", "b": ["2"]}\n//]]>',
        '/* data */ {"a": "1", "b": ["2"]}',
        '{"a": "1", "b": ["2"],}',
        '{"a": "1", "b": ["2",],};',
        '{"a": "1" "b": ["2"]}',
        '{"a": "1", "c": , "b": ["2"]}',
        '{"a": "1", "b": ["2"}',
        '{"a": "1", "b": ["2"]',
        '{"a": "1", "b": ["2"]}}',
    ],
)
def test_what_is_nearly_json_is_understood(text: str) -> None:
    values, problem = read_json(text)

    assert values[0]["a"] == "1"
    assert values[0]["b"] == ["2"]
    assert problem


def test_letters_that_json_forbids_are_taken() -> None:
    assert read_json('{"a": "one\ntwo\\q \\u00e9 \\ud83d\\ude00"}')[0] == [{"a": "one\ntwoq é 😀"}]


def test_documents_one_after_the_other_are_all_read() -> None:
    assert read_json('{"a": 1}\n{"b": true}')[0] == [{"a": "1"}, {"b": True}]


def test_what_is_too_deep_is_left_out_and_the_rest_is_read() -> None:
    deep = "[" * 5000 + "]" * 5000

    values, problem = read_json(f'{{"deep": {deep}, "a": "1"}}')

    assert values[0]["a"] == "1"
    assert problem


@given(st.text(alphabet='{}[]:,"\\u0a \n') | st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    read_json(text)


@pytest.mark.parametrize("piece", ['\\"', '"', "{", "}", "[}", '{"a":', ",", "<!--", "\\", " "])
def test_a_million_of_what_is_wrong_takes_no_time(piece: str) -> None:
    _, problem = read_json(f'{{"a": {piece * 1_000_000}')

    assert problem
