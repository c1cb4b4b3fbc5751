"""What was stored of a page, and how it differs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from tocsin.server.api.schemas.common import Id, Json, Model, Time

Fields = dict[str, str | None]


class State(Model):
    """A run of equal storings of one page."""

    id: Id
    stored_at: Time
    last_stored_at: Time
    storings: Annotated[int, Field(ge=1)]
    in_table: Annotated[bool, Field(description="false: history, which is neither compared nor exported")]
    fields: Annotated[Fields, Field(description="the twelve fields, in the specification's order")]


class Verdict(Model):
    """What one comparison found, and how it came about."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "9",
                    "page": "42",
                    "at": "2026-03-04T05:06:07.890Z",
                    "outcome": "major",
                    "reason": "topper-major",
                    "rule": "T44",
                    "basis": "declared",
                    "changes": [{"field": "topper-major", "previous": "2026-01-02", "latest": "2026-03-04"}],
                    "signals": [],
                    "trace": [{"rule": "T44", "says": "major", "why": "a new date"}],
                    "data": {},
                    "state": "17",
                    "alert": "01KAKQ4ZC8N2V3J5R7T9WXYZ00",
                    "storm": None,
                }
            ]
        }
    )

    id: Id
    page: Id
    at: Time
    outcome: str
    reason: str | None
    rule: Annotated[str, Field(description="that decided")]
    basis: Annotated[str, Field(description="declared, inferred or contradicted")]
    changes: list[Json]
    signals: list[Json]
    trace: Annotated[list[Json], Field(description="each step that led to it: rule, what it says, and why")]
    data: Annotated[Json, Field(description="the data of its event, but for the rendering")]
    state: Annotated[Id | None, Field(description="the state that was found")]
    alert: Annotated[str | None, Field(description="the alert that told it")]
    storm: Annotated[Id | None, Field(description="many pages had the same change, which was told once")]


class RenderingError(Model):
    """Why a page could not be received whole."""

    kind: str
    status: int | None
    message: str


class Rendering(Model):
    """What receiving a page whole brought."""

    id: Id
    started_at: Time
    received_at: Time | None
    kind: Annotated[str, Field(description="by which renderer: http, or copy")]
    status: int | None
    final_url: str | None
    content_type: str | None
    title: str | None
    bytes: int | None
    digest: str | None
    same_state: Annotated[bool | None, Field(description="it found the state that was judged")]
    error: RenderingError | None
    items: Annotated[
        Json | None, Field(description="how the page's items changed, as its event tells; null: they did not")
    ]


class ItemChange(Model):
    """How a page's items (events, contacts and the like) changed between two renderings."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "rendering": "7",
                    "at": "2026-03-04T05:06:07.890Z",
                    "since": "2026-03-01T05:06:07.890Z",
                    "added": 0,
                    "removed": 0,
                    "changed": 1,
                    "cut": False,
                    "changes": [
                        {
                            "change": "changed",
                            "item": {
                                "type": "http://microformats.org/profile/hcalendar#vevent",
                                "id": None,
                                "position": 1,
                                "label": "Jazz",
                            },
                            "within": [],
                            "path": [],
                            "property": "dtstart",
                            "previous": ["2026-05-05"],
                            "latest": ["2026-05-06"],
                        }
                    ],
                    "told": ['dtstart of "Jazz": 2026-05-05 → 2026-05-06'],
                }
            ]
        }
    )

    rendering: Annotated[Id, Field(description="that read the latest ones")]
    at: Annotated[Time, Field(description="when they were read")]
    since: Annotated[Time, Field(description="when those before were read")]
    added: Annotated[int, Field(ge=0, description="so many items, as all three: those at the top of the page alone")]
    removed: Annotated[int, Field(ge=0)]
    changed: Annotated[int, Field(ge=0, description="those that differ themselves, or hold one that does")]
    cut: Annotated[
        bool,
        Field(
            description="not all is shown: more may differ, or values that did not change are left out of a long list"
        ),
    ]
    changes: Annotated[list[Json], Field(description="each as the event tells it")]
    told: Annotated[list[str], Field(description="the same in words, a line each")]


class FieldChange(Model):
    """A field of two states."""

    field: str
    previous: str | None
    latest: str | None
    changed: bool


class StateDifference(Model):
    """Two states, field by field."""

    from_: Annotated[State, Field(alias="from")]
    to: State
    changed: list[str]
    fields: list[FieldChange]


class Text(Model):
    """A text that is kept of a page."""

    number: Annotated[int, Field(ge=1, description="1 is the latest")]
    id: Id
    at: Time
    digest: str
    packed_bytes: int


class Texts(Model):
    """The texts that are kept of a page, newest first."""

    items: list[Text]


class Run(Model):
    """A piece of text that is in both, was removed, or was added."""

    kind: Literal["same", "removed", "added"]
    text: str


class TextDifference(Model):
    """How a page's text became another one."""

    from_: Annotated[Text, Field(alias="from")]
    to: Text
    by: Literal["words", "lines"]
    changed: bool
    runs: list[Run]
