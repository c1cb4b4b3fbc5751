"""Routes told as sentences: which alerts, when, and not when. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tocsin.model.records.routing import ConfiguredRoute
from tocsin.server.web.week_picker import tell_digest, tell_quiet
from tocsin.wording.words import words_of

_ENGLISH: Final = words_of("en")
_LANGUAGE_NAMES: Final = {"en": "English", "de": "German"}


def _kind(kind: str) -> str:
    return _ENGLISH.say(f"route_kind.{kind}") if f"route_kind.{kind}" in _ENGLISH else kind


def tell_match(match: Mapping[str, Any]) -> str:
    """Tell which alerts are meant, in words."""
    words = {"group": "in", "host": "on", "words": "with the word", "url": "at", "rule": "by rule", "field": "of field"}
    said = {key: " or ".join(map(str, values)) for key, values in match.items() if values}
    kinds = " or ".join(_kind(kind) for kind in match.get("kind") or ())
    first = " ".join(part for part in (said.get("outcome"), said.get("basis")) if part)
    begin = f"a page {kinds}" if kinds else f"{first} changes" if first else "all alerts"
    if kinds and first:
        begin += f" ({first})"
    return ", ".join([begin, *(f"{word} {said[key]}" for key, word in words.items() if key in said)])


def _when(told: str) -> str:
    return f"when {told}" if told.startswith("a page ") else told


def tell_route(route: ConfiguredRoute) -> str:
    """Tell a route as a sentence."""
    when = tell_digest(route.digest, route.group_by)
    parts = [tell_match(route.match), f"but not {_when(tell_match(route.unless))}" if route.unless else "", when]
    parts += [f"at most {route.at_most}" if route.at_most else "", "further routes, too" if route.continues else ""]
    parts += [f"in {_LANGUAGE_NAMES[route.language]}" if route.language else ""]
    parts += [f"by {route.template}" if route.template else ""]
    quiet = f"not {tell_quiet(route.quiet)}" if route.quiet else ""
    sentence = "; ".join(part for part in (*parts, quiet) if part)
    return f"{sentence[:1].upper()}{sentence[1:]}"
