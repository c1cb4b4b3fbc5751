"""From an answer's bytes to the page's state, and from two states to a verdict. Pure."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.engine.robots import AGENT
from tocsin.errors import FetchRefused, TooComplex
from tocsin.model import FailureKind
from tocsin.spec.html.page import Kind, find_kind, read_page
from tocsin.spec.robots.directives import Directives, read_directives
from tocsin.spec.topper.compare import Comparison, Thresholds, compare
from tocsin.spec.topper.state import EMPTY, PageState, read_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import Instant, StoredState
    from tocsin.settings import PageSettings

# Changes whenever the readers read otherwise than before: equal bytes then no longer mean an equal state.
READERS = "2"


class Assessment(Struct, frozen=True):
    """What an answer says.

    state       its twelve fields; empty for what is not HTML
    is_html     whether there was anything that could declare something
    problem     what is odd about the page, in words
    digest      equal digests mean equal states
    directives  what it says to robots; None where it was not read, because it is as it was before
    """

    state: PageState
    is_html: bool
    problem: str | None
    digest: str
    directives: Directives | None = None


def digest_of(body: bytes, content_type: str | None, x_robots_tag: Sequence[str] = ()) -> str:
    """Name a body as it would be read: bytes, type, headers that speak to robots, and readers."""
    digest = sha256(body)
    digest.update(f"|{content_type or ''}".encode(errors="replace"))
    for value in x_robots_tag:
        digest.update(f"|{value}".encode(errors="replace"))
    return f"{READERS}:{digest.hexdigest()[:32]}"


def assess(
    url: str,
    body: bytes,
    content_type: str | None,
    previous: StoredState | None,
    digest: str | None,
    *,
    x_robots_tag: Sequence[str] = (),
) -> Assessment:
    """Read the state of a page that was received.

    previous      the state before, and
    digest        the digest of the body that it came with: where the body is the same, the state is, unread
    x_robots_tag  the values of the headers of that name (LM-45, LM-46)
    Raises FetchRefused (too-complex) for a page that no parser may be given.
    """
    new_digest = digest_of(body, content_type, x_robots_tag)
    kind, problems = find_kind(body, content_type)
    if kind is Kind.OTHER:
        said = read_directives((), x_robots_tag, AGENT)
        return Assessment(EMPTY, is_html=False, problem="; ".join(problems), digest=new_digest, directives=said)
    if previous is not None and digest == new_digest:
        return Assessment(PageState(previous.fields), is_html=True, problem=None, digest=new_digest)
    try:
        reading = read_page(body, content_type)
    except TooComplex as exc:
        raise FetchRefused(url, FailureKind.TOO_COMPLEX, str(exc)) from exc
    problem = "; ".join(reading.problems) or None
    said = read_directives(((meta.name, meta.content) for meta in reading.metas), x_robots_tag, AGENT)
    return Assessment(read_state(reading.metas), is_html=True, problem=problem, digest=new_digest, directives=said)


def thresholds_of(policy: PageSettings) -> Thresholds:
    """The user's thresholds as the comparison takes them."""
    return Thresholds(
        durational=policy.durational_threshold, minor=policy.minor_threshold, refresh_cap=policy.refresh_cap
    )


def decide(before: StoredState | None, latest: PageState, stored_at: Instant, policy: PageSettings) -> Comparison:
    """Compare a state with the one before it, elapsed counted from that one's last storing (T41-T47)."""
    elapsed = timedelta(microseconds=stored_at - before.last_at) if before is not None else timedelta(0)
    return compare(PageState(before.fields) if before is not None else None, latest, elapsed, thresholds_of(policy))
