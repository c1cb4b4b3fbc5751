"""How many fetcher processes a configuration means on this machine."""

from __future__ import annotations

import os
from typing import Literal

import pytest

from tocsin.app.executing import WORTH_A_PROCESS, fetchers_of
from tocsin.settings import FetchSettings, Settings


def settings(fetchers: Literal["auto"] | int) -> Settings:
    return Settings(fetch=FetchSettings(fetchers=fetchers))


@pytest.mark.parametrize(("cores", "fetchers"), [(1, 1), (2, 1), (3, 2), (8, 7)])
def test_as_many_as_there_are_cores_to_spare_at_least_one(
    monkeypatch: pytest.MonkeyPatch, cores: int, fetchers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)

    assert fetchers_of(settings("auto")) == fetchers


def test_a_one_shot_check_of_few_pages_starts_none() -> None:
    assert fetchers_of(settings("auto"), pages=WORTH_A_PROCESS - 1) == 0
    assert fetchers_of(settings("auto"), pages=WORTH_A_PROCESS) >= 1


@pytest.mark.parametrize("number", [0, 1, 5])
def test_a_number_that_was_set_holds_always(number: int) -> None:
    assert fetchers_of(settings(number)) == number
    assert fetchers_of(settings(number), pages=1) == number
