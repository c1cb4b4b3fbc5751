from __future__ import annotations

import pytest

from tocsin.spec.topper import dates


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    """Tokens that an earlier test read are read anew, or a fault in reading them would go unnoticed."""
    dates._remembered.cache_clear()
