"""Routes told as sentences: which alerts, when, and not when. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tocsin.model.records.routing import ConfiguredRoute
from tocsin.server.web.formatting import ENGLISH
from tocsin.server.web.week_picker import tell_digest, tell_quiet
from tocsin.wording.words import Words

_PLACES: Final = ("group", "host", "words", "url", "rule", "field")


def _listed(words: Words, kind: str, values: Iterable[str]) -> str:
    """Name values of a matcher: by the words for them where there are some."""
    named = [words.say(f"{kind}.{each}") if f"{kind}.{each}" in words else each for each in values]
    return f" {words.say('told.or')} ".join(named)


def tell_match(match: Mapping[str, Any], words: Words = ENGLISH, *, is_within: bool = False) -> str:
    """Tell which alerts are meant, in words; `is_within`: within a sentence."""
    kinds = _listed(words, "route_kind", match.get("kind") or ())
    outcome, basis = (_listed(words, key, match.get(key) or ()) for key in ("outcome", "basis"))
    of = words.say("told.both", outcome=outcome, basis=basis) if outcome and basis else outcome or basis
    if kinds:
        begin = words.say("told.kinds_within" if is_within else "told.kinds", kinds=kinds)
        begin = words.say("told.only", kinds=begin, of=of) if of else begin
    else:
        begin = words.say("told.changes", of=of) if of else words.say("told.all")
    places = [words.say(f"told.{key}", values=_listed(words, key, match[key])) for key in _PLACES if match.get(key)]
    if is_within and not kinds and not of and places:
        return words.say("told.those", places=", ".join(places))
    return ", ".join([begin, *places])


def tell_route(route: ConfiguredRoute, words: Words = ENGLISH) -> str:
    """Tell a route as a sentence."""
    parts = [tell_match(route.match, words)]
    if route.unless:
        parts.append(words.say("told.unless", match=tell_match(route.unless, words, is_within=True)))
    parts.append(tell_digest(route.digest, route.group_by, words=words))
    if route.at_most:
        parts.append(words.say("told.at_most", number=route.at_most))
    if route.continues:
        parts.append(words.say("told.continues"))
    if route.language:
        parts.append(words.say("told.language", language=words.say(f"routes.language_{route.language}")))
    if route.template:
        parts.append(words.say("told.template", template=route.template))
    if route.quiet:
        parts.append(words.say("told.not_quiet", quiet=tell_quiet(route.quiet, words)))
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}"
