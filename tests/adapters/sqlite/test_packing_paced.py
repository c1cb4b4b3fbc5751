"""Reasons of adaptive checking, as a page's row holds them."""

from __future__ import annotations

import pytest

from tests.fakes import START
from tocsin.adapters.stores.sql.values import pack_why, unpack_why
from tocsin.engine.judging.cadence import next_check
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings

_ODD = (
    "adaptive: changed in 5 of 40 checks, about every 4d; every 2d\n",
    "adaptive: changed in 5 of 40 checks, about every ; every 2d",
    "adaptive: something else",
)


@pytest.mark.parametrize("changes", [0, 1, 7])
@pytest.mark.parametrize("fresh_s", [None, 86_400])
@pytest.mark.parametrize("quiet_s", [600.0, 86_400.0, 1e6, 1e12])
def test_a_reason_is_kept_short_and_read_as_it_was(changes: int, fresh_s: int | None, quiet_s: float) -> None:
    pace = ChangePace(checks=40.0, dated=float(changes), quiet_s=quiet_s)
    _, why = next_check(7, START, PageSettings(adaptive=True), pace=pace, fresh_s=fresh_s)

    assert len(pack_why(why)) < len(why) / 2
    assert unpack_why(pack_why(why)) == why


@pytest.mark.parametrize("why", _ODD)
def test_words_of_another_form_stay_as_they_are(why: str) -> None:
    assert unpack_why(pack_why(why)) == why
