"""What is known of a page beside its state: signals, noise, pace, text, the copies it names, its items."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject


class PageNoise(Struct, frozen=True, gc=False, array_like=True):
    """Something of a page that changes from check to check.

    key      names the place, or the signal, on every page of the host
    what     how people recognise it: the signal's name, or where it stands and a bit of its text
    changes  in how many readings it differed from the one before, and
    quiet    how many readings in a row it has not since
    since    when it was muted; None: not yet
    at       when it differed last
    """

    key: int
    what: str
    changes: int
    quiet: int = 0
    since: Instant | None = None
    at: Instant = 0


class HostNoise(Struct, frozen=True, gc=False, array_like=True):
    """Something that changes from check to check on pages of one host.

    key, what  as in `PageNoise`
    pages      the first pages on which it was muted, no more than it takes to mute it on all
    muted_at   when it was muted on all pages of the host; None: not yet
    heard      the user wants to hear of it on all of them
    """

    key: int
    what: str
    pages: tuple[int, ...] = ()
    muted_at: Instant | None = None
    heard: bool = False


class ChangePace(Struct, frozen=True, gc=False, array_like=True):
    """What checks found of a page's changes, as its rate is estimated from; old evidence counts less and less.

    checks  that could tell whether the page had changed since the one before
    found   changes that nobody knows more of than that they came between two checks, and
    found_s the time between those checks, in all
    dated   changes whose last date the page declares
    quiet_s time in which it surely did not change: before checks that found nothing, and after declared dates
    """

    checks: float = 0.0
    found: float = 0.0
    found_s: float = 0.0
    dated: float = 0.0
    quiet_s: float = 0.0


class PageKnowledge(Struct, frozen=True, gc=False, array_like=True):
    """What was read of a page last, beside its twelve fields; written as one value, since nothing asks for parts of it.

    read_as   by which readers, and with which selectors: what others read cannot be compared with it
    values    of its signals, by name; one that the page does not have is absent
    content   the fingerprint of its text (`spec.signals.content`); None: never read
    noise     what changes from check to check, muted or not yet
    versions  digests of its last contents, the newest last: what comes back is not new
    flaps     how often it went back to one of them in a row
    pace      None where nobody asked for adaptive checking
    text      digest of all that stands on it as text: what has the same need not be read; 0: unknown
    """

    read_as: str
    values: dict[str, str]
    content: bytes | None = None
    noise: tuple[PageNoise, ...] = ()
    versions: tuple[int, ...] = ()
    flaps: int = 0
    pace: ChangePace | None = None
    text: int = 0


class SignalContext(Struct, frozen=True, gc=False):
    """What stands beside a page's state when it is checked.

    known       None where none of it was ever read
    listed      what feeds and sitemaps on the watch list say of the page's last change, by the signal's name
    heard       keys of noise that the user wants to hear of, muted never
    host_muted  keys of noise that were muted for all pages of the host
    """

    known: PageKnowledge | None = None
    listed: dict[str, str] = {}
    heard: tuple[int, ...] = ()
    host_muted: tuple[int, ...] = ()


class Snapshot(Struct, frozen=True, gc=False):
    """A page's main text as it was, a block a line.

    digest  of the text: equal texts are kept once, whatever page they are of
    packed  the text in UTF-8, compressed by `spec.signals.texts`; empty in `NO_COPY`
    """

    digest: bytes
    packed: bytes
    at: Instant = 0


NO_COPY: Final = Snapshot(b"", b"")
"""The page wants no copy of it kept: those that were go."""


class SnapshotRow(Struct, frozen=True, gc=False):
    """A text that is kept of a page.

    digest        of the text, and
    packed_bytes  that it takes, compressed
    """

    id: int
    at: Instant
    digest: bytes
    packed_bytes: int


class Listing(Struct, frozen=True, gc=False):
    """What a feed or sitemap on the watch list says of pages: (URL as watched, its date as written) each.

    name     of the signal: "feed" or "sitemap"
    """

    name: str
    entries: tuple[tuple[str, str], ...]


class CopyLink(Struct, frozen=True, gc=False):
    """A copy that a page names.

    target    the URL that it is a copy of, serialised, without fragment
    datetime  when the copy was made, as the page says it
    made_at   the same as an instant; None where it is not known
    rel       its link type, such as "memento"
    kind      how the page names it: "mset", "memento" or "timemap"
    """

    target: str
    url: str
    datetime: str | None
    made_at: Instant | None
    rel: str | None
    kind: str


class KnownCopy(Struct, frozen=True, gc=False):
    """A copy that can be offered in the stead of a watched page.

    of       the page that it is a copy of
    seen_on  the watched page that names it
    """

    of: str
    url: str
    datetime: str | None
    rel: str | None
    kind: str
    seen_on: str


class PageItems(Struct, frozen=True, gc=False):
    """A page's microdata as it was when the page was read whole.

    at        when the page was received; of equal items the last time
    digest    equal items have the same; of all that the page had, also where not all is kept
    packed    as `spec.microdata.packing` writes it; empty in `NO_ITEMS`
    count     of its items, those within others too
    is_cut    there were more than are kept
    body      digest of the bytes that it was read from, as that of the page's state, encoded; empty: not known
    first_at  when the page was received with these items first; the store says so, it is 0 elsewhere
    """

    at: Instant
    digest: bytes
    packed: bytes
    count: int
    is_cut: bool = False
    body: bytes = b""
    first_at: Instant = 0


NO_ITEMS: Final = PageItems(0, b"", b"", 0)
"""The page wants no copy of its text kept: items that were kept go."""


class ItemChanges(Struct, frozen=True, gc=False):
    """How a page's items changed between two readings.

    at            when the later ones were read
    changes       as `items` in an event shows it
    rendering_id  the rendering that read them
    """

    at: Instant
    changes: JsonObject
    rendering_id: int = 0
