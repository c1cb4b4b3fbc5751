"""A store on PostgreSQL for each test, which must be sound when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import desk
from tests.contract.stores import STORES

__all__ = ["desk"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    """The kind of store that `desk` is."""
    STORES["postgresql"](tmp_path)
    yield "postgresql"
    STORES["postgresql"](tmp_path).remove()
