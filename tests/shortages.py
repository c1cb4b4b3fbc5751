"""A process that may open no more files, for as long as a test wants it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_file_left() -> Iterator[None]:
    """Let this process open no further file inside; what is open stays open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Not just above those that are open: what a thread of an earlier test or the garbage collector closes inside would
    # make room for one.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
