"""The user's rules for signals."""

from __future__ import annotations

import pytest

from tocsin.spec.signals.weigh import parse_rule, parse_rules, rule_for

NAMES = ("json-ld.modified", "json-ld.version", "header.etag", "header.last-modified", "meta.last-modified", "content")


@pytest.mark.parametrize(
    ("text", "signal", "says", "share"),
    [
        ("json-ld.version: major", "json-ld.version", "major", 0.0),
        ("JSON-LD version: major", "json-ld.version", "major", 0.0),
        ("content by 30 %: major", "content", "major", 0.3),
        ("content by 30%:major", "content", "major", 0.3),
        ("jsonld version: minor", "json-ld.version", "minor", 0.0),
        ("content: minor", "content", "minor", 0.0),
        ("ignore ETag", "header.etag", "nothing", 0.0),
        ("etag: ignore", "header.etag", "nothing", 0.0),
    ],
)
def test_a_rule_is_read_as_people_write_it(text: str, signal: str, says: str, share: float) -> None:
    rule = parse_rule(text, NAMES)

    assert (rule.signal, rule.says, rule.share) == (signal, says, share)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "write SIGNAL: major"),
        ("json-ld.version", "write SIGNAL: major"),
        ("json-ld.version: huge", "write SIGNAL: major"),
        ("jsonld verson: major", "there is no signal"),
        ("last-modified: ignore", "there is no signal"),
        ("content by 0 %: major", "by a share"),
        ("content by 130 %: major", "by a share"),
        ("etag by 30 %: major", "only the content"),
    ],
)
def test_a_rule_that_means_nothing_is_refused_with_the_mend(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        parse_rule(text, NAMES)


def test_rules_that_can_no_longer_be_read_say_nothing() -> None:
    assert parse_rules(("gone.signal: major", "etag: minor"), NAMES) == (parse_rule("etag: minor", NAMES),)


def test_the_largest_share_that_was_reached_decides() -> None:
    rules = parse_rules(("content: ignore", "content by 5 %: minor", "content by 30 %: major"), NAMES)

    found = [rule_for("content", rules, share) for share in (0.01, 0.05, 0.29, 0.3, 1.0)]

    assert [rule and rule.says for rule in found] == ["nothing", "minor", "minor", "major", "major"]


def test_a_signal_without_a_rule_has_none() -> None:
    assert rule_for("json-ld.version", parse_rules(("etag: ignore",), NAMES)) is None
