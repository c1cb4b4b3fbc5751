"""The paths of rules, taken by themselves (RFC 9309, 2.2.2 and 2.2.3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.robots.rules import canonical, parse_pattern


@pytest.mark.parametrize(
    ("value", "octets"),
    [("/", 1), ("/a?b", 4), ("/a*b$", 5), ("/ö", 7), ("/%C3%B6", 7), ("/%61%62", 3), ("/%2a", 4), ("/%", 2)],
)
def test_a_rule_is_as_long_as_it_is_once_encoded(value: str, octets: int) -> None:
    assert parse_pattern(value).octets == octets


@pytest.mark.parametrize(
    ("value", "path", "matches"),
    [("/a", "/ab", True), ("/a$", "/a", True), ("/a$", "/ab", False), ("/a", "/", False), ("*a", "a", True)],
)
def test_a_pattern_covers_what_begins_as_it_says(value: str, path: str, matches: bool) -> None:  # noqa: FBT001 - a table
    assert parse_pattern(value).is_match(path) is matches


@given(st.text())
def test_what_is_canonical_stays_so(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(st.binary(max_size=20))
def test_octets_are_equal_however_they_are_escaped(octets: bytes) -> None:
    bare = octets.decode("latin-1").encode().decode()
    escaped = "".join(f"%{octet:02x}" for octet in bare.encode() if octet != ord("/"))

    assert canonical(bare.replace("/", "").replace("%", "%25")) == canonical(escaped)
