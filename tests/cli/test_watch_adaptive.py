"""Adaptive checking as people set it, and are told of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.origin import Origin, Page

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


async def test_the_reason_for_the_next_check_is_stored_and_listed(installation: Installation) -> None:
    async with Origin() as site:
        url = site.url("/a")
        await asyncio.to_thread(installation.call, "watch", "add", "--no-check", url, "--adaptive", "yes")
        found = []
        for version in ("2024", "2024", "2025"):
            site.pages["/a"] = Page(f"<!doctype html><meta name=created content={version}><p>Text")
            await asyncio.to_thread(installation.call, "check", url)
            answer = await asyncio.to_thread(installation.call, "watch", "list")
            found.append(str(answer.records[0]["next_why"]))

    assert found[:2] == [
        "adaptive: nothing known yet; every 24h",
        "adaptive: changed in 0 of 1 checks; every 24h",
    ]
    assert found[2].startswith("adaptive: changed in 1 of 2 checks, about every ")
