"""Routes and silences, as surfaces show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta, field

from tocsin.model.common import to_rfc3339
from tocsin.model.records.fields import Id, Json, Number, Record, Time, Ulid, time_or_none
from tocsin.settings import RouteSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model.bundles import BundleRow
    from tocsin.model.messages import MessagePreview
    from tocsin.model.routing import Routed, Silence
    from tocsin.model.saved import Saved
    from tocsin.settings import Settings


class ConfiguredRoute(Record, frozen=True):
    """Which alerts go to which channels, and when."""

    name: Annotated[str, Meta(title="Route", examples=["press"])]
    channels: Annotated[list[str], Meta(description="names of the channels that get them")]
    match: Annotated[Json, Meta(description="the alerts that it takes: each key with a list of values; empty: all")]
    unless: Annotated[Json | None, Meta(description="alerts that it leaves out although they match")]
    digest: Annotated[
        str, Meta(description="cron expression, or duration from the first alert; empty: each goes alone")
    ]
    group_by: Annotated[list[str], Meta(description="a digest for each value of these")]
    quiet: Annotated[list[str], Meta(description="times of the week at which nothing is sent")]
    at_most: Annotated[str, Meta(description="alerts that go alone, such as `20 per hour`; empty: all")]
    say_nothing: Annotated[bool, Meta(description="a digest without alerts is sent, too")]
    template: Annotated[str, Meta(description="a file of templates, in place of that of the channel; empty: none")]
    language: Annotated[
        Literal["", "en", "de"], Meta(description="of messages; empty: that of the channel, then of the instance")
    ]
    continues: Annotated[bool, Meta(title="Continue", description="the routes below are tried, too")] = field(
        name="continue"
    )
    source: Annotated[
        Literal["configuration", "saved"], Meta(description="saved: it was made at run time, and can be edited")
    ]
    error: Annotated[str | None, Meta(description="why it is left out: what it names is gone")]


def routes_of(settings: Settings, saved: Saved, unusable: Mapping[str, str]) -> list[ConfiguredRoute]:
    """Show the routes in force from top to bottom, then saved ones that are left out.

    settings  with what was saved
    """
    made = {entry.name for entry in saved.routes}
    found = [route_of(route, is_saved=route.name in made) for route in settings.routes]
    return found + [route_of(RouteSettings(name, ()), is_saved=True, error=why) for name, why in unusable.items()]


def route_of(settings: RouteSettings, *, is_saved: bool = False, error: str | None = None) -> ConfiguredRoute:
    """Show a route."""
    return ConfiguredRoute(
        name=settings.name,
        channels=list(settings.channels),
        match=msgspec.to_builtins(settings.match),
        unless=msgspec.to_builtins(settings.unless),
        digest=settings.digest,
        group_by=list(settings.group_by),
        quiet=list(settings.quiet),
        at_most=settings.at_most,
        say_nothing=settings.say_nothing,
        template=settings.template,
        language=settings.language,
        continues=settings.continues,
        source="saved" if is_saved else "configuration",
        error=error,
    )


class RouteDelivery(Record, frozen=True):
    """What one channel gets of an alert."""

    channel: Annotated[str, Meta(description="its name")]
    due_at: Annotated[Time | None, Meta(description="when; null: at once, or never because of a silence")]
    digest: Annotated[bool, Meta(description="in a digest, with others")]
    key: Annotated[str, Meta(description="of the digest: the values of `group_by`")]
    silence: Annotated[Id | None, Meta(description="the silence that holds it back")]


class RouteTest(Record, frozen=True):
    """What one route says of an alert."""

    route: Annotated[str, Meta(description="its name; empty where no route is configured")]
    takes: Annotated[bool, Meta(description="whether it takes the alert")]
    why: Annotated[str, Meta(examples=["its outcome is minor, not major"])]
    deliveries: Annotated[list[RouteDelivery], Meta(description="to its channels; none that a route before it decided")]


def delivery_of(routed: Routed) -> RouteDelivery:
    """Show what a channel gets."""
    return RouteDelivery(
        channel=routed.channel,
        due_at=time_or_none(routed.due_at),
        digest=routed.is_digest,
        key=routed.key,
        silence=None if routed.silence is None else str(routed.silence),
    )


class SilenceEntry(Record, frozen=True):
    """Alerts that are not sent, for a time."""

    id: Id
    match: Annotated[Json, Meta(description="the alerts: each key with a list of values, as in routes")]
    from_at: Annotated[Time, Meta(description="when it began")]
    until_at: Annotated[Time | None, Meta(description="when it ends; null: when you end it")]
    reason: Annotated[str, Meta(description="why, as typed")]
    who: Annotated[str, Meta(description="made it: a token, `command line`, or `configuration` for one of the file")]
    ended_at: Annotated[Time | None, Meta(description="when it was ended before its time")]


def silence_of(silence: Silence) -> SilenceEntry:
    """Show a silence."""
    return SilenceEntry(
        id=str(silence.id),
        match=silence.match,
        from_at=to_rfc3339(silence.from_at),
        until_at=time_or_none(silence.until_at),
        reason=silence.reason,
        who=silence.who,
        ended_at=time_or_none(silence.ended_at),
    )


class DigestEntry(Record, frozen=True):
    """Alerts that a channel gets together."""

    id: Annotated[Id, Meta(title="Digest")]
    channel: Annotated[str, Meta(description="that gets it")]
    route: Annotated[str, Meta(description="that gathers it; it may be gone")]
    key: Annotated[str, Meta(description="of its alerts: the values of `group_by`")]
    state: Annotated[
        Literal["open", "sealed", "accepted", "dead"],
        Meta(description="open: alerts join it; sealed: it is being sent; accepted; dead: given up"),
    ]
    alerts: Annotated[Number, Meta(description="how many joined it")]
    silenced: Annotated[Number, Meta(description="alerts of its route that silences held back since the one before")]
    opened_at: Annotated[Time, Meta(description="when its first alert joined it")]
    due_at: Annotated[Time, Meta(title="Due", description="when it is, or was, to be sent")]
    sealed_at: Annotated[Time | None, Meta(description="when the last alert could join it")]
    next_try: Annotated[Time | None, Meta(description="of a sealed one: when it is tried next")]
    tries: Annotated[Number, Meta(description="that were made")]
    error: Annotated[str | None, Meta(description="of the last try, or why it is dead")]
    message: Annotated[str | None, Meta(description="id of its event and message; null until these are written")]


def digest_of(row: BundleRow) -> DigestEntry:
    """Show a digest."""
    return DigestEntry(
        id=str(row.id),
        channel=row.channel,
        route=row.route,
        key=row.key,
        state=row.state,
        alerts=row.alerts,
        silenced=row.silenced,
        opened_at=to_rfc3339(row.opened_at),
        due_at=to_rfc3339(row.due_at),
        sealed_at=time_or_none(row.sealed_at),
        next_try=time_or_none(row.next_at) if row.state == "sealed" else None,
        tries=row.tries,
        error=row.error,
        message=row.message_id,
    )


class RouteAlert(Record, frozen=True):
    """Whether a route would take one of the latest alerts."""

    alert: Ulid
    matches: Annotated[bool, Meta(description="whether it would take the alert")]
    why: Annotated[str, Meta(examples=["its outcome is minor, not major"])]
    at: Annotated[Time, Meta(description="of the alert")]
    type: Annotated[str, Meta(examples=["tocsin.page.changed.v1"])]
    outcome: Annotated[str | None, Meta(description="of the change: major or minor")]
    title: Annotated[str, Meta(description="of the page, or its URL")]
    short: Annotated[str, Meta(description="what changed, in a few words")]


class RoutePreviewed(Record, frozen=True):
    """What a route would have done with the latest alerts."""

    matches: Annotated[int, Meta(description="how many it would take")]
    of: Annotated[int, Meta(description="how many there are")]
    per_day: Annotated[float, Meta(description="that it would take, on average")]
    quiet: Annotated[int, Meta(description="of these, how many its quiet hours hold back")]
    taken_by: Annotated[
        dict[str, int], Meta(description="how many that match it a route before it takes instead, by that route")
    ]
    alerts: Annotated[list[RouteAlert], Meta(description="the latest first")]


class RenderedMessage(Record, frozen=True):
    """An alert as people read it."""

    subject: Annotated[str, Meta(description="one line")]
    text: Annotated[str, Meta(description="as plain text")]
    html: Annotated[str, Meta(description="as a page of HTML")]
    markdown: Annotated[str, Meta(description="as Markdown")]
    short: Annotated[str, Meta(description="at most 280 letters")]


class ChannelPreview(RenderedMessage, frozen=True):
    """An alert as a channel sends it."""

    channel: Annotated[str, Meta(description="its name")]
    route: Annotated[str, Meta(description="the route that would send it; empty: none, or there are no routes")]
    alert: Annotated[str | None, Meta(description="the alert; null for a made-up example")]
    content_type: Annotated[str, Meta(description="of `body`")]
    body: Annotated[str, Meta(description="what its service is given; empty where another program writes it")]
    error: Annotated[str, Meta(description="why it could not be sent; empty: it could")]


def channel_preview_of(channel: str, route: str, alert: str | None, shown: MessagePreview) -> ChannelPreview:
    """Show a preview of a channel."""
    message = shown.message
    return ChannelPreview(
        channel=channel,
        route=route,
        alert=alert,
        subject=message.subject,
        text=message.text,
        html=message.html,
        markdown=message.markdown,
        short=message.short,
        content_type=shown.content_type,
        body=shown.body,
        error=shown.error,
    )
