"""The demo site's button, wherever it is offered."""

from __future__ import annotations

import pytest

from tests.contract.desk import A
from tests.web.asking import Reader, words_of

OFFER = "Watch the demo site"


async def test_the_demo_is_offered_under_settings_once_something_is_watched(reader: Reader) -> None:
    await reader.desk.watch(A)

    assert OFFER not in words_of(await reader.read("/pages"))
    assert OFFER in words_of(await reader.read("/settings"))
    assert OFFER not in words_of(await reader.read("/settings/group?name=main"))


async def test_a_demo_that_runs_is_not_offered(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader.rig.service.demo, "is_on", True)

    assert OFFER not in words_of(await reader.read("/settings"))
