"""Attributes that take a keyword, or none at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tocsin.spec.html.microsyntax import lower_ascii

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

State = TypeVar("State")


def read_state(
    value: str | None,
    keywords: Mapping[str, State],
    *,
    invalid_default: State | None = None,
    missing_default: State | None = None,
) -> State | None:
    """Give the state of an enumerated attribute; None where it has none.

    value     None if the attribute is absent
    keywords  in lower case, each with its state; the empty string may be one
    Source    text 004, 2.4.7 (ENUM-01, ENUM-03)
    """
    if value is None:
        return missing_default
    state = keywords.get(lower_ascii(value))
    if state is not None:
        return state
    return missing_default if invalid_default is None else invalid_default


def is_valid_keyword(value: str, keywords: Collection[str], nonconforming: Collection[str] = ()) -> bool:
    """Say whether an enumerated attribute may be written so: in any case, with nothing around it (ENUM-02).

    nonconforming  keywords that have a state for historical reasons, and must not be written
    """
    keyword = lower_ascii(value)
    return keyword in keywords and keyword not in nonconforming


def is_valid_boolean(name: str, value: str) -> bool:
    """Say whether a boolean attribute may be written with this value: none, or its own name in any case (NUM-03)."""
    return not value or lower_ascii(value) == lower_ascii(name)
