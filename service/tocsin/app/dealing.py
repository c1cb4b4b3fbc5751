"""How many processes fetch and assess."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.settings import Settings

WORTH_A_PROCESS = 10_000


def fetchers_of(settings: Settings, *, pages: int | None = None) -> int:
    """Tell how many fetcher processes are to work: as set, or as many as there are cores to spare, at least one.

    pages  so many are wanted by a one-shot check, None for a service: starting processes for a few costs more than it
           brings
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
