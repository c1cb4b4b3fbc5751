"""Every screen in German: no sentence is the same as in English, but those of pages, of code, and marked as English."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.server.web.visiting import Visitor, tree
from tocsin.model import AlertQuery

SCREENS: Final = (
    "/changes?show=all&open=all", "/changes?show=problems&open=all", "/pages?more=1", "/pages?view=problems&more=1",
    "/pages?q=!!", "/pages/1", "/pages/2", "/pages/3", "/pages/5", "/pages/1/text", "/pages/1/settings", "/add",
    "/questions", "/questions/1", "/questions?show=standing", "/notifications", "/notifications/route",
    "/notifications/channel", "/notifications/channel?type=webhook", "/notifications/channel?type=mail",
    "/notifications/digests", "/notifications/preview?channel=log", "/activity", "/activity/jobs", "/activity/dead",
    "/machines", "/rules", "/settings", "/settings/groups", "/settings/force", "/settings/access", "/settings/audit",
    "/nowhere", "/pages/99999", "/questions/999", "/jobs/999",
)  # fmt: skip
NOT_OURS: Final = "//script|//style|//code|//pre|//kbd|//svg//text|//*[@lang='en']|//*[@dir='auto']|//ins|//del"
SENTENCE: Final = re.compile(r"[a-z]{3,} [a-z]{3,}")
READ_OUT: Final = ("title", "aria-label", "placeholder")


def sentences_of(page: str) -> set[str]:
    """What a screen says itself: two words and more."""
    found = tree(page)
    for other in found.xpath(NOT_OURS):
        other.text = ""
        for inner in list(other):
            other.remove(inner)
    said = [text for each in found.iter() for text in (each.text, each.tail, *map(each.get, READ_OUT)) if text]
    return {line for text in said if SENTENCE.search(line := " ".join(str(text).split()))}


async def both(visitor: Visitor, path: str) -> tuple[set[str], set[str]]:
    """The sentences of a screen in English and in German."""
    answers = [
        await visitor.client.get(path, headers={"accept": "text/html", "accept-language": each})
        for each in ("en", "de")
    ]
    english, german = (sentences_of(each.text) for each in answers)
    return english, german


@pytest.mark.parametrize("path", SCREENS)
async def test_a_screen_in_german_says_nothing_in_english(visitor: Visitor, path: str) -> None:
    english, german = await both(visitor, path)

    assert len(german) > 2
    assert english & german == set()


async def test_every_kind_of_change_in_german_says_nothing_in_english(visitor: Visitor) -> None:
    rows = (await visitor.store.browse_alerts(AlertQuery(), limit=40)).rows
    found = [await both(visitor, f"/changes/{row.id}") for row in rows]

    assert len({row.type for row in rows}) > 3
    assert [sorted(english & german) for english, german in found if english & german] == []
