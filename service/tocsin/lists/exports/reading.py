"""Recognises and reads the JSON exports of other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, Final

import msgspec

from tocsin.errors import UsageError
from tocsin.lists.entries import CHANGEDETECTION, DISTILL, ListItem
from tocsin.lists.exports.archive import LARGEST_LIST
from tocsin.lists.exports.changedetection import Watches, read_application
from tocsin.lists.exports.distill import read_monitors
from tocsin.lists.exports.values import decode, repeated_key

_KNOWN: Final = "known are exports of changedetection.io (url-watches.json, a watch, the API's list) and of Distill"


def read_export(stream: IO[bytes], *, name: str, expected: str | None) -> tuple[str, Iterator[ListItem]]:
    """Read JSON that another program exported.

    expected  one of CHANGEDETECTION and DISTILL, or None: recognised by its keys
    Returns the name of the program, and the items. Raises UsageError for other files.
    """
    body, tree = _read_object(stream, name)
    if "data" in tree and expected != CHANGEDETECTION:
        return DISTILL, read_monitors(bytes(tree["data"]))
    if expected == DISTILL:
        raise UsageError(f"{name}: no export of Distill: there is no list called data in it; export it anew")
    watches = Watches()
    if "watching" in tree:
        return CHANGEDETECTION, _closed(watches, watches.from_list(body, name=name))
    if "url" in tree:
        return CHANGEDETECTION, _closed(watches, watches.from_one(body))
    if tree and all(_has_url(raw) for raw in tree.values()):
        return CHANGEDETECTION, _closed(watches, watches.from_map(body))
    if "settings" in tree and read_application(body, watches.left_out):
        raise UsageError(f"{name}: settings of changedetection.io without its watches; import the whole backup")
    if "pages" in tree:
        raise UsageError(f"{name}: a declared list; look at it with: tocsin plan FILE, then: tocsin apply FILE")
    raise UsageError(f"{name}: JSON that lists no pages; {_KNOWN}")


def _read_object(stream: IO[bytes], name: str) -> tuple[bytes, dict[str, msgspec.Raw]]:
    """Read a file that is one object; returns its bytes, and its values by key."""
    body = stream.read(LARGEST_LIST + 1)
    if len(body) > LARGEST_LIST:
        raise UsageError(f"{name}: larger than {LARGEST_LIST // 2**20} MiB; export the list of URLs instead")
    tree = decode(body, dict[str, msgspec.Raw])
    if tree is None:
        raise UsageError(f"{name}: not JSON, or cut off; get the file again ({_KNOWN})")
    if (key := repeated_key(body)) is not None:
        raise UsageError(f"{name}: the key {key!a} is there twice in one object; leave one of them out")
    return body, tree


def _closed(watches: Watches, items: Iterator[ListItem]) -> Iterator[ListItem]:
    yield from items
    yield from watches.left_out.told()


def _has_url(raw: msgspec.Raw) -> bool:
    found: dict[str, Any] | None = decode(bytes(raw), dict[str, Any])
    return found is not None and "url" in found
