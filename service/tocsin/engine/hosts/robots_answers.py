"""One robots.txt asked for: its redirects, its conditions, and what its status means (RFC 9309, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tocsin.errors import BadUrl, FetchFailed
from tocsin.model import FailureKind, HopRequest, Instant, sendable
from tocsin.spec.html.urls import resolve, watch_url
from tocsin.spec.robots.rules import LONGEST_ROBOTS_BYTES, Policy, decode_robots, policy_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.model import HopResponse
    from tocsin.ports import Clock

MOST_REDIRECTS = 5
UNCONDITIONAL_EVERY = 30
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED, _PARTIAL = 304, 206

Said: TypeAlias = Literal["rules", "nothing", "error"]


class Answer(Struct, frozen=True):
    """What a robots.txt answered, as it is kept.

    said           rules: the text holds; nothing: everything is allowed; error: nothing is, and it is asked again soon
    text           decoded; where `said` is error, that of `before`
    hop_url        where the validators come from, behind the redirects
    renewed        how many conditional requests in a row have found it unchanged
    before         where `said` is error: what was said before the errors began, if anything was
    failing_since  when they began
    """

    asked_at: Instant
    said: Said
    text: str = ""
    etag: str | None = None
    last_modified: str | None = None
    hop_url: str = ""
    renewed: int = 0
    before: Said | None = None
    failing_since: Instant | None = None


class RobotsRequests:
    """Makes the requests of one robots.txt after the other.

    get      makes one request without redirection
    total_s  the deadline of one file with all its redirects
    """

    def __init__(self, get: Callable[[HopRequest], Awaitable[HopResponse]], clock: Clock, *, total_s: float) -> None:
        self._get, self._clock, self._total_s = get, clock, total_s

    async def ask(self, origin: str, earlier: Answer | None, proxy: str | None = None) -> Answer:
        """Ask an origin for its robots.txt, on condition that it is not the earlier one any more.

        proxy  through which it is asked for, None for none
        Raises FetchFailed or FetchRefused where nothing was answered.
        """
        url, spent_s = f"{origin}/robots.txt", 0.0
        asked: set[str] = set()
        while url not in asked and len(asked) <= MOST_REDIRECTS:
            asked.add(url)
            conditions = _conditions(earlier, url)
            answer = await self._get(self._request(url, conditions, spent_s, proxy))
            spent_s += answer.elapsed_ms / 1000
            if answer.status not in _REDIRECTS:
                return self._judge(url, answer, earlier, is_conditional=bool(conditions))
            try:
                url = watch_url(resolve(url, answer.location or "") or "").url
            except BadUrl:
                return self._nothing()
        # Source: RFC 9309, 2.3.1.2: after five redirects a robots.txt may be taken as unavailable. A circle has no end,
        # and a redirect without `Location` leads to itself.
        return self._nothing()

    def _request(
        self, url: str, conditions: tuple[tuple[str, str], ...], spent_s: float, proxy: str | None
    ) -> HopRequest:
        left_s = self._total_s - spent_s
        if left_s <= 0:
            mend = "its redirects took all of the time; raise fetch.deadlines.total"
            raise FetchFailed(url, FailureKind.TIMEOUT, f"robots.txt: {mend}")
        headers = (("Accept", "text/plain,*/*;q=0.5"), *conditions)
        return HopRequest(url, headers=headers, total_s=left_s, cut_at=LONGEST_ROBOTS_BYTES, proxy=proxy)

    def _judge(self, url: str, answer: HopResponse, earlier: Answer | None, *, is_conditional: bool) -> Answer:
        now = self._clock.now()
        if answer.status == _NOT_MODIFIED and is_conditional and earlier is not None:
            return _renewed(earlier, answer, now)
        policy = None if answer.status == _PARTIAL else policy_of(answer.status)
        if policy is Policy.PARSE:
            text = decode_robots(answer.body, cut=answer.cut)
            etag, modified = sendable(answer.header("etag")), sendable(answer.header("last-modified"))
            return Answer(now, "rules", text, etag, modified, url)
        if policy is Policy.ALLOW_ALL:
            return self._nothing()
        if policy is Policy.DISALLOW_ALL:
            return _failed(earlier, now)
        detail = f"robots.txt answered {answer.status}, which was not asked for"
        raise FetchFailed(answer.url, FailureKind.PROTOCOL, detail, status=answer.status)

    def _nothing(self) -> Answer:
        return Answer(self._clock.now(), "nothing")


def _conditions(earlier: Answer | None, url: str) -> tuple[tuple[str, str], ...]:
    """The validators of the answer that came from this very URL, but for an unconditional request now and then."""
    if earlier is None or earlier.hop_url != url or earlier.renewed >= UNCONDITIONAL_EVERY:
        return ()
    known = (("If-None-Match", earlier.etag), ("If-Modified-Since", earlier.last_modified))
    return tuple((name, value) for name, value in known if value is not None)


def _renewed(earlier: Answer, answer: HopResponse, now: Instant) -> Answer:
    return replace(
        earlier,
        asked_at=now,
        said=earlier.before or earlier.said,
        etag=sendable(answer.header("etag")) or earlier.etag,
        last_modified=sendable(answer.header("last-modified")) or earlier.last_modified,
        renewed=earlier.renewed + 1,
        before=None,
        failing_since=None,
    )


def _failed(earlier: Answer | None, now: Instant) -> Answer:
    """Keep what was said before: it is worth asking whether it is still so, and it counts again after a long time."""
    if earlier is None:
        return Answer(now, "error", failing_since=now)
    if earlier.said == "error":
        return replace(earlier, asked_at=now, failing_since=earlier.failing_since or now)
    return replace(earlier, asked_at=now, said="error", before=earlier.said, failing_since=now)
