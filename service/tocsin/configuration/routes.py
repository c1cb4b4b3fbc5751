"""Routes and silences as the configuration and the API write them: reading and checking."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from tocsin.configuration import limits
from tocsin.configuration.convert import parse_span
from tocsin.configuration.week import is_all_week, parse_times
from tocsin.errors import SettingsError
from tocsin.settings import GroupBy, LanguageChoice, MatchSettings, RouteSettings, SilenceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

MOST_ROUTES: Final = 1000
"""Each alert is compared with each route; a list of values costs no more than one value."""
MOST_VALUES: Final = 1000
KINDS: Final = (
    "changed", "unreachable", "recovered", "disallowed", "suspect", "needs-browser", "storm", "outage", "unchanged",
    "too-soon",
)  # fmt: skip
_CHOICES: Final = {
    "kind": KINDS,
    "outcome": ("major", "minor", "unchanged", "too-soon"),
    "basis": ("declared", "inferred", "contradicted"),
}
# The kinds of alerts that have a value for a key; those of no page have none.
_OF_CHECKS: Final = frozenset({"changed", "unchanged", "too-soon"})
_KINDS_WITH: Final = {
    "outcome": _OF_CHECKS | {"storm"},
    "basis": _OF_CHECKS | {"storm"},
    "rule": _OF_CHECKS,
    "field": _OF_CHECKS,
    "group": frozenset(KINDS) - {"storm", "outage"},
    "url": frozenset(KINDS) - {"storm", "outage"},
    "host": frozenset(KINDS) - {"outage"},
}
_AT_MOST: Final = re.compile(r"([1-9][0-9]{0,5}) per (minute|hour|day)")
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,63}")
_LONGEST_TEXT: Final = 2000
_SHOWN: Final = 80
_MOST_NAMED: Final = 20
_WAITS: Final = (timedelta(seconds=1), timedelta(days=31))
_ROUTE_KEYS: Final = tuple(RouteSettings.__struct_encode_fields__)
_SILENCE_KEYS: Final = tuple(SilenceSettings.__struct_encode_fields__)
_MATCH_KEYS: Final = tuple(MatchSettings.__struct_encode_fields__)


class _Wrong(Exception):
    """What is wrong with a value, beginning with its key."""


def read_routes(value: object, source: str) -> tuple[RouteSettings, ...]:
    """Read `[[routes]]`, or the same as JSON.

    Raises SettingsError, a line for each entry that cannot be used. `check_routes` checks the channels.
    """
    if isinstance(value, list) and len(value) > MOST_ROUTES:
        raise SettingsError(
            f"{source}: routes: found {len(value)}, allowed are at most {MOST_ROUTES}; give one route a list of "
            'values, as in match = { host = ["a.example", "b.example"] }'
        )
    found = _read_each("routes", value, source, _route)
    names = [route.name for route in found]
    for number, name in enumerate(names, 1):
        if name in names[: number - 1]:
            raise SettingsError(f"{source}: routes[{number}]: name: a route before it is called {name!r}; rename one")
    return found


def read_silences(value: object, source: str) -> tuple[SilenceSettings, ...]:
    """Read `[[silences]]`, or the same as JSON; raises SettingsError like `read_routes`."""
    return _read_each("silences", value, source, _silence)


# How each list of tables of the settings is read.
TABLE_LISTS: Final[dict[str, Callable[[object, str], tuple[Any, ...]]]] = {
    "routes": read_routes,
    "silences": read_silences,
}


def check_routes(routes: Sequence[RouteSettings], channels: Collection[str], source: str) -> None:
    """Check that every channel of the routes exists; raises SettingsError, a line for each that does not."""
    complaints = [
        f"{source}: routes[{number}] ({route.name}): channels: there is no channel {channel!r}; "
        f"{_names(channel, channels)}"
        for number, route in enumerate(routes, 1)
        for channel in route.channels
        if channel not in channels
    ]
    if complaints:
        raise SettingsError("\n".join(complaints))


def check_page_route(name: str, routes: Sequence[RouteSettings], where: str) -> None:
    """Check that a route which pages name exists; raises SettingsError."""
    known = [route.name for route in routes]
    if name and name not in known:
        raise SettingsError(f"{where}: there is no route {name[:_SHOWN]!r}; {_names(name, known)}")


def read_match(value: object) -> MatchSettings:
    """Read a `match` on its own: of a silence, or of a command; raises SettingsError."""
    try:
        return _match("match", value)
    except _Wrong as exc:
        raise SettingsError(str(exc)) from exc


def parse_at_most(text: str) -> tuple[int, str]:
    """Read `20 per hour` into a number and a unit: minute, hour or day; raises ValueError for anything else."""
    match = _AT_MOST.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return int(match[1]), match[2]


def _read_each(name: str, value: object, source: str, read: Callable[[Mapping[str, Any]], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise SettingsError(f"{source}: {name}: allowed is a list of tables; begin each with [[{name}]]")
    found, complaints = [], []
    for number, entry in enumerate(value, 1):
        called = entry.get("name") if isinstance(entry, dict) else None
        where = f"{source}: {name}[{number}]{f' ({called})' if isinstance(called, str) else ''}"
        try:
            found.append(read(_table(entry, "entry")))
        except _Wrong as exc:
            complaints.append(f"{where}: {exc}")
    if complaints:
        raise SettingsError("\n".join(complaints))
    return tuple(found)


def _route(entry: Mapping[str, Any]) -> RouteSettings:
    _known(entry, _ROUTE_KEYS)
    route = RouteSettings(
        name=_name(entry.get("name")),
        channels=_texts("channels", entry.get("channels", [])),
        match=_match("match", entry.get("match", {})),
        unless=_unless(entry.get("unless", {})),
        digest=_digest(entry.get("digest", "")),
        group_by=_choices("group_by", entry.get("group_by", []), get_args(GroupBy)),
        quiet=_quiet(entry.get("quiet", [])),
        at_most=_at_most(entry.get("at_most", "")),
        say_nothing=_truth("say_nothing", entry.get("say_nothing", False)),
        template=_template(entry.get("template", "")),
        language=_language(entry.get("language", "")),
        continues=_truth("continue", entry.get("continue", False)),
    )
    _fits(route)
    return route


def _fits(route: RouteSettings) -> None:
    """Check keys that depend on each other."""
    if not route.channels:
        raise _Wrong(
            'channels: none is named; give at least one, as in channels = ["ops"]; a silence holds alerts back'
        )
    if route.digest and route.at_most:
        raise _Wrong("at_most: every alert of this route goes in a digest already; leave `at_most` or `digest` out")
    if route.group_by and not route.digest and not route.at_most:
        raise _Wrong('group_by: this route makes no digest; give it one, as in digest = "0 7 * * *", or leave it out')
    if route.say_nothing and (not route.digest or _is_span(route.digest)):
        raise _Wrong('say_nothing: needs a digest at fixed times, as in digest = "0 7 * * *"')
    never = _why_never(route.match, route.unless)
    if never:
        raise _Wrong(f"it can never match: {never}")


def _why_never(match: MatchSettings, unless: MatchSettings | None) -> str | None:
    """Say why no alert can have all that `match` wants and not what `unless` leaves out; None if one can."""
    kinds = frozenset(match.kind or KINDS)
    for key, having in _KINDS_WITH.items():
        if getattr(match, key) and kinds.isdisjoint(having):
            kind = match.kind[0] if match.kind else "such"
            return f"an alert of kind {kind} has no {key}; leave `{key}` out of match, or name another kind"
        if getattr(match, key):
            kinds &= having
    if unless is None:
        return None
    given = [key for key in _MATCH_KEYS if getattr(unless, key)]
    if all(getattr(match, key) and set(getattr(match, key)) <= set(getattr(unless, key)) for key in given):
        return "`unless` leaves out all that `match` names; mend one of them"
    return None


def _silence(entry: Mapping[str, Any]) -> SilenceSettings:
    _known(entry, _SILENCE_KEYS)
    match = _match("match", entry.get("match", {}))
    if match == MatchSettings():
        raise _Wrong('match: nothing is named; say which alerts, as in match = { host = "staging.example.org" }')
    never = _why_never(match, None)
    if never:
        raise _Wrong(f"it can never match: {never}")
    until = entry.get("until")
    if isinstance(until, str):
        try:
            until = datetime.fromisoformat(until)
        except ValueError:
            until = 0
    if until is not None and (not isinstance(until, datetime) or until.tzinfo is None):
        raise _Wrong("until: allowed is a time with its zone, such as 2026-12-24T18:00:00Z")
    return SilenceSettings(match, until, _text("reason", entry.get("reason", "")))


def _match(place: str, value: object) -> MatchSettings:
    table = _table(value, place)
    _known(table, _MATCH_KEYS, f"{place}.")
    found = {key: _values(place, key, given) for key, given in table.items()}
    return MatchSettings(**{key: values for key, values in found.items() if values})


def _unless(value: object) -> MatchSettings | None:
    found = _match("unless", value)
    # Without keys it would leave out every alert.
    return found if found != MatchSettings() else None


def _values(place: str, key: str, value: object) -> tuple[str, ...]:
    where = f"{place}.{key}"
    if key in _CHOICES:
        return _choices(where, value, _CHOICES[key])
    values = _texts(where, value)
    for each in values:
        if key == "host" and (each == "*" or limits.check_host_pattern(each) is None):
            continue
        if key == "host":
            raise _Wrong(f"{where}: found {_shown(each)}, allowed is {limits.check_host_pattern(each)}")
        if key == "words" and not any(map(str.isalnum, each)):
            raise _Wrong(f"{where}: found {_shown(each)}, allowed are words: at least one letter or digit each")
    return values


def _digest(value: object) -> str:
    text = _text("digest", value)
    if not text or _is_span(text):
        if text and not _WAITS[0] <= parse_span(text) <= _WAITS[1]:
            raise _Wrong(f"digest: found {_shown(text)}, allowed is a duration from 1s to 31d, or a cron expression")
        return text
    if limits.check_cron(text) is not None:
        raise _Wrong(
            f"digest: found {_shown(text)}, allowed is a cron expression of five fields for a time to come, such as "
            '"0 7 * * mon-fri", or a duration from the first alert, such as "1h"'
        )
    return text


def _is_span(text: str) -> bool:
    try:
        parse_span(text)
    except ValueError:
        return False
    return True


def _quiet(value: object) -> tuple[str, ...]:
    entries = _texts("quiet", value)
    try:
        spans = parse_times(entries)
    except ValueError as exc:
        raise _Wrong(
            f'quiet: found {_shown(exc.args[0])}, allowed are times such as "22:00-07:00", days such as "sat" or '
            '"mon-fri", or both: "fri 18:00-24:00"'
        ) from exc
    if is_all_week(spans):
        raise _Wrong("quiet: this is all of the week, so nothing would ever be sent; leave some time of it out")
    return entries


def _at_most(value: object) -> str:
    text = _text("at_most", value)
    try:
        if text:
            parse_at_most(text)
    except ValueError as exc:
        raise _Wrong(
            f'at_most: found {_shown(text)}, allowed is a number for each minute, hour or day: "20 per hour"'
        ) from exc
    return text


def _template(value: object) -> str:
    text = _text("template", value)
    if (allowed := limits.check_template_name(text)) is not None:
        raise _Wrong(f"template: found {_shown(text)}, allowed is {allowed}")
    return text


def _language(value: object) -> LanguageChoice:
    known = get_args(LanguageChoice)
    if value not in known:
        raise _Wrong(f"language: found {_shown(value)}; {_nearest(str(value), [each for each in known if each])}")
    return cast("LanguageChoice", value)


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        found = "it is missing" if value is None else f"found {_shown(value)}"
        raise _Wrong(f'name: {found}, allowed is a name of letters, digits, _ . -, as in name = "press"')
    return value


def _texts(where: str, value: object) -> tuple[str, ...]:
    """Read a text, or a list of them."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) and each for each in given):
        raise _Wrong(f"{where}: found {_shown(value)}, allowed is a text or a list of texts")
    if len(given) > MOST_VALUES:
        raise _Wrong(f"{where}: found {len(given)} values, allowed are at most {MOST_VALUES}; use patterns")
    for each in given:
        _text(where, each)
    return tuple(dict.fromkeys(given))


