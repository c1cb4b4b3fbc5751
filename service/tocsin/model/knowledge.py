"""What is known of a page beside its state: signals, noise, pace, text, the copies it names, its items."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject


class PageNoise(Struct, frozen=True, gc=False, array_like=True):
    """A place or signal of a page that changes from check to check.

    key      names it on every page of the host
    what     for people: the name of the signal, or the place with some of its text
    changes  readings in which it differed from the one before: within the last checks until it is muted, then in all
    quiet    readings in a row without a change since then
    since    when it was muted; None if it is not
    at       time of its last change
    recent   the last checks in which it differed, as bits, the latest one lowest
    """

    key: int
    what: str
    changes: int
    quiet: int = 0
    since: Instant | None = None
    at: Instant = 0
    recent: int = 0


class HostNoise(Struct, frozen=True, gc=False, array_like=True):
    """A place or signal that changes from check to check on several pages of a host.

    key, what  as in `PageNoise`
    pages      the first pages on which it was muted, as many as mute it on all
    muted_at   when it was muted on all pages of the host; None if it is not
    heard      the user unmuted it for all of them
    """

    key: int
    what: str
    pages: tuple[int, ...] = ()
    muted_at: Instant | None = None
    heard: bool = False


class ChangePace(Struct, frozen=True, gc=False, array_like=True):
    """Evidence of a page's rate of changes; old evidence counts less and less.

    checks   that could tell whether the page had changed
    found    changes at an unknown time between two checks, and
    found_s  the time between these checks, in all
    dated    changes whose last date the page declares
    quiet_s  time without changes: before checks that found none, and after declared dates
    """

    checks: float = 0.0
    found: float = 0.0
    found_s: float = 0.0
    dated: float = 0.0
    quiet_s: float = 0.0


class PageKnowledge(Struct, frozen=True, gc=False, array_like=True):
    """What the last reading of a page found beside its twelve fields; stored as one value.

    read_as   names the readers and selectors; readings of others cannot be compared
    values    of its signals, by name; absent ones are left out
    content   fingerprint of its text (`spec.signals.content`); None if it was never read
    noise     muted or not yet
    versions  digests of its last contents, the newest last, to recognise a return
    flaps     returns to one of them in a row
    pace      None without adaptive checking
    text      digest of its whole text, which need not be read again while equal; 0 if unknown
    learnt_at time of the reading that noise was last learnt from; 0 while there is none
    said_at   when a value of its author's signals was last another one, or all were first read; 0 if it has none
    content_at  when its content was last another one, or was first read; 0 if it was never read
    mark      digest of its bytes that can count, to recognise it unparsed; 0 if unknown, -1 if that is of no use
    blocks    digest of the blocks of its text that count, of which no content is made while equal; 0 if unknown
    """

    read_as: str
    values: dict[str, str]
    content: bytes | None = None
    noise: tuple[PageNoise, ...] = ()
    versions: tuple[int, ...] = ()
    flaps: int = 0
    pace: ChangePace | None = None
    text: int = 0
    learnt_at: Instant = 0
    said_at: Instant = 0
    content_at: Instant = 0
    mark: int = 0
    blocks: int = 0


class SignalContext(Struct, frozen=True, gc=False):
    """What a check of a page compares its signals with.

    known       None if its signals were never read
    listed      dates of its last change in watched feeds and sitemaps, by signal
    heard       keys of noise that the user unmuted
    host_muted  keys of noise that is muted on all pages of the host
    """

    known: PageKnowledge | None = None
    listed: dict[str, str] = {}
    heard: tuple[int, ...] = ()
    host_muted: tuple[int, ...] = ()


class Snapshot(Struct, frozen=True, gc=False):
    """A page's main text at one time, one block per line.

    digest  of the text; equal texts of any pages are stored once
    packed  the text in UTF-8, compressed by `spec.signals.texts`; empty in `NO_COPY`
    """

    digest: bytes
    packed: bytes
    at: Instant = 0


# The page forbids copies: stored texts are deleted.
NO_COPY: Final = Snapshot(b"", b"")


class SnapshotRow(Struct, frozen=True, gc=False):
    """A stored text of a page, with its compressed size."""

    id: int
    at: Instant
    digest: bytes
    packed_bytes: int


class PictureDifference(Struct, frozen=True):
    """Where two pictures of a page differ; boxes are (left, top, width, height) in px.

    share    of the larger picture, 0 to 1
    boxes    of the latest picture
    removed  of the one before: rows that are gone
    """

    share: float
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    removed: tuple[tuple[int, int, int, int], ...] = ()


class KeptPicture(Struct, frozen=True):
    """The picture of a rendering, as its row has it.

    digest      SHA-256 of its file, in hexadecimal
    before      digest of the picture that it was compared with; None: it is the first, or none were compared
    difference  to that; None: they could not be compared
    """

    digest: str
    width: int
    height: int
    bytes: int
    before: str | None = None
    difference: PictureDifference | None = None


class SeenPicture(Struct, frozen=True):
    """The picture of a check, compared with the latest one that is kept of its page.

    kept     its file is there, and its row is written if the check finds something new; None: it differs by nothing
    problem  why it was not compared, or cannot be kept
    """

    kept: KeptPicture | None = None
    problem: str | None = None

    @property
    def share(self) -> float | None:
        """The share that differs, 0 to 1; None where there was nothing to compare with."""
        found = self.kept.difference if self.kept is not None else None
        return found.share if found is not None else None


class PictureRow(Struct, frozen=True):
    """A picture of a page; see `KeptPicture`, too.

    at        when its rendering began, or the state of its check was stored
    by_check  a check took it, and not a rendering
    """

    id: int
    at: Instant
    digest: str
    width: int
    height: int
    bytes: int
    before: str | None = None
    difference: PictureDifference | None = None
    by_check: bool = False


class Listing(Struct, frozen=True, gc=False):
    """Dates of pages in a watched feed or sitemap: (URL as watched, date as written) each.

    name     of the signal: "feed" or "sitemap"
    """

    name: str
    entries: tuple[tuple[str, str], ...]


class CopyLink(Struct, frozen=True, gc=False):
    """A copy that a page names.

    target    the URL that it is a copy of, serialised, without fragment
    datetime  when the copy was made, as the page says it
    made_at   the same as an instant; None if unknown
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
    """A copy that can replace a watched page.

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
    """A page's microdata at one time.

    at        when the page was received, for equal items the last time
    digest    of all items of the page, also of those that are not kept
    packed    as `spec.microdata.packing` writes it; empty in `NO_ITEMS`
    count     of its items, nested ones included
    is_cut    not all items are kept
    first_at  when the page was first received with these items; only set by the store
    """

    at: Instant
    digest: bytes
    packed: bytes
    count: int
    is_cut: bool = False
    first_at: Instant = 0


# The page forbids copies: stored items are deleted.
NO_ITEMS: Final = PageItems(0, b"", b"", 0)


class ItemChangeEntry(Struct, frozen=True, gc=False):
    """How a page's items changed between two readings.

    at            when the later ones were read
    changes       as `items` in an event shows it
    rendering_id  the rendering that read them
    """

    at: Instant
    changes: JsonObject
    rendering_id: int = 0
