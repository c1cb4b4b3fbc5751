"""A store on SQLite for each test, which must be sound when the test is over."""

from tests.contract.conftest import desk

__all__ = ["desk"]
