"""What all tests of misbehaving servers share."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def _quick_collection() -> None:
    """Keep what stands before the first test out of the many looks for what was left: they take ten times as long."""
    gc.collect()
    gc.freeze()
