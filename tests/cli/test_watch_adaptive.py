"""Adaptive checking as people set it, and are told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calling import Installation

A, B = "https://example.org/a", "https://example.org/b"


def settings_of(installation: Installation, url: str) -> object:
    return next(record["settings"] for record in installation.call("watch", "list").records if record["url"] == url)


def test_a_page_is_made_adaptive_within_its_own_bounds(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--adaptive", "yes", "--every-min", "2h", "--every-max", "14d")
    installation.call("watch", "add", "--no-check", B)

    assert settings_of(installation, A) == {"adaptive": True, "every_min": "2h", "every_max": "14d"}
    assert settings_of(installation, B) == {}


def test_a_group_is_made_adaptive_and_a_page_of_it_is_not(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--group", "news")

    group = installation.call("watch", "set", "--group", "news", "--adaptive", "yes", "--every-max", "7d")
    installation.call("watch", "set", A, "--adaptive", "no")

    assert group.records[0]["set"] == {"adaptive": True, "every_max": "7d"}
    assert settings_of(installation, A) == {"adaptive": False}


def test_adaptive_checking_is_taken_back(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--adaptive", "yes")

    installation.call("watch", "set", A, "--unset", "adaptive")

    assert settings_of(installation, A) == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--every-min", "2d", "--every-max", "1d"), "the least interval is longer"),
        (("--adaptive", "yes", "--cron", "0 6 * * *"), "exclude each other"),
        (("--adaptive", "often"), "--adaptive: pages.adaptive"),
    ],
)
def test_what_cannot_hold_together_is_refused(installation: Installation, options: tuple[str, ...], words: str) -> None:
    answer = installation.call("watch", "add", "--no-check", A, *options)

    assert answer.status == 2
    assert words in answer.err
