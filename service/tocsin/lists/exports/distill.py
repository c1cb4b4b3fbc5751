"""Exports of Distill: monitors in a list called `data`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from tocsin.lists.entries import GROUP_LETTERS, ListEntry, ListItem, RefusedLine
from tocsin.lists.exports.values import LeftOut, css, decode, seconds, span, texts, words

_ACTIVE: Final = 40
_INTERVAL: Final = "INTERVAL"


def read_monitors(body: bytes) -> Iterator[ListItem]:
    """Read the monitors of an export; a problem with one of them is an item."""
    monitors = decode(body, list[msgspec.Raw])
    if monitors is None:
        yield RefusedLine(1, "data is no list of monitors; make the export again")
        return
    left_out = LeftOut("monitor", "monitors")
    for number, raw in enumerate(monitors, 1):
        monitor = decode(bytes(raw), dict[str, Any])
        url = words(monitor.get("uri")) if monitor else None
        if monitor is None or url is None:
            yield RefusedLine(number, "a monitor without a uri")
            continue
        yield ListEntry(
            number,
            url,
            _group(monitor, left_out, number),
            words(monitor.get("name")),
            _settings(monitor, left_out, number),
            paused=monitor.get("paused") is True or monitor.get("enabled") is False,
        )
    yield from left_out.told()


def _group(monitor: Mapping[str, Any], left_out: LeftOut, number: int) -> str | None:
    given = monitor.get("tags")
    names = texts(given.split(",") if isinstance(given, str) else given)
    if len(names) > 1:
        left_out.note("further tags", number)
    return names[0][:GROUP_LETTERS] if names else None


def _settings(monitor: Mapping[str, Any], left_out: LeftOut, number: int) -> dict[str, str]:
    settings: dict[str, str] = {}
    schedule = _inner(monitor.get("schedule"))
    params = schedule.get("params")
    every = seconds(params.get("interval")) if isinstance(params, dict) else 0
    if every and schedule.get("type", _INTERVAL) == _INTERVAL:
        settings["every"] = span(every)
    elif schedule:
        left_out.note("schedule", number)
    if monitor.get("state", _ACTIVE) != _ACTIVE:
        left_out.note(f"state {str(monitor['state'])[:20]}", number)
    for key in ("rules", "actions", "rule"):
        if monitor.get(key):
            left_out.note(key, number)
    included, excluded, others = _selectors(_inner(monitor.get("config")))
    for key, setting, found in (("includes", "look_at", included), ("excludes", "ignore", excluded)):
        selectors = None if key in others else css(found)
        if selectors is None:
            left_out.note(key, number)
        elif selectors:
            settings[setting] = selectors
    return settings


def _selectors(config: Mapping[str, Any]) -> tuple[list[str], list[str], set[str]]:
    """Collect the CSS selectors of all selections and frames, and the keys that have other selectors, too."""
    found: dict[str, list[str]] = {"includes": [], "excludes": []}
    others: set[str] = set()
    for selection in _tables(config.get("selections")):
        for frame in _tables(selection.get("frames")):
            for key, selectors in found.items():
                for chosen in _tables(frame.get(key)):
                    expression = words(chosen.get("expr"))
                    if chosen.get("type") == "css" and expression is not None:
                        selectors.append(expression)
                    elif expression is not None:
                        others.add(key)
    return found["includes"], found["excludes"], others


def _inner(value: Any) -> dict[str, Any]:
    """Return a table, which Distill writes as JSON within JSON."""
    found = decode(value.encode("utf-8", "replace"), dict[str, Any]) if isinstance(value, str) else value
    return found if isinstance(found, dict) else {}


def _tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
