"""The content of JSON and of plain text: value by value, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as s

from tocsin.spec.signals.content import compare_contents, content_of_plain
from tocsin.spec.signals.plain import read_plain

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


def lines(body: bytes | str, content_type: str | None = JSON) -> list[str] | None:
    read = read_plain(body.encode() if isinstance(body, str) else body, content_type)
    return None if read is None else read.blocks.texts


def is_change(old: Any, new: Any, content_type: str = JSON) -> bool:
    before, latest = (
        read_plain((each if isinstance(each, str) else json.dumps(each)).encode(), content_type) for each in (old, new)
    )
    assert before is not None
    assert latest is not None
    known = content_of_plain(before.blocks).fingerprint
    return compare_contents(known, content_of_plain(latest.blocks)).is_change


STOCK: dict[str, Any] = {
    "shop": {"open": True, "phone": None},
    "items": [{"name": "Pear", "price": 3}, {"name": "Plum", "price": 12.5}],
}


def test_each_value_of_json_is_a_line_with_its_path_and_a_short_element_of_a_list_is_one() -> None:
    assert lines(json.dumps(STOCK)) == [
        "shop.open: true",
        "shop.phone: null",
        'items[]: {"name":"Pear","price":3}',
        'items[]: {"name":"Plum","price":"12.5"}',
    ]


def test_long_elements_of_a_list_are_lines_of_their_own() -> None:
    assert lines(json.dumps([{"text": "x" * 200, "tags": ["a", "b"]}])) == [
        f"[].text: {'x' * 200}",
        "[].tags[]: a",
        "[].tags[]: b",
    ]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"shop": {"open": False, "phone": None}, "items": STOCK["items"]}, True),
        ({**STOCK, "items": [{"name": "Pear", "price": 4}, {"name": "Plum", "price": 12.5}]}, True),
        ({**STOCK, "items": [{"name": "Pear", "price": 12.5}, {"name": "Plum", "price": 3}]}, True),
        ({**STOCK, "items": STOCK["items"][:1]}, True),
        (dict(reversed(STOCK.items())), False),
        ({**STOCK, "items": [{"price": 3, "name": "Pear"}, {"price": 12.5, "name": "Plum"}]}, False),
    ],
    ids=["a value", "a price", "two prices swapped", "an element less", "other order of members", "and in a list"],
)
def test_another_value_is_a_change_and_another_order_of_members_is_none(changed: Any, *, told: bool) -> None:
    assert is_change(STOCK, changed) is told


def test_white_space_between_values_of_json_is_no_change() -> None:
    assert not is_change(json.dumps(STOCK), json.dumps(STOCK, indent=4))


def test_an_element_that_is_added_first_is_one_new_line() -> None:
    before, after = (
        lines(json.dumps([{"name": name} for name in names])) for names in (("Pear", "Plum"), ("Fig", "Pear", "Plum"))
    )
    assert after == ['[]: {"name":"Fig"}', *(before or [])]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("All systems run.\nQueue: short\n", "All systems run.\r\nQueue: short", False),
        ("All systems run.\nQueue: short\n", "Some systems are down.\nQueue: short\n", True),
        ("a\nb\n\n\nc", "a\n\nb\nc", False),
    ],
    ids=["ends of lines", "a line", "empty lines"],
)
def test_plain_text_is_compared_line_by_line(old: str, new: str, *, told: bool) -> None:
    assert is_change(old, new, TEXT) is told


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"caf\xe9", "text/plain", ["caf\xe9"]),
        ("café".encode("utf-16"), "text/plain", ["café"]),
        (b"\xef\xbb\xbf[1]", "application/problem+json", ["[]: 1"]),
        (b"<a><b>1</b></a>", "application/xml", ["<a><b>1</b></a>"]),
        (b"a: 1", "application/yaml", ["a: 1"]),
        (b"Some text", None, ["Some text"]),
        (b"\0\1\2", "text/plain", None),
        (b"%PDF-1.7", "application/pdf", None),
        (b"<svg></svg>", "image/svg+xml", None),
        (b"abc", "application/octet-stream", None),
    ],
)
def test_the_type_and_the_bytes_say_what_is_text(
    body: bytes, content_type: str | None, expected: list[str] | None
) -> None:
    assert lines(body, content_type) == expected


@pytest.mark.parametrize(
    "body",
    ["{'a': 1}", "[1, 2", "[NaN]", "[" * 100_000, "[" + "9" * 5000 + "]", '["\\ud800"]'],
    ids=["quotes", "cut off", "NaN", "deep", "a huge number", "half a letter"],
)
def test_json_that_is_not_valid_is_read_as_lines(body: str) -> None:
    assert lines(body) == [body]


@pytest.mark.parametrize(
    "body",
    [
        "x" * 5_000_000,
        "x " * 2_500_000,
        "3 views, 5 minutes ago. " * 200_000,
        "a\n" * 1_000_000,
        json.dumps(["x" * 2_000_000, {"y" * 2_000_000: "z" * 900_000}]),
        "[" + ",".join(["1"] * 1_000_000) + "]",
        '{"%s":' % ("k" * 5000) * 400 + "1" + "}" * 400,
        "[" * 900 + ",".join(['{"a":[1]}'] * 90_000) + "]" * 900,
    ],
    ids=["one line", "words", "clocks", "lines", "long values", "values", "long paths", "deep and wide"],
)
def test_what_is_large_deep_or_long_is_read_in_bounds(body: str) -> None:
    read = read_plain(body.encode(), JSON)

    assert read is not None
    assert len(read.blocks.texts) <= 50_001
    # A path never makes a text many times as long as it is.
    assert sum(map(len, read.blocks.texts)) <= 5 * len(body) + 300 * len(read.blocks.texts)
    assert content_of_plain(read.blocks).fingerprint


def test_numbers_stay_as_they_are_written() -> None:
    assert lines("[1e999, 123456789012345678901234567890]") == ["[]: 1e999", "[]: 123456789012345678901234567890"]


@given(
    s.recursive(
        s.none() | s.booleans() | s.integers() | s.text(), lambda each: s.lists(each) | s.dictionaries(s.text(), each)
    )
)
def test_every_json_has_lines(value: Any) -> None:
    read = read_plain(json.dumps(value).encode(), JSON)

    assert read is not None
    assert len(read.blocks.texts) == len(read.blocks.marks) == len(read.blocks.paths) > 0
