"""Alerts, storms and channels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from tocsin.server.api.schemas.common import GroupName, Id, Json, Model, Part, Time

Ulid = Annotated[str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$", examples=["01KAKQ4ZC8N2V3J5R7T9WXYZ00"])]
ChannelName = Annotated[str, Field(min_length=1, max_length=63, examples=["ops"])]


class Delivery(Model):
    """How an alert stands with one channel."""

    channel: str
    state: Annotated[str, Field(description="waiting, accepted or dead")]
    tries: int
    error: str | None


class Alert(Model):
    """An alert: what was told, and to whom."""

    id: Ulid
    position: Annotated[int, Field(description="grows with each alert; see `up_to`")]
    type: Annotated[str, Field(examples=["tocsin.page.changed.v1"])]
    page: Id | None
    url: str | None
    at: Time
    outcome: str | None
    seen_at: Time | None
    deliveries: list[Delivery]
    event: Annotated[Json, Field(description="the CloudEvent, as channels are given it")]


class Alerts(Part[Alert]):
    """A part of a list of alerts."""


class Redelivery(Model):
    """To whom an alert goes again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"channel": "ops"}, {}]})

    channel: Annotated[
        ChannelName | None, Field(description="only to this one, also where it is newer; else to all")
    ] = None


class Redelivered(Model):
    """How many deliveries are due again."""

    deliveries: int


class Seen(Model):
    """Which alerts somebody has seen."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["01KAKQ4ZC8N2V3J5R7T9WXYZ00"]}]})

    ids: Annotated[list[Ulid], Field(min_length=1, max_length=1000)]
    seen: bool = True


class AllSeen(Model):
    """Which list of alerts somebody has seen, up to which position."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"up_to": 1200, "outcome": "minor"}]})

    up_to: Annotated[int, Field(ge=0, le=2**53, description="the `position` of the latest that was shown")]
    outcome: Literal["major", "minor"] | None = None
    group: GroupName | None = None


class Marked(Model):
    """How many alerts that changed."""

    alerts: int


class Storm(Model):
    """One change that many pages of a host had in common."""

    id: Id
    host: str
    pages: int
    sample: list[str]
    outcome: str
    basis: str
    excerpt: Annotated[Json | None, Field(description="what changed")]
    first_at: Time
    latest_at: Time
    told_at: Time | None
    released_at: Annotated[Time | None, Field(description="when an alert of each page was asked for after all")]


class StormPage(Model):
    """What a storm was for one of its pages."""

    page: Id
    url: str
    verdict: Id
    at: Time
    outcome: str
    alert: str | None
    withheld: bool


class Channel(Model):
    """Where alerts go."""

    name: str
    type: str
    url: Annotated[str, Field(description="its scheme and host; the rest is masked")]
    path: str
    failures: int
    next_try_at: Time | None
    disabled: bool
    error: str | None
    waiting: int
    dead: int
    accepted: int


class Channels(Model):
    """All channels of the configuration, by name."""

    items: list[Channel]
