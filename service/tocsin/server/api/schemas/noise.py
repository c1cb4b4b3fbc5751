"""What is known of a page beside its state: its signals, and what changes from check to check."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Field

from tocsin.server.api.schemas.common import Id, Model, Time

_LARGEST: Final = 2**63 - 1


def _in_range(key: str) -> str:
    if not -_LARGEST <= int(key) <= _LARGEST:
        raise ValueError("no key has more than 64 bits")
    return key


Key = Annotated[str, Field(pattern=r"^-?[0-9]{1,19}$", examples=["123456789"]), AfterValidator(_in_range)]
"""A digest of 63 bits, as a string: numbers of JSON are exact up to 53 bits only."""


class Noise(Model):
    """A place or signal of a page that changes from check to check."""

    key: Key
    what: Annotated[str, Field(description="how people recognise it")]
    changes: Annotated[int, Field(description="in so many readings it differed from the one before")]
    quiet: Annotated[int, Field(description="so many readings in a row it has not")]
    muted_at: Annotated[Time | None, Field(description="null: not yet")]
    heard: Annotated[bool, Field(description="somebody wants to hear of it all the same")]


class Signals(Model):
    """What was read of a page beside its twelve fields."""

    values: Annotated[dict[str, str], Field(description="by the signal's name")]
    listed: Annotated[dict[str, str], Field(description="what feeds and sitemaps on the list say of its last change")]
    noise: list[Noise]
    heard: Annotated[list[Key], Field(description="places that somebody wants to hear of, whatever they do")]
    muted_on_host: Annotated[list[Key], Field(description="muted for all pages of the host")]


class HostNoise(Model):
    """Something that changes from check to check on pages of a host."""

    key: Key
    what: str
    pages: Annotated[list[Id], Field(description="the first pages on which it was muted")]
    muted_at: Annotated[Time | None, Field(description="when it was muted on all pages of the host")]
    heard: bool


class NoiseOfHost(Model):
    """What changes from check to check on pages of a host."""

    items: list[HostNoise]


class Hearing(Model):
    """Which places are to be heard, or muted again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["123456789"], "heard": True}]})

    keys: Annotated[list[Key], Field(min_length=1, max_length=1000)]
    heard: Annotated[bool, Field(description="false: muted again, as they are learnt")] = True
