"""Pages: as they are added, edited, chosen and shown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from tocsin.model import View
from tocsin.server.api.schemas.common import Count, GroupName, Id, Json, Model, Part, Time, Url, Words
from tocsin.server.api.schemas.settings import Key, SetForPages

_PAGE: Any = {
    "id": "42",
    "url": "https://example.org/news",
    "host": "example.org",
    "group": "main",
    "text": "watched for the tender",
    "mode": "on",
    "mode_from": "configuration",
    "subject": True,
    "paused": False,
    "settings": {"every": "6h"},
    "credentials": False,
    "fields": {"topper-major": "2026-01-02"},
    "outcome": "unchanged",
    "basis": "declared",
    "last_check": {"outcome": "unchanged", "status": 200, "elapsed_ms": 84},
    "stored_at": "2026-03-04T05:06:07.890Z",
    "checked_at": "2026-03-04T05:06:07.890Z",
    "received_at": "2026-03-04T05:06:07.890Z",
    "changed_at": None,
    "next_at": "2026-03-04T11:06:07.890Z",
    "next_why": "every 6h",
    "question": None,
    "noindex": False,
    "nofollow": False,
    "saved_bytes": 0,
}


class PageToAdd(Model):
    """A page to be watched."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://example.org/news", "settings": {"every": "6h"}}]}
    )

    url: Url
    group: GroupName = "main"
    text: Annotated[Words | None, Field(description="your own words on it")] = None
    settings: SetForPages = SetForPages()


class Page(Model):
    """A watched page."""

    model_config = ConfigDict(json_schema_extra={"examples": [_PAGE]})

    id: Id
    url: str
    host: str
    group: GroupName
    text: Annotated[str | None, Field(description="your own words on it")]
    mode: Literal["on", "auto", "off"]
    mode_from: Annotated[str, Field(description="page, group, all pages or configuration")]
    subject: Annotated[bool, Field(description="it is subject to awareness now (T50, T51)")]
    paused: bool
    settings: Annotated[Json, Field(description="set for this page; secrets are masked")]
    credentials: Annotated[bool, Field(description="it was added with a user name and password")]
    fields: Annotated[dict[str, str | None] | None, Field(description="the twelve fields of its latest state")]
    outcome: Annotated[str | None, Field(description="of its last check")]
    basis: Annotated[str | None, Field(description="declared, inferred or contradicted")]
    last_check: Annotated[Json | None, Field(description="as `tocsin check --json` tells it")]
    stored_at: Time | None
    checked_at: Time | None
    received_at: Time | None
    changed_at: Time | None
    next_at: Time | None
    next_why: str | None
    question: Annotated[Id | None, Field(description="the open question that it belongs to")]
    noindex: bool
    nofollow: bool
    saved_bytes: int


class Pages(Part[Page]):
    """A part of a list of pages."""

    total: Annotated[Count | None, Field(description="how many the list has, where `total` asked")] = None


class AddedPage(Model):
    """What became of one page that was to be added."""

    url: Annotated[str, Field(description="as it is watched")]
    id: Annotated[Id | None, Field(description="null: it was watched already, and stays as it is")]


class AddedPages(Model):
    """What became of many, in the order of the request."""

    items: list[AddedPage]
    added: int
    known: int


class PageEdit(Model):
    """What is to be changed of a page."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"settings": {"every": "6h"}, "paused": False}]})

    settings: Annotated[SetForPages, Field(description="merged into what is set")] = SetForPages()
    unset: Annotated[list[Key], Field(max_length=30, description="these inherit again"), Field(default_factory=list)]
    paused: bool | None = None
    group: Annotated[GroupName | None, Field(description="moves it there; a new group is made")] = None
    text: Annotated[Annotated[str, Field(max_length=253)] | None, Field(description="empty takes it away")] = None


class Chosen(Model):
    """Which pages are meant: these, or all of a list as GET /pages shows it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["42", "43"]}, {"view": "problems"}]})

    ids: Annotated[list[Id] | None, Field(min_length=1, max_length=10_000)] = None
    view: View | None = None
    group: GroupName | None = None
    host: Annotated[str | None, Field(min_length=1, max_length=253)] = None
    q: Annotated[str | None, Field(min_length=1, max_length=200)] = None

    @model_validator(mode="after")
    def _is_one(self) -> Chosen:
        has_query = any(part is not None for part in (self.view, self.group, self.host, self.q))
        if (self.ids is not None) == has_query:
            raise ValueError('say which pages: either `ids`, or one of view, group, host and q; {"view": "all"} is all')
        return self


