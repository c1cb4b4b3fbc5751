"""How a page is asked for, and read, is named: what was read otherwise is asked for anew."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tocsin.engine.policies import asked_as
from tocsin.settings import PageSettings

USUAL = PageSettings()


def test_what_is_usual_has_no_name() -> None:
    assert asked_as(USUAL, None) == ""


@pytest.mark.parametrize(
    "changed",
    [{"signal_rules": ("etag: ignore",)}, {"suspects": "accept"}, {"adaptive": True}, {"tell": "major"}],
)
def test_what_shapes_neither_request_nor_reading_has_no_name(changed: dict[str, Any]) -> None:
    assert asked_as(msgspec.structs.replace(USUAL, **changed), None) == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"signals": "none"},
        {"signals": "all"},
        {"look_at": "main"},
        {"ignore": "main"},
        {"headers": {"Accept-Language": "de"}},
        {"headers": {"Accept-Language": "de"}, "look_at": "main"},
    ],
)
def test_whatever_shapes_request_or_reading_is_in_the_name(changed: dict[str, Any]) -> None:
    others: list[dict[str, Any]] = [
        {"signals": "all", "look_at": "p"},
        {"headers": {"Accept-Language": "en"}},
        {"ignore": "nav"},
    ]
    name = asked_as(msgspec.structs.replace(USUAL, **changed), None)

    names = [asked_as(msgspec.structs.replace(USUAL, **other), None) for other in others]

    assert name not in ("", *names)
