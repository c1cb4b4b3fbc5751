"""A store on SQLite for each test, which must be sound when the test is over."""

import pytest

from tests.contract.conftest import desk

__all__ = ["desk"]


@pytest.fixture
def database() -> str:
    """The kind of store that `desk` is."""
    return "sqlite"
