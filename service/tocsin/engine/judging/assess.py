"""From an answer's bytes to the page's state, and from two states to a comparison. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct
from xxhash import xxh3_128

from tocsin.engine.judging.reading import (
    UNREAD,
    keep_mark,
    parse_if_silent,
    read_other_kind,
    read_page_wholly,
    recognise,
)
from tocsin.engine.judging.signals import must_be_read
from tocsin.errors import FetchRefused, TooComplex
from tocsin.model import AGENT, FailureKind, Listing
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.page import Kind, find_kind, read_page
from tocsin.spec.robots import ROBOTS, Directives, read_directives
from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.reading import Readings
from tocsin.spec.topper.compare import Comparison, Thresholds, compare
from tocsin.spec.topper.state import EMPTY, SIGNS, PageState, read_state

if TYPE_CHECKING:
    from typing import TypeAlias

    from tocsin.engine.judging.reading import AnswerReading, ReadingContext
    from tocsin.model import Instant, StoredState
    from tocsin.settings import PageSettings
    from tocsin.spec.html.document import Meta
    from tocsin.spec.html.whole import Whole

    Headers: TypeAlias = tuple[tuple[str, str], ...]

# Version of the readers, a part of each digest; a digest of another version never equals one of today.
READERS = "3"
# Raise it whenever pages are read or digests are made differently. 3: XXH3 digests; a late charset counts anywhere.

# A page without any of these words is not parsed: none of its meta elements can matter.
ASKED_FOR = (*SIGNS, ROBOTS.encode(), AGENT.lower().encode())


class Assessment(Struct, frozen=True):
    """What an answer says.

    state       the twelve fields; empty for anything that is not HTML
    is_html     the answer is HTML or XHTML, which alone can declare fields
    problem     oddities of the page, for people
    digest      equal digests mean equal states
    directives  to robots; None if the body was not read because it equals the one before
    readings    of its signals; None if they were not read
    change      of its content; None if it was not compared
    suspicion   kind of page that replaced the watched one, with the evidence; None for the page itself
    listing     dates of other pages that a feed or sitemap gives
    is_shell    scripts make the page's content; None if that was not looked at
    title       of the page, "" for none; None if what was read does not tell it
    """

    state: PageState
    is_html: bool
    problem: str | None
    digest: str
    directives: Directives | None = None
    readings: Readings | None = None
    change: ContentChange | None = None
    suspicion: str | None = None
    listing: Listing | None = None
    is_shell: bool | None = None
    title: str | None = None


class _AnswerHeaders(Struct, frozen=True, gc=False):
    """Headers of an answer that matter for reading its body.

    robots   values of X-Robots-Tag
    nosniff  the type must not be guessed
    types    number of Content-Type headers
    """

    robots: tuple[str, ...] = ()
    nosniff: bool = False
    types: int = 1


def is_read_as_before(digest: str | None, asked_as: str) -> bool:
    """Tell whether a body of this digest would be read today as it was then.

    asked_as  names the settings that shape the request now
    """
    # Otherwise a 304 would keep a state that today's readers would not find.
    return digest is not None and digest.startswith(f"{READERS}{asked_as}:")


def _name_shape(content_type: str | None, said: _AnswerHeaders) -> str:
    """Name all but the body that says how an answer is read: its type and relevant headers."""
    return "|".join(["", content_type or "", *(("nosniff",) if said.nosniff else ()), *said.robots])


def _digest_of(body: bytes, shape: str, asked_as: str) -> str:
    """Name a body as it is read: its bytes, its shape, the readers, and the shape of the request."""
    # XXH3 takes a thirtieth of the time of SHA-256. Only the page's author can forge a collision, and would only hide
    # a change of that very page.
    digest = xxh3_128(body)
    digest.update(shape.encode(errors="replace"))
    return f"{READERS}{asked_as}:{digest.hexdigest()}"


def assess(
    url: str,
    body: bytes,
    content_type: str | None,
    previous: StoredState | None,
    digest: str | None,
    *,
    headers: Headers = (),
    asked_as: str = "",
    wanted: ReadingContext | None = None,
) -> Assessment:
    """Read the state of a page that was received, and beside the twelve fields what `wanted` asks for.

    content_type  value of the first such header (CT-01)
    digest        of the body that `previous` was read from; an equal body is not read again
    headers       of the answer; some forbid guessing the type, some address robots (LM-45, LM-46)
    asked_as      names the settings that shaped the request (see `policies.asked_as`)
    Raises FetchRefused (too-complex) for a page that is too complex to parse.
    """
    said = _read_headers(headers)
    shape = _name_shape(content_type, said)
    new_digest, read_so = _digest_of(body, shape, asked_as), f"{READERS}{shape}|{url}"
    kind, problems = found = find_kind(body, content_type, nosniff=said.nosniff)
    is_due = previous is not None and wanted is not None and must_be_read(wanted.policy, wanted.beside, previous.fields)
    is_known = previous is not None and digest == new_digest and not is_due
    seen = UNREAD
    if kind is Kind.OTHER:
        if wanted is not None and not is_known:
            seen = read_other_kind(body, content_type, headers, url, wanted=wanted)
        return _assess_other(seen, problems, said, new_digest)
    if previous is not None and wanted is not None and not is_known:
        seen = recognise(body, read_so, kind, headers, wanted=wanted, before=previous.fields)
    if previous is not None and (is_known or seen.readings is not None):
        return _assess_unparsed(previous, seen, new_digest)
    whole = parse_if_silent(body, content_type, found, wanted)
    metas, problems, title = _read_head(url, body, content_type, found, whole)
    directives = read_directives([(meta.name, meta.content) for meta in metas], said.robots, AGENT)
    state = read_state(metas)
    if wanted is not None:
        before = previous.fields if previous is not None else None
        seen = read_page_wholly(
            body, content_type, found, headers, url, wanted=wanted, before=before, latest=state, whole=whole
        )
        seen = keep_mark(body, read_so, kind, seen, wanted=wanted, fields=state.values)
    return Assessment(
        state,
        is_html=True,
        problem=_in_words(problems, seen, said),
        digest=new_digest,
        directives=directives,
        readings=seen.readings,
        change=seen.change,
        suspicion=seen.suspicion,
        is_shell=seen.is_shell,
        title=title,
    )


def _assess_unparsed(previous: StoredState, seen: AnswerReading, digest: str) -> Assessment:
    fields = PageState(previous.fields)
    return Assessment(fields, is_html=True, problem=None, digest=digest, readings=seen.readings, change=seen.change)


def _read_head(
    url: str, body: bytes, content_type: str | None, found: tuple[Kind, tuple[str, ...]], whole: Whole | None
) -> tuple[tuple[Meta, ...], tuple[str, ...], str | None]:
    """Return the meta elements that matter, the problems of the page, and its title, see `PageReading`.

    whole  the page, if it was parsed already
    Raises FetchRefused.
    """
    if whole is not None and (metas := whole.exact_metas) is not None:
        return metas, found[1], whole.title
    try:
        reading = read_page(body, content_type, found=found, about=ASKED_FOR)
    except TooComplex as exc:
        raise FetchRefused(url, FailureKind.TOO_COMPLEX, str(exc)) from exc
    return reading.metas, reading.problems, reading.title


def _assess_other(seen: AnswerReading, problems: tuple[str, ...], said: _AnswerHeaders, digest: str) -> Assessment:
    """Assess an answer that is not HTML: it declares no fields, but its content can be compared."""
    return Assessment(
        EMPTY,
        is_html=False,
        problem=_in_words(problems, seen) or "",
        digest=digest,
        directives=read_directives((), said.robots, AGENT),
        readings=seen.readings,
        change=seen.change,
        listing=seen.listing,
    )


def _in_words(problems: tuple[str, ...], seen: AnswerReading, said: _AnswerHeaders | None = None) -> str | None:
    if said is not None and said.types > 1:
        problems = (*problems, f"{said.types} Content-Type headers; the first one counts; send one")
    if seen.problem is not None:
        problems = (*problems, seen.problem)
    return "; ".join(problems) or None


def _read_headers(headers: Headers) -> _AnswerHeaders:
    robots: list[str] = []
    sniffing: list[str] = []
    types = 0
    for name, value in headers:
        if name == "content-type":
            types += 1
        elif name == "x-robots-tag":
            robots.append(value)
        elif name == "x-content-type-options":
            sniffing.append(value)
    return _AnswerHeaders(tuple(robots), is_nosniff(sniffing), types)


def thresholds_of(policy: PageSettings) -> Thresholds:
    """Convert the user's thresholds for the comparison."""
    return Thresholds(
        durational=policy.durational_threshold, minor=policy.minor_threshold, refresh_cap=policy.refresh_cap
    )


def decide(before: StoredState | None, latest: PageState, stored_at: Instant, policy: PageSettings) -> Comparison:
    """Compare a state with the one before it (T41 to T47); time elapses from the last storing of that one."""
    elapsed = timedelta(microseconds=stored_at - before.last_at) if before is not None else timedelta(0)
    return compare(PageState(before.fields) if before is not None else None, latest, elapsed, thresholds_of(policy))
