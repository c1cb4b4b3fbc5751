"""Whether an answer is the page at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.spec.html.whole import Whole


class Suspicion(Struct, frozen=True):
    """What an answer seems to be instead of the page, and by what that shows."""

    kind: str
    evidence: str


def find_suspicion(whole: Whole, *, status: int, url: str, final_url: str) -> Suspicion | None:
    """Say what an answer seems to be instead of the page; None where nothing speaks against it."""
    del whole, status, url, final_url
    return None
