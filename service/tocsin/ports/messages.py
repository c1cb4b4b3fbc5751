"""What the main process and its fetcher processes say to each other; every message crosses as msgpack."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from tocsin.events import Happening
from tocsin.model import (
    KEEPS_ALL,
    CheckResult,
    HopRequest,
    HopResponse,
    Instant,
    JsonObject,
    KeptContents,
    PageTask,
    Rendered,
    RenderJob,
    Validators,
)
from tocsin.ports.browser import BrowserVisit, VisitedPage
from tocsin.settings import (
    BrowserSettings,
    FetchSettings,
    HostSettings,
    InstanceSettings,
    LogSettings,
    NetworkSettings,
    PageSettings,
    RenderSettings,
)

FailureWay: TypeAlias = Literal[
    "failed", "refused", "disallowed", "postponed", "withdrawn", "settings", "short", "store"
]


class RequestProgress(Struct, frozen=True, tag=True):
    """A set of requests between two of its hops, so that the fetcher of the next host can continue it.

    url        where it goes on
    moved_to   where the page has moved for good, None if nowhere
    seen       every URL of the set
    spent_s    of its deadline
    permanent  all redirections so far were for good
    """

    url: str
    started_at: Instant
    seen: tuple[str, ...]
    moved_to: str | None = None
    spent_s: float = 0.0
    wire_bytes: int = 0
    permanent: bool = True


class Rules(Struct, frozen=True, tag=True):
    """The settings in force: the configuration's, and what is set at run time for all pages and for groups."""

    pages: PageSettings
    hosts: HostSettings
    for_all: JsonObject
    groups: dict[int, tuple[str, JsonObject]]


class Holds(Struct, frozen=True, tag=True):
    """Until when hosts of this fetcher asked for no requests, in monotonic seconds."""

    until_s: dict[str, float]


class Start(Struct, frozen=True, tag=True):
    """The first message: who the fetcher is, and all that it works by.

    index, count  it serves the hosts whose shard, modulo `count`, is `index`
    body_room     the most bytes that its bodies in flight may take together
    holds         hosts that are to be left alone, until which monotonic time
    replaced_s    when (monotonic) the process ended whose place it takes: any host may have been asked right before;
                  None where there was none
    log           happenings that are less loud than it wants are not sent
    keeps         what of pages' contents is kept
    demo_port     of loopback, kept for the demo site; 0: none
    public_url    under which people reach the service, for the links in events
    browser, render  how pages are read in the browser, which the main process has
    """

    index: int
    count: int
    instance: InstanceSettings
    fetch: FetchSettings
    body_room: int
    network: NetworkSettings
    rules: Rules
    holds: dict[str, float]
    replaced_s: float | None
    log: LogSettings
    keeps: KeptContents = KEEPS_ALL
    public_url: str = ""
    demo_port: int = 0
    browser: BrowserSettings = BrowserSettings()
    render: RenderSettings = RenderSettings()


class Begin(Struct, frozen=True, tag=True):
    """Check these pages."""

    tasks: list[PageTask]


class Withdraw(Struct, frozen=True, tag=True):
    """Make no further request for these pages (T62)."""

    page_ids: list[int]


class Drop(Struct, frozen=True, tag=True):
    """Give up the pages that no request was made for yet: the engine stops."""


class CheckEnds(Struct, frozen=True, gc=False):
    """How a check ended; and how, should it turn out that it is our own connection that fails."""

    result: CheckResult
    in_outage: CheckResult | None = None


class Ready(Struct, frozen=True, tag=True):
    """The fetcher has started."""


class Heartbeat(Struct, frozen=True, tag=True):
    """The fetcher's loop turns.

    waiting_since  the earliest due time of the pages that no request was made for yet; None: there are none
    lag_s          how long work that was ready waited for it at most since the last beat
    requests       under way
    """

    waiting_since: Instant | None = None
    lag_s: float = 0.0
    requests: int = 0


class Checked(Struct, frozen=True, tag=True):
    """Checks that have ended."""

    ends: list[CheckEnds]


class Dropped(Struct, frozen=True, tag=True):
    """Pages that were given up; no request is made for them, and no end is told."""

    page_ids: list[int]


class TryNotes(Struct, frozen=True, tag=True):
    """What became of tries, in order: (host, kind of its failure), or (host, None) of one that answered.

    Of hosts that answer one after the other, only the first is named, and those that had failed.
    """

    tries: list[tuple[str, str | None]]


