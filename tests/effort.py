"""Effort that says nothing about the machine: how many functions are called.

A time measured in a test tells what else the machine was doing. What must not take long is held to one of two things
instead: the calls it makes, counted here; or, where the work is done within one call, an input so large that the wrong
way would take hours, and every test's deadline ends it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(work: Callable[[], object]) -> int:
    """Count the functions that `work` calls, Python's and C's; each entry of a generator is one. The same each time."""
    count = 0

    def tell(_frame: FrameType, event: str, _detail: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(tell)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
