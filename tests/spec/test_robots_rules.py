"""The rules of one robots.txt (RFC 9309)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.robots.rules import LONGEST_ROBOTS_BYTES, parse_robots

SITE = "https://a.example"
ROBOTS = b"""\
# our house rules
User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$
Crawl-delay: 2.5

User-agent: tocsin
User-agent: other
Disallow: /bells
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("someone", "/", True),
        ("someone", "/private/", False),
        ("someone", "/private/open/a", True),
        ("someone", "/a.pdf", False),
        ("someone", "/a.pdf?x", True),
        ("someone", "/bells", True),
        ("tocsin", "/bells/1", False),
        ("Tocsin", "/bells", False),
        ("tocsin", "/private/", True),
        ("other", "/bells", False),
    ],
)
def test_the_longest_rule_of_the_agent_s_own_group_decides(agent: str, path: str, allowed: bool) -> None:  # noqa: FBT001 - a table
    assert parse_robots(ROBOTS).allows(agent, SITE + path).allowed is allowed


def test_a_ruling_names_the_rule_that_decided() -> None:
    rules = parse_robots(ROBOTS)

    assert rules.allows("tocsin", f"{SITE}/bells/1").rule == "Disallow: /bells"
    assert rules.allows("someone", f"{SITE}/a.pdf").rule == "Disallow: /*.pdf$"
    assert rules.allows("someone", f"{SITE}/").rule is None


def test_robots_txt_itself_is_always_allowed() -> None:
    assert parse_robots(b"User-agent: *\nDisallow: /").allows("tocsin", f"{SITE}/robots.txt").allowed


def test_a_crawl_delay_is_read() -> None:
    rules = parse_robots(ROBOTS)

    assert rules.crawl_delay("someone") == 2.5
    assert rules.crawl_delay("tocsin") is None


def test_a_byte_order_mark_and_carriage_returns_are_no_obstacle() -> None:
    rules = parse_robots(b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /x\r\n")

    assert not rules.allows("tocsin", f"{SITE}/x").allowed


def test_what_lies_beyond_500_kib_is_not_read() -> None:
    body = b"User-agent: *\n" + b"#" * LONGEST_ROBOTS_BYTES + b"\nDisallow: /\n"

    assert parse_robots(body).allows("tocsin", f"{SITE}/").allowed


@pytest.mark.parametrize("body", [b"", b"<!doctype html><p>not here", b"\xff\xfe\x00", b"Disallow: /"])
def test_what_holds_no_rules_forbids_nothing(body: bytes) -> None:
    assert parse_robots(body).allows("tocsin", f"{SITE}/").allowed


@given(st.binary() | st.text().map(str.encode), st.text(max_size=20), st.text(max_size=30))
def test_no_bytes_are_too_strange(body: bytes, agent: str, path: str) -> None:
    rules = parse_robots(b"User-agent: *\nDisallow: /*" + body)

    rules.allows(agent, f"{SITE}/{path}")
    rules.crawl_delay(agent)
