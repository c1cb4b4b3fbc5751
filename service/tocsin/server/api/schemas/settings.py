"""Settings: of pages as they are given, and all of them as they are in force."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tocsin.server.api.schemas.common import GroupName, Json, Model
from tocsin.settings import PageSettings

Key = Annotated[str, Field(max_length=64, json_schema_extra={"enum": list(PageSettings.__struct_fields__)})]
"""What is described; one that another version has set can be named as well, where it is set."""
"""The name of a setting of pages; an unknown one is refused with the nearest that there is."""

Span = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,9}(ms|s|m|h|d)$", max_length=16, description="such as 10s, 5m, 24h, 80d", examples=["6h"]),
]
_Rule = Annotated[str, Field(max_length=200)]
_Value = Annotated[str, Field(max_length=4096)]


class SetForPages(Model):
    """What is set for a page, a group, or all pages; the nearest one wins."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"every": "6h", "tell": "major"}]})

    mode: Literal["on", "auto", "off"] | None = None
    tell: Literal["any", "major"] | None = None
    every: Span | None = None
    cron: Annotated[str | None, Field(max_length=200, examples=["0 6 * * *"])] = None
    at_launch: Span | None = None
    min_gap: Span | None = None
    refresh_cap: Span | None = None
    durational_threshold: Span | None = None
    minor_threshold: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    tries: Annotated[int | None, Field(ge=0, le=100)] = None
    retry_refused: bool | None = None
    report: Annotated[list[Literal["unchanged", "too-soon"]] | None, Field(max_length=2)] = None
    signals: Literal["auto", "all", "none"] | None = None
    signal_rules: Annotated[list[_Rule] | None, Field(max_length=50, examples=[["json-ld.version: major"]])] = None
    look_at: Annotated[str | None, Field(max_length=1000, examples=["main"])] = None
    ignore: Annotated[str | None, Field(max_length=1000, examples=[".ads"])] = None
    suspects: Literal["hold", "accept"] | None = None
    adaptive: bool | None = None
    every_min: Span | None = None
    every_max: Span | None = None
    headers: Annotated[dict[str, _Value] | None, Field(max_length=50, examples=[{"Accept-Language": "de"}])] = None
    auth: Annotated[str | None, Field(max_length=1000, description="user:password")] = None
    cookies: Annotated[dict[str, _Value] | None, Field(max_length=50)] = None
    proxy: Annotated[str | None, Field(max_length=8192)] = None

    def given(self) -> dict[str, Any]:
        """Give what was set, without what was left out or null."""
        return {key: value for key, value in self.model_dump().items() if value is not None}


class SettingsEdit(Model):
    """What is to be set for a group or for all pages."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"settings": {"mode": "off"}, "unset": ["every"]}]})

    settings: Annotated[SetForPages, Field(description="merged into what is set")] = SetForPages()
    unset: Annotated[list[Key], Field(max_length=30, description="these inherit again"), Field(default_factory=list)]


class SetForAll(Model):
    """What is set for all pages."""

    settings: Annotated[Json, Field(description="secrets are masked", examples=[{"mode": "on"}])]


class Group(Model):
    """A group of pages."""

    name: GroupName
    pages: Annotated[int, Field(ge=0)]
    settings: Annotated[Json, Field(description="what is set for it; secrets are masked")]


class Groups(Model):
    """All groups, by name."""

    items: list[Group]


class Setting(Model):
    """One setting as it is in force."""

    key: Annotated[str, Field(examples=["pages.every"])]
    value: Annotated[Any, Field(description="secrets are masked", examples=["24h"])]
    origin: Annotated[str, Field(description="a file, a variable, an option, the store, or default")]


class SettingsInForce(Model):
    """All settings."""

    items: list[Setting]
