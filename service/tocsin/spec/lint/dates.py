"""Dates and times: of time, ins and del elements, and of the fields of a page's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE, lower_ascii, split_tokens
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global, parse_datetime, parse_vague
from tocsin.spec.infrastructure.living_datetimes import is_living_datetime, is_living_moment
from tocsin.spec.lint.page import shown
from tocsin.spec.topper.dates import is_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.page import WrittenPage

_NAMES = frozenset({"created", "dc.created", "dcterms.created", "dc.modified", "dcterms.modified"})
_PROPERTIES = frozenset({"article:published_time", "article:modified_time"})


def check_fields(page: WrittenPage) -> Iterator[Found]:
    """Judge the dates among the fields of a page's state, which no text forbids to be something else (DT-09)."""
    for element in page.named("meta"):
        content = (element.get("content") or "").strip(SPACE)
        if not content or is_token(content) or is_valid_date(content) or is_valid_global(content):
            continue
        field = _field_of(element)
        if field is None:
            continue
        message = (
            f"{shown(content)} is no date that every reader knows; write {field} such as 2026-11-21 or "
            f"2026-11-21T08:20:00Z"
        )
        yield Found(page.place_in(element, "content"), "DT-09", Level.WARNING, message)


def check_times(page: WrittenPage) -> Iterator[Found]:
    """Judge the dates and times of time elements (DT-06), and of ins and del elements (DT-02).

    Those in forms of today that the older text does not know are told together, once a page.
    """
    yield from _told_once("DT-06", _judge_times(page))
    yield from _told_once("DT-02", _judge_changes(page))


def _judge_times(page: WrittenPage) -> Iterator[Found]:
    for element in page.named("time"):
        written = element.get("datetime")
        if written is not None:
            if parse_vague(written, "attribute").valid:
                continue
            place, value = page.place_in(element, "datetime"), written
            is_living = is_living_datetime(written)
        elif element.text is not None:
            if parse_vague(element.text, "content").valid:
                continue
            place, value = element.span[0], element.text.strip()
            is_living = is_living_datetime(value)
        else:
            continue
        if is_living:
            yield Found(place, "DT-06", Level.WARNING, f"{shown(value)} is a form that only readers of today know")
            continue
        mend = "write it" if written is not None else "write a datetime attribute"
        message = f"{shown(value)} is no date or time; {mend} such as 2026-11-21, 08:20 or 2026-11-21T08:20:00Z"
        yield Found(place, "DT-06", Level.ERROR, message)


def _judge_changes(page: WrittenPage) -> Iterator[Found]:
    for element in page.named("ins", "del"):
        value = element.get("datetime")
        if value is None or is_valid_date(value) or is_valid_global(value) or parse_datetime(value) is not None:
            continue
        place = page.place_in(element, "datetime")
        if is_living_moment(value):
            yield Found(place, "DT-02", Level.WARNING, f"{shown(value)} is a form that only readers of today know")
            continue
        message = f"{shown(value)} is no moment; write such as 2026-11-21 or 2026-11-21T08:20:00Z"
        yield Found(place, "DT-02", Level.ERROR, message)


def _told_once(rule: str, found: Iterable[Found]) -> Iterator[Found]:
    """Give the errors, and of the warnings the first one, with how many more there are."""
    living: list[Found] = []
    for at in found:
        if at.level is Level.ERROR:
            yield at
        else:
            living.append(at)
    if living:
        others = f", as are {len(living) - 1} more" if len(living) > 1 else ""
        message = f"{living[0].message}{others}; older ones expect such as 2026-11-21 or 2026-11-21T08:20:00Z"
        yield Found(living[0].place, rule, Level.WARNING, message)


def _field_of(element: PlacedElement) -> str | None:
    name = lower_ascii(element.get("name") or "")
    if name in _NAMES:
        return name
    return next((word for word in split_tokens(element.get("property") or "") if word in _PROPERTIES), None)
