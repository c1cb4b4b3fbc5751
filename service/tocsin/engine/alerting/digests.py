"""Digests: what a channel is given of a bundle, made once, before it is first given."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from tocsin.events import DIGEST, cloud_event
from tocsin.model import Message, SerializedEvent, to_rfc3339
from tocsin.wording.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from tocsin.model import Digest, DueDelivery, Instant, JsonObject
    from tocsin.ports import BundleStore, Chance, Clock

DigestComposer: TypeAlias = "Callable[[Digest], Awaitable[tuple[SerializedEvent, Message | None]]]"
# Makes the message of an event for a channel, to which a route sent it; "" where there are no routes.
MessageComposer: TypeAlias = "Callable[[JsonObject, str, str], Awaitable[Message]]"

MAX_DIGEST_BYTES: Final = 256 * 2**10
# Sealed, or given, at one look; the others follow a second later.
AT_ONE_LOOK: Final = 8
# Places that the alerts which are not shown are counted by.
_PLACES: Final = 100
_ROOM_BYTES: Final = 24 * 2**10


class DigestWriter:
    """Writes the events of digests of one instance.

    source      name of the instance
    chance      of their ids
    public_url  of the web pages, for links; empty without any
    language    of its sentences, where `language_of` names none for a channel and a route
    to_message  makes the message for people; None: there is none
    """

    def __init__(
        self,
        source: str,
        chance: Chance,
        *,
        public_url: str = "",
        language: str = "en",
        to_message: MessageComposer | None = None,
        language_of: Callable[[str, str], str] | None = None,
    ) -> None:
        self._language_of = language_of or (lambda _channel, _route: language)
        self._source, self._chance, self._public_url = source, chance, public_url
        self._to_message = to_message

    async def compose(self, digest: Digest) -> tuple[SerializedEvent, Message | None]:
        """Make what a channel is given of a digest; a `DigestComposer`."""
        event, bundle = self.event(digest), digest.bundle
        message = None
        if self._to_message is not None:
            message = await self._to_message(event, bundle.channel, bundle.route)
        return SerializedEvent.of(event), message

    def event(self, digest: Digest) -> JsonObject:
        """Write a digest as an event of at most 256 KiB: alerts that find no room are counted among the rest."""
        bundle = digest.bundle
        at = bundle.due_at if bundle.sealed_at is None else bundle.sealed_at
        rest = Counter({(group, host): count for group, host, count in digest.rest})
        language = self._language_of(bundle.channel, bundle.route)
        alerts: list[JsonObject] = []
        left = MAX_DIGEST_BYTES - _ROOM_BYTES
        for event in digest.events:
            alert = _alert_of(event, language)
            left -= len(msgspec.json.encode(alert)) + 1
            if left >= 0:
                alerts.append(alert)
            else:
                rest[alert["group"] or "", _host_of(alert["subject"])] += 1
        home = self._public_url.rstrip("/")
        data: JsonObject = {
            "route": bundle.route,
            "key": bundle.key,
            "count": len(digest.events) + sum(count for _, _, count in digest.rest),
            "silenced": bundle.silenced,
            "from": _time(digest.first_at),
            "to": _time(digest.last_at),
            "alerts": alerts,
            "rest": _rest_of(rest),
            "links": {"page": f"{home}/changes" if home else None},
        }
        number = self._chance.ulid(at)
        event = cloud_event(id=number, source=self._source, type=DIGEST, subject=bundle.route, at=at, data=data)
        said = summarise(event, language)
        event["data"] = {"summary": said.sentence, "short": said.short} | data
        return event


def _alert_of(event: JsonObject, language: str) -> JsonObject:
    """Show an alert in a digest; its sentence is in the language of the digest."""
    data = event.get("data") or {}
    page, links = data.get("page") or {}, data.get("links") or {}
    difference = data.get("difference") or data.get("excerpt") or {}
    question = data.get("question") or {}
    if (question.get("pages") or 0) > 1:
        # It is about the host; the page is the first of its sample.
        page, links = {"group": page.get("group")}, {"page": (question.get("answer") or {}).get("url")}
        event = event | {"subject": question.get("host")}
    return {
        "id": event["id"],
        "type": event.get("type"),
        "subject": event.get("subject"),
        "group": page.get("group"),
        "title": page.get("text") or page.get("title"),
        "outcome": data.get("outcome"),
        "time": event.get("time"),
        "summary": summarise(event, language).sentence,
        "rows": difference.get("rows") or [],
        "link": links.get("page"),
    }


def _host_of(subject: object) -> str:
    try:
        return urlsplit(str(subject or "")).hostname or ""
    except ValueError:
        return ""


def _rest_of(rest: Counter[tuple[str, str]]) -> list[JsonObject]:
    named = rest.most_common(_PLACES)
    others = rest.total() - sum(count for _, count in named)
    rows: list[JsonObject] = [{"group": group, "host": host, "count": count} for (group, host), count in named]
    return [*rows, *([{"group": "", "host": "", "count": others}] if others else [])]


def _time(at: Instant | None) -> str | None:
    return None if at is None else to_rfc3339(at)


class DigestDesk:
    """Seals and composes the digests of one channel, and finds those that are to be given."""

    def __init__(self, channel: str, store: BundleStore, compose: DigestComposer, clock: Clock) -> None:
        self._channel, self._store, self._compose, self._clock = channel, store, compose, clock
        self._to_seal: Sequence[int] = ()
        self._to_compose: Sequence[int] = ()

    async def look(self, under_way: Collection[int]) -> list[DueDelivery]:
        """Return the digests that can be given now; others are noted for `prepare`.

        under_way  positions of deliveries; those of digests are left out
        """
        found = await self._store.due_bundles(
            self._channel,
            self._clock.now(),
            limit=AT_ONE_LOOK,
            under_way=[-position for position in under_way if position < 0],
        )
        self._to_seal = found.to_seal
        self._to_compose = [-each.position for each in found.to_give if not each.event.id]
        return [each for each in found.to_give if each.event.id]

    @property
    def is_waiting(self) -> bool:
        """Whether digests wait to be sealed or composed."""
        return bool(self._to_seal or self._to_compose)

    async def prepare(self) -> None:
        """Seal digests that are due, and make what they are given as. Raises StoreError."""
        for bundle in self._to_seal:
            await self._store.seal_bundle(bundle, self._clock.now())
        for bundle in self._to_compose:
            event, message = await self._compose(await self._store.digest(bundle))
            await self._store.keep_digest(bundle, event, message)