def _choices(where: str, value: object, known: Sequence[str]) -> tuple[Any, ...]:
    values = _texts(where, value)
    for each in values:
        if each not in known:
            raise _Wrong(f"{where}: found {_shown(each)}; {_nearest(each, known)}")
    return values


def _text(where: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not (value.isprintable() or not value):
        raise _Wrong(
            f"{where}: found {_shown(value)}, allowed is a text of at most {_LONGEST_TEXT} characters, without control "
            "characters"
        )
    return value


def _truth(where: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"{where}: found {_shown(value)}, allowed is true or false")
    return value


def _table(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"{where}: found {_shown(value)}, allowed is a table")
    return value


def _known(table: Mapping[str, Any], known: Sequence[str], place: str = "") -> None:
    for key in table:
        if key not in known:
            raise _Wrong(f"{place}{key}: unknown key; {_nearest(key, known)}")


def _names(name: str, known: Collection[str]) -> str:
    """Say which name is the nearest, and which there are."""
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    listed = f"known are {', '.join(sorted(known)[:_MOST_NAMED])}{more}" if known else "there is none yet"
    close = get_close_matches(name, known, n=1)
    return f"the nearest is {close[0]!r} ({listed})" if close else listed


def _nearest(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name.lower(), known, n=1)
    if close:
        return f"the nearest is {close[0]!r}"
    return f"known are {', '.join(sorted(known))}" if known else "there is none yet"


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
