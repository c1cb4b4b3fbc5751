"""Keeping an event within what receivers take: the longest values give way to their digest and length."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.model import JsonObject

MAX_EVENT_BYTES = 256 * 2**10
# What a receiver finds the page and the states by; no digest could stand for it.
_KEPT = frozenset({"id", "url", "final_url", "sample", "stored", "received", "command", "field", "digest"})
_SHORTEST_REPLACED = 128

_encode = msgspec.json.encode


def fit_event(event: JsonObject) -> JsonObject:
    """Return the event, at most 256 KiB as JSON in UTF-8: longest first, values become digest and length.

    A text or a list of texts becomes `{"digest": "sha256:...", "length": n}`, both of the text in UTF-8 or of the
    list as compact JSON. Ids, URLs and times stay. The same event always gives the same result; the one given is
    never changed.
    """
    excess = len(_encode(event)) - MAX_EVENT_BYTES
    if excess <= 0:
        return event
    fitted: JsonObject = deepcopy(event)
    places = sorted(_places(fitted["data"], ()), key=lambda place: (-place[0], place[1]))
    for size, path in places:
        if excess <= 0:
            break
        excess -= size - _shorten(fitted["data"], path)
    return fitted


def _places(value: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    if path and path[-1] in _KEPT:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, str(index)))
    elif isinstance(value, str | list) and (size := len(_encode(value))) >= _SHORTEST_REPLACED:
        yield size, path


def _shorten(data: Any, path: tuple[str, ...]) -> int:
    """Replace the value there; returns the size of what stands for it."""
    for key in path[:-1]:
        data = data[int(key)] if isinstance(data, list) else data[key]
    last: Any = int(path[-1]) if isinstance(data, list) else path[-1]
    value = data[last]
    content = value.encode() if isinstance(value, str) else _encode(value)
    data[last] = {"digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "length": len(content)}
    return len(_encode(data[last]))
