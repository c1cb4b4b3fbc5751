"""A process that may open no more files, for as long as a test wants it."""

from __future__ import annotations

import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_file_left() -> Iterator[None]:
    """Let this process open no further file inside; what is open stays open."""
    # Garbage that is collected inside would give back its files.
    gc.collect()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    last = os.open(os.devnull, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1, hard))
    try:
        try:
            while True:
                # What was closed below the last one has left gaps.
                taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for file in (*taken, last):
            os.close(file)
