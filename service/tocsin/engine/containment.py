"""One page's crash is that page's failure, never the engine's end."""

from __future__ import annotations

from contextlib import contextmanager
from traceback import extract_tb
from typing import TYPE_CHECKING

from tocsin.errors import FetchRefused, TocsinError
from tocsin.events import Happening
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.ports import Telemetry


@contextmanager
def contained(url: str, telemetry: Telemetry) -> Iterator[None]:
    """Turn an error that nobody foresaw into FetchRefused (crashed) of this page, and log where it came from.

    What Tocsin raises on purpose, and cancellation, pass through.
    """
    try:
        yield
    except TocsinError:
        raise
    except Exception as exc:
        # A page that trips a parser would otherwise end the service, at every start anew.
        what = f"{type(exc).__name__}: {exc}"
        frames = [f"{frame.filename}:{frame.lineno}" for frame in extract_tb(exc.__traceback__)[-3:]]
        telemetry.emit(Happening("page.crashed", "error", {"url": url, "error": what, "where": frames}))
        raise FetchRefused(url, FailureKind.CRASHED, f"a fault of ours, please report it: {what}") from exc
