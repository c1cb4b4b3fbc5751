"""One page's crash is that page's failure, never the engine's end."""

from __future__ import annotations

from traceback import extract_tb
from typing import TYPE_CHECKING

from tocsin.errors import FetchRefused, TocsinError, shortage_of
from tocsin.events import Happening
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from types import TracebackType

    from tocsin.ports import Telemetry


def contained(page_id: int | None, url: str, telemetry: Telemetry) -> Containment:
    """Turn an error that nobody foresaw into FetchRefused (crashed) of this page, and log where it came from.

    page_id  None for what is asked for pages of others
    What Tocsin raises on purpose, and cancellation, pass through. Where this machine is short of files or memory, that
    is a `Shortage`, and the page is not to blame.
    """
    return Containment(page_id, url, telemetry)


class Containment:
    """Implements `contained`; every page passes through one, and a generator would cost three times as much."""

    __slots__ = ("_page_id", "_telemetry", "_url")

    def __init__(self, page_id: int | None, url: str, telemetry: Telemetry) -> None:
        self._page_id, self._url, self._telemetry = page_id, url, telemetry

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if exc is None or isinstance(exc, TocsinError) or not isinstance(exc, Exception):
            return
        if (shortage := shortage_of(exc)) is not None:
            raise shortage from exc
        # A page that trips a parser would otherwise end the service, at every start anew.
        what = f"{type(exc).__name__}: {exc}"
        frames = [f"{frame.filename}:{frame.lineno}" for frame in extract_tb(trace)[-3:]]
        values = {"page_id": self._page_id, "url": self._url, "error": what, "where": frames}
        self._telemetry.emit(Happening("page.crashed", "error", values))
        raise FetchRefused(self._url, FailureKind.CRASHED, f"a fault of ours, please report it: {what}") from exc