class Bulk(Model):
    """Something that is done to many pages."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pages": {"group": "news"}, "action": "pause"}]})

    pages: Chosen
    action: Literal["pause", "resume", "delete", "move", "set", "check"]
    group: Annotated[GroupName | None, Field(description="for move")] = None
    settings: Annotated[SetForPages | None, Field(description="for set")] = None
    unset: Annotated[list[Key] | None, Field(max_length=30, description="for set: these inherit again")] = None

    @model_validator(mode="after")
    def _fits(self) -> Bulk:
        if (self.action == "move") != (self.group is not None):
            raise ValueError("`group` belongs to move, which needs it")
        if (self.action == "set") != (self.settings is not None or self.unset is not None):
            raise ValueError("`settings` and `unset` belong to set, which needs one of them")
        return self


class Emptying(Model):
    """The word that the whole list is to go."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"confirm": "remove all pages"}]})

    confirm: Literal["remove all pages"]


class Check(Model):
    """Checks that were asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7",
                    "done": 2,
                    "total": 3,
                    "is_over": False,
                    "skipped": 1,
                    "skipped_until": "2026-03-04T05:06:07.890001Z",
                }
            ]
        }
    )

    id: Id
    done: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0, description="fewer than were asked for where some are paused, or asked for anew")]
    is_over: bool
    skipped: Annotated[
        int | None,
        Field(ge=0, description="of these so many were not asked for, as reports say; null: too many to be counted"),
    ]
    skipped_until: Annotated[
        Time | None, Field(description="all that were skipped for their `min_gap` may be asked for from then on")
    ]


class CheckReport(Model):
    """How the check of one page ended."""

    position: Annotated[int, Field(ge=1, description="in order of completion")]
    report: Annotated[Json, Field(description="as `tocsin check --json` tells it")]


class CheckReports(Model):
    """Reports of checks that were asked for, in order of completion."""

    items: list[CheckReport]


class Copy(Model):
    """A copy of a page, as a watched page names it."""

    number: Annotated[int, Field(ge=1)]
    url: str
    datetime: Annotated[str | None, Field(description="when the copy was made, as it was written")]
    rel: str | None
    kind: str
    of: Annotated[str, Field(description="the page that it is a copy of")]
    from_: Annotated[str, Field(alias="from", description="the watched page that names it")]


class Copies(Model):
    """Copies, the newest first."""

    items: list[Copy]


class WayOut(Model):
    """A format that gives something of a page's items."""

    form: Annotated[str, Field(examples=["ical"])]
    label: Annotated[str, Field(description="for people", examples=["Calendar"])]
    media_type: Annotated[str, Field(examples=["text/calendar; charset=utf-8"])]
    profiles: Annotated[list[str], Field(description="the first is what is given where none is named")]
    url: Annotated[str, Field(examples=["/api/v1/pages/42/extract/ical"])]


class KeptItems(Model):
    """A page's microdata as it was when the page was read whole last."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "at": "2026-03-04T05:06:07.890Z",
                    "since": "2026-02-01T10:00:00.000Z",
                    "count": 1,
                    "cut": False,
                    "no_text": False,
                    "why": None,
                    "items": [
                        {
                            "type": "http://microformats.org/profile/hcalendar#vevent",
                            "properties": {"summary": ["Bluesday Tuesday"], "dtstart": ["2009-05-05T19:00:00Z"]},
                        }
                    ],
                    "formats": [
                        {
                            "form": "ical",
                            "label": "Calendar",
                            "media_type": "text/calendar; charset=utf-8",
                            "profiles": ["export", "text"],
                            "url": "/api/v1/pages/42/extract/ical",
                        }
                    ],
                }
            ]
        }
    )

    at: Annotated[Time | None, Field(description="when it was read last; null: the page has none, or was not read")]
    since: Annotated[Time | None, Field(description="when it was read first as it is now")]
    count: Annotated[int, Field(ge=0, description="of all items that are kept, those within others too")]
    cut: Annotated[bool, Field(description="the page has more than is kept and shown")]
    no_text: Annotated[bool, Field(description="none is kept: the page is not to be indexed")]
    why: Annotated[str | None, Field(description="why none are kept, or not all, in words; null where all are")]
    items: Annotated[list[Json], Field(description="the top-level items; `type` is a string, as written")]
    formats: Annotated[list[WayOut], Field(description="in which they can be taken away")]


class ItemsHint(Model):
    """That items of a page are kept."""

    count: Annotated[int, Field(ge=0)]
    at: Annotated[Time, Field(description="when they were read last")]


class WholePage(Page):
    """A watched page by itself, with what lists of pages leave out."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**_PAGE, "items": {"count": 3, "at": "2026-03-04T05:06:07.890Z"}}]}
    )

    items: Annotated[ItemsHint | None, Field(description="its microdata that is kept; see GET /pages/{page_id}/items")]
