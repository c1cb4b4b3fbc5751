from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spec.signals.seeing import seen
from tocsin.spec.signals.listed import FEED, SITEMAP

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Signal


@pytest.mark.parametrize("signal", [FEED, SITEMAP])
def test_what_a_list_says_is_read(signal: Signal) -> None:
    listed = {signal.name: "Wed, 01 May 2024 12:00:00 +0200"}

    assert signal.read(seen(listed=listed)) == "2024-05-01T10:00:00Z"
    assert signal.read(seen()) is None


def test_each_list_speaks_for_itself() -> None:
    assert SITEMAP.read(seen(listed={"feed": "2024-05-01"})) is None
