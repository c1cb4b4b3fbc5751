"""Questions and rules, alerts and their deliveries."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tocsin.model.common import Attempt, Instant, Instruction, JsonObject
from tocsin.model.knowledge import KnownCopy
from tocsin.model.messages import Message
from tocsin.settings import ChannelSettings, unread_in


class QuestionTimes(Struct, frozen=True):
    """When a question was opened, when it may be announced, and when it was announced, answered and closed."""

    opened_at: Instant
    announce_at: Instant
    announced_at: Instant | None = None
    answered_at: Instant | None = None
    closed_at: Instant | None = None


class SamplePage(Struct, frozen=True):
    """The page that represents all pages of a question, as its alert shows it.

    It is the first one, or if that one left, the one watched longest; without `id` none is left.
    """

    id: int | None = None
    url: str | None = None
    group: str = "main"
    text: str | None = None


class QuestionRow(Struct, frozen=True):
    """Pages of one host that could not be received for one cause, and what the user said.

    attempts  of the page that failed first
    copies    of that page, the newest first, as far as they are offered
    """

    id: int
    host_id: int
    host: str
    cause: str
    times: QuestionTimes
    instruction: Instruction | None
    pages: int
    sample: tuple[str, ...]
    page: SamplePage
    attempts: tuple[Attempt, ...] = ()
    during: str = "check"
    pending_change: JsonObject | None = None
    last_received: Instant | None = None
    next_occasion: Instant | None = None
    copies: tuple[KnownCopy, ...] = ()


class StandingAnswerRow(Struct, frozen=True):
    """A permanent answer: `never` or `until-major`, for a page, a host and cause, a host, or a cause."""

    id: int
    scope: Literal["page", "host-cause", "host", "cause"]
    page_url: str | None
    host: str | None
    cause: str | None
    instruction: Instruction
    created_at: Instant


class SerializedEvent(Struct, frozen=True, gc=False):
    """An event as it is sent: JSON in UTF-8, written once, when its alert was made.

    id  of the event, which is its alert's
    """

    id: str
    json: bytes

    @classmethod
    def of(cls, event: JsonObject) -> SerializedEvent:
        """Write an event as JSON."""
        return cls(event["id"], msgspec.json.encode(event))


class DueDelivery(Struct, frozen=True):
    """An alert that a channel is to be given now: the oldest of its page that this channel has not accepted.

    Or a digest, which has no page: its id is its message's, its position minus its bundle's number, its creation the
    sealing; without an event it is not composed yet.

    tried_us  microseconds of waiting between its tries so far; see DeliveryResult
    message   of a digest, for channels that take messages
    route     that sent it; "" where there were no routes
    """

    alert_id: str
    channel: str
    page_id: int | None
    position: int
    tries: int
    first_try_at: Instant | None
    created_at: Instant
    event: SerializedEvent
    last_try_at: Instant | None = None
    next_at: Instant = 0
    tried_us: int = 0
    message: Message | None = None
    route: str = ""


class DeliveryResult(Struct, frozen=True, gc=False):
    """What became of one try.

    state     "accepted", "waiting" (again at next_at) or "dead"
    tried_us  microseconds of waiting between its tries, each pause as long as it was meant to be at most: what counts
              towards giving it up
    position  of the delivery, where it is known: it is found at once by it. Of a digest minus its bundle's number
    """

    alert_id: str
    channel: str
    state: Literal["accepted", "waiting", "dead"]
    at: Instant
    next_at: Instant | None = None
    error: str | None = None
    tried_us: int = 0
    position: int | None = None


class ChannelState(Struct, frozen=True):
    """Whether a channel is backed off, and until when, or disabled, and why.

    failed_at    when it failed last
    gathered     alerts that wait in digests
    since        when it failed first, of the failures in a row
    accepted_at  when it accepted the newest of its alerts that went alone
    """

    name: str
    failures: int = 0
    next_at: Instant | None = None
    disabled: bool = False
    error: str | None = None
    waiting: int = 0
    dead: int = 0
    accepted: int = 0
    failed_at: Instant | None = None
    gathered: int = 0
    since: Instant | None = None
    accepted_at: Instant | None = None


class ChannelTest(Struct, frozen=True):
    """How far a test of a channel is that a running engine was asked for.

    blames  "channel", "alert" or "gone" as in DeliveryError, "settings" where the engine has no such channel; None
            where the channel accepted it
    """

    begun_at: Instant | None
    ended_at: Instant | None
    blames: str | None
    error: str | None


def as_configured(state: ChannelState, channel: ChannelSettings) -> ChannelState:
    """Give a channel's state as it is shown: one whose secret cannot be read fails, even after a success."""
    why = unread_in(channel)
    return state if why is None else replace(state, failures=max(state.failures, 1), next_at=None, error=why)


class BundledAlert(Struct, frozen=True, array_like=True):
    """The place of an alert in a bundle of a channel.

    state   gathered: the digest is not accepted yet; accepted; dead
    bundle  its number
    at      of its digest's last try
    """

    channel: str
    state: Literal["gathered", "accepted", "dead"]
    tries: int
    error: str | None
    bundle: int
    due_at: Instant
    at: Instant | None = None


class AlertDelivery(NamedTuple):
    """How far an alert is with one channel.

    state  "waiting", "accepted" or "dead"; "gathered" in a digest, "silenced"
    error  of the last try, and
    at     when that was
    """

    channel: str
    state: str
    tries: int = 0
    error: str | None = None
    at: Instant | None = None


class AlertRow(Struct, frozen=True):
    """An alert as listed, with its event and its deliveries.

    bundled   its places in digests
    silenced  (channel, number of the silence) each
    """

    id: str
    position: int
    type: str
    page_id: int | None
    url: str | None
    created_at: Instant
    event: JsonObject
    deliveries: tuple[AlertDelivery, ...] = ()
    seen_at: Instant | None = None
    bundled: tuple[BundledAlert, ...] = ()
    silenced: tuple[tuple[str, int], ...] = ()

    def by_channel(self) -> list[AlertDelivery]:
        """Return the deliveries of all channels: alone, in a digest, or held back."""
        in_digests = [AlertDelivery(each.channel, each.state, each.tries, each.error, each.at) for each in self.bundled]
        held_back = [
            AlertDelivery(channel, "silenced", error=f"held back by silence {silence}")
            for channel, silence in self.silenced
        ]
        return sorted([*self.deliveries, *in_digests, *held_back], key=lambda each: each[:2])


class StormRow(Struct, frozen=True):
    """One change that many pages of a host had in common.

    pages         that had it so far
    sample        the URLs of at most ten of them, those that had it first
    outcome       of its verdicts, and their
    basis
    excerpt       of the change, as `difference` in an event; None if unknown or not announced yet
    first_at      the first verdict of it, and
    latest_at     the latest so far
    announce_at   when it is to be told, and
    announced_at  when it was; None: not yet
    released_at   when the user asked for an alert of each page after all
    """

    id: int
    host: str
    pages: int
    sample: tuple[str, ...]
    outcome: str
    basis: str
    excerpt: JsonObject | None
    opened_at: Instant
    first_at: Instant
    latest_at: Instant
    announce_at: Instant
    announced_at: Instant | None = None
    released_at: Instant | None = None


class StormVerdict(Struct, frozen=True, gc=False):
    """The part of one page in a storm.

    alert_id   of the alert that the page was given all the same: it was told before the storm was one, or the user
               asked for it
    withheld   no alert of its own is due
    """

    id: int
    page_id: int
    url: str
    at: Instant
    outcome: str
    alert_id: str | None
    withheld: bool