class HostWishes(Struct, frozen=True, tag=True):
    """What hosts asked for: to be left alone until a monotonic time; (origin, seconds) between requests."""

    holds: dict[str, float]
    delays: dict[str, tuple[str, float | None]]


class Happened(Struct, frozen=True, tag=True):
    """Something worth a line in the log."""

    happening: Happening


class SaveRobots(Struct, frozen=True, tag=True):
    """Keep what an origin's robots.txt said."""

    origin: str
    kept: str


# Questions, and the answers that belong to them -----------------------------------------------------------------


class LoadRobots(Struct, frozen=True, tag=True):
    """What was kept of an origin's robots.txt? Answered by `KeptRobots`."""

    origin: str


class IsWatched(Struct, frozen=True, tag=True):
    """Does the user still want this page to be asked for? Answered by `Watched`."""

    page_id: int


class CheckHandoff(Struct, frozen=True, tag=True):
    """Continue a check at a host of this fetcher.

    Answered by `Checked`, by `RequestProgress` where a redirect leads elsewhere, or by `Failed`.

    conditions  the validators that it asks with, None for none
    began       when the check began
    tried       sets of requests that failed before
    fresh       over new connections (T60)
    """

    so_far: RequestProgress
    task: PageTask
    conditions: Validators | None
    began: Instant
    tried: int
    fresh: bool


class RenderHandoff(Struct, frozen=True, tag=True):
    """Render a page, or continue its rendering.

    Answered by `RenderedPage`, by `RequestProgress` where a redirect leads elsewhere, or by `Failed`.

    so_far  None at the beginning
    """

    job: RenderJob
    so_far: RequestProgress | None = None


class Hop(Struct, frozen=True, tag=True):
    """Make one request, of a robots.txt, at a host of yours. Answered by `Hopped` or `Failed`."""

    request: HopRequest


class VisitInBrowser(Struct, frozen=True, tag=True):
    """Visit this page in the browser; a fetcher asks. Answered by `VisitedInBrowser` or `Failed`.

    number  of the visit, as `AdmitDocument` names it
    """

    number: int
    visit: BrowserVisit
    is_urgent: bool


class AdmitDocument(Struct, frozen=True, tag=True):
    """May the browser request this document of your visit? Answered by `Admitted` or `Failed`."""

    number: int
    url: str


class TakeTurn(Struct, frozen=True, tag=True):
    """Wait for a turn of a request at a host of yours, made by a browser. Answered by `Admitted` or `Failed`."""

    url: str


class KeptRobots(Struct, frozen=True, tag=True):
    """What was kept."""

    kept: str | None


class Watched(Struct, frozen=True, tag=True):
    """Whether the page is watched."""

    is_watched: bool


class RenderedPage(Struct, frozen=True, tag=True):
    """A rendering, with the page's body."""

    rendered: Rendered


class VisitedInBrowser(Struct, frozen=True, tag=True):
    """What the browser saw."""

    page: VisitedPage


class Admitted(Struct, frozen=True, tag=True):
    """The request may be made now."""


class Hopped(Struct, frozen=True, tag=True):
    """An answer, with its body."""

    response: HopResponse


class Failed(Struct, frozen=True, tag=True):
    """An error, ready to be raised at the other end.

    final  the page came, but cannot be read: that is no failure of the set of requests
    """

    way: FailureWay
    url: str = ""
    detail: str = ""
    kind: str = ""
    status: int | None = None
    retry_after_us: int | None = None
    at: Instant | None = None
    attempts: int = 0
    final: bool = False


Question: TypeAlias = (
    LoadRobots | IsWatched | CheckHandoff | RenderHandoff | Hop | VisitInBrowser | AdmitDocument | TakeTurn
)
Answer: TypeAlias = (
    KeptRobots | Watched | Checked | RequestProgress | RenderedPage | Hopped | VisitedInBrowser | Admitted | Failed
)


class Ask(Struct, frozen=True, tag=True):
    """A question, numbered by its sender."""

    number: int
    question: Question


class Reply(Struct, frozen=True, tag=True):
    """The answer to the question of this number."""

    number: int
    answer: Answer


ToFetcher: TypeAlias = Start | Rules | Holds | Begin | Withdraw | Drop | Ask | Reply
FromFetcher: TypeAlias = (
    Ready | Heartbeat | Checked | Dropped | TryNotes | HostWishes | Happened | SaveRobots | Ask | Reply
)
