"""How work is run: in how many processes, and with the collector and the allocator set for it."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import uvloop

from tocsin.errors import TocsinError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tocsin.settings import Settings

T = TypeVar("T")

WORTH_A_PROCESS = 10_000

GC_THRESHOLDS = (20_000, 20, 50)
# What glibc keeps when it is freed, and what it takes from the system for one block alone, to give it back at once: as
# long as a large page's text. The numbers are those of mallopt; setting one of them ends glibc's own choice of both.
_KEPT_BY_GLIBC = (("MALLOC_TRIM_THRESHOLD_", -1, 64 * 2**20), ("MALLOC_MMAP_THRESHOLD_", -3, 2**20))


def execute(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work on uvloop; of errors that several tasks raised at once, raise the first of ours."""
    leave_loaded_alone()
    # Pages leave few cycles behind: looking for them seldom saves a fifth of the processor's time.
    gc.set_threshold(*GC_THRESHOLDS)
    keep_freed_memory()
    open_files_as_allowed()
    try:
        return uvloop.run(work)
    except BaseExceptionGroup as group:
        first: BaseException | None = group.subgroup(TocsinError)
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if first is None:
            raise
        raise first from group


def leave_loaded_alone() -> None:
    """Let the collector pass over what is there by now: what is loaded stays."""
    gc.freeze()


def keep_freed_memory() -> None:
    """Let glibc keep what is freed after a page for the next one: giving it back makes parsing take twice as long.

    Where a variable of glibc's sets one of its limits, that holds; other C libraries are left as they are.
    """
    for variable, parameter, limit in _KEPT_BY_GLIBC:
        if variable not in os.environ:
            with suppress(AttributeError, OSError):
                ctypes.CDLL(None).mallopt(parameter, limit)


def open_files_as_allowed() -> None:
    """Raise our own limit on open files to what the machine allows: each connection is one, and 1,024 is the usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems call no limit at all a limit, and refuse to set it.
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def fetchers_of(settings: Settings, *, pages: int | None = None) -> int:
    """Return the number of fetcher processes: as set, or one less than there are cores, at least one.

    pages  number of pages of a one-shot check; None for a service. For a few pages, starting processes costs more than
           it brings
    """
    wanted = settings.fetch.fetchers
    if wanted != "auto":
        return wanted
    if pages is not None and pages < WORTH_A_PROCESS:
        return 0
    return max(_cores() - 1, 1)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
