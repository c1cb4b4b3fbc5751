"""A browser that visits pages for us: one page a visit, everything bounded, nothing of it believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from tocsin.model import PagePicture, SeenPicture, StepOutcome, StepResult

__all__ = ["Admission", "Browser", "BrowserVisit", "PagePicture", "StepOutcome", "StepResult", "VisitedPage"]

# Called before each further document of the page's main frame is requested, by redirect or by script, with its URL;
# returns once it may be, and raises what ends the visit: Disallowed, Postponed, Withdrawn or a FetchError.
Admission: TypeAlias = Callable[[str], Awaitable[None]]


class BrowserVisit(Struct, frozen=True):
    """One page to be visited in a context of its own, which is the one connection of its set of requests (T59).

    url             already admitted: robots.txt, the host's turn and the address policy agreed
    headers         of the page's own origin alone, as are cookies and authorization among them
    user_agent      without the browser's platform part, which is added
    ready           "network", "dom", "css: SELECTOR" or a time such as "3s"
    steps           as `spec.steps` reads them, in order
    secrets         that steps may type, by name
    cookies         that an earlier visit's `VisitedPage.cookies` gave, for steps that log in; "": none
    page_id         whose cookies of a login are kept; 0: none are
    is_trial        a step that fails ends the steps, and not the visit
    consent         "none" or "reject"
    wants_picture   take one of the whole page, at most 1280 x 10,000 px
    compares_picture  with the one that is kept of the page, which is no task of the browser's
    ready_s, total_s  deadlines
    max_body_bytes  of the serialised document
    max_wire_bytes  of all requests together
    private         loopback and private addresses may be dialled
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    user_agent: str = ""
    language: str = "en"
    time_zone: str = "UTC"
    ready: str = "network"
    steps: tuple[str, ...] = ()
    secrets: dict[str, str] = {}
    cookies: str = ""
    page_id: int = 0
    is_trial: bool = False
    consent: str = "none"
    wants_picture: bool = False
    compares_picture: bool = False
    ready_s: float = 20.0
    total_s: float = 30.0
    max_body_bytes: int = 10 * 2**20
    max_wire_bytes: int = 30 * 2**20
    private: bool = False


class VisitedPage(Struct, frozen=True):
    """What the browser saw.

    url        of the main frame at the end; one of those that were admitted
    documents  URLs of the main frame in order, the first one included
    status, headers  of the last document, as in HopResponse
    body       the serialised DOM, UTF-8
    is_ready   False: the deadline ended the waiting, and the complete document was taken as it was
    refused    requests that were not let out: reasons, at most 20
    elapsed_ms, wire_bytes, cpu_ms  what the visit cost
    steps      in order, up to the first that failed
    cookies    after steps that log in: a secret, for the next visit; "": none
    seen       of the picture, in place of it, where it was compared; nothing that a browser says
    """

    url: str
    documents: tuple[str, ...]
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_ready: bool = True
    picture: PagePicture | None = None
    refused: tuple[str, ...] = ()
    elapsed_ms: int = 0
    wire_bytes: int = 0
    cpu_ms: int = 0
    steps: tuple[StepResult, ...] = ()
    cookies: str = ""
    seen: SeenPicture | None = None


class Browser(Protocol):
    """Visits pages, as many at once as it has slots; more wait, first come first served."""

    slots: int

    async def visit(self, visit: BrowserVisit, admit: Admission) -> VisitedPage:
        """Visit one page; a cancelled visit frees its slot.

        Raises FetchFailed (dns connect tls timeout protocol crashed step), BrowserLost where all pages in hand were
        lost together; FetchRefused (blocked-address too-large too-complex); ProcessError where no browser can be
        started, with the mend; and what `admit` raises.
        """

    async def close(self) -> None:
        """End the browser's processes."""
