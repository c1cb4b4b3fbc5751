"""What the engine and its browser worker say to each other; every message crosses as msgpack."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from tocsin.ports.browser import BrowserVisit, VisitedPage


class StartBrowser(Struct, frozen=True, tag=True):
    """The first message: what the worker works by.

    slots          pages at the same time, each in a browser of its own
    path           of the browser's program
    first_port     of loopback, where the proxy of the first slot listens; the others follow
    memory_bytes   of one slot's processes together; a page that takes more is ended
    cpu_s          of processor time for one page
    requests       of one page
    recycle_pages, recycle_s  after which a slot gets a new browser
    """

    slots: int
    path: str
    first_port: int
    memory_bytes: int = 400 * 2**20
    cpu_s: float = 20.0
    requests: int = 300
    recycle_pages: int = 200
    recycle_s: float = 1200.0


class VisitPage(Struct, frozen=True, tag=True):
    """Visit this page in a slot; its answer is `VisitEnded` or `VisitFailed`."""

    number: int
    slot: int
    visit: BrowserVisit


class GiveUpVisit(Struct, frozen=True, tag=True):
    """Give up a visit; the answer is `VisitFailed`."""

    number: int


class Permission(Struct, frozen=True, tag=True):
    """Go on with what `AskPermission` named."""

    number: int
    host: str
    document: str = ""


class BrowserReady(Struct, frozen=True, tag=True):
    """The worker has started; its slots may still be starting their browsers."""


class WorkerBeat(Struct, frozen=True, tag=True):
    """The worker is alive."""


class AskPermission(Struct, frozen=True, tag=True):
    """A page is about to connect to a host.

    document  URL of a further document of its main frame; empty: the request is for a part of the page
    """

    number: int
    host: str
    document: str = ""


class VisitEnded(Struct, frozen=True, tag=True):
    """The page was visited."""

    number: int
    page: VisitedPage


class VisitFailed(Struct, frozen=True, tag=True):
    """The page was not visited.

    kind      a value of model.FailureKind
    is_final  another try will not help
    no_browser  no browser can be started; `detail` has the mend
    """

    number: int
    kind: str
    detail: str
    is_final: bool = False
    no_browser: bool = False


ToBrowser: TypeAlias = StartBrowser | VisitPage | GiveUpVisit | Permission
FromBrowser: TypeAlias = BrowserReady | WorkerBeat | AskPermission | VisitEnded | VisitFailed
