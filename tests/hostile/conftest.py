"""What all tests of misbehaving servers share."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

import pytest

from tocsin.adapters.http import deadlines


@pytest.fixture
def hasten(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let seconds pass at once, for the loop as for the program: what waits for a deadline or a pause has waited.

    So a test says itself what has come before a deadline is over, on whatever machine.
    """
    ahead_s, monotonic = 0.0, time.monotonic

    def pass_by(seconds: float) -> None:
        nonlocal ahead_s
        ahead_s += seconds

    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + ahead_s)
    # These seconds pass for servers; the loop is not late by them.
    monkeypatch.setattr(deadlines, "PUNCTUAL_S", math.inf)
    return pass_by


@pytest.fixture(scope="module", autouse=True)
def _quick_collection() -> None:
    """Keep what stands before the first test out of the many looks for what was left: they take ten times as long."""
    gc.collect()
    gc.freeze()
