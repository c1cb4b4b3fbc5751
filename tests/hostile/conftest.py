"""What all tests of misbehaving servers share."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def _quick_collection() -> Iterator[None]:
    """Keep what stands before the first test out of the many looks for what was left: they take ten times as long."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
