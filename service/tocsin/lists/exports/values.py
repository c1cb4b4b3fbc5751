"""Values of other programs' exports, taken for what they are, or for nothing: none of them can be relied on."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Any, Final, TypeVar

import msgspec

from tocsin.configuration import show_span
from tocsin.configuration.limits import check_line, check_page_header, check_selectors

T = TypeVar("T")

_LONGEST_TEXT: Final = 253
_SHOWN_KEY: Final = 80
_LONGEST_SETTING: Final = 4096
_LONGEST_S: Final = 3650 * 86_400
_NOT_CSS: Final = ("/", "xpath:", "xpath1:", "json:", "jq:", "jqraw:", "(")


def decode(body: bytes, kind: type[T]) -> T | None:
    """Read JSON; None for what is none, or of another kind."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


class _Repeated(Exception):
    """A key that an object has twice."""


def repeated_key(body: bytes) -> str | None:
    """Name a key that one object of this JSON has twice: which of its values is meant, only its author can say.

    None where there is none, also in what is no JSON at all.
    """
    try:
        json.loads(body, object_pairs_hook=_refuse_repeated)
    except _Repeated as exc:
        return str(exc)
    except (ValueError, RecursionError):
        return None
    return None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    """Look at one object, and keep nothing of it: the tree of a large export would fill the memory."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Repeated(key[:_SHOWN_KEY])
        seen.add(key)


def words(value: Any) -> str | None:
    """Take a text of one line, cut to what a page's text may be; None for nothing."""
    text = " ".join(value.replace("\0", " ").split()) if isinstance(value, str) else ""
    return text[:_LONGEST_TEXT] or None


def texts(value: Any) -> list[str]:
    """Take a list of texts, or one; whatever else is in it is none."""
    listed = value if isinstance(value, list) else [value]
    return [text.strip() for text in listed if isinstance(text, str) and text.strip()]


def seconds(value: Any) -> int:
    """Take a number of units that is not negative; 0 for nothing."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0
    return max(0, min(int(value), _LONGEST_S))


def span(length_s: int) -> str:
    """Write an interval as settings do, no longer than they may be."""
    return show_span(timedelta(seconds=min(length_s, _LONGEST_S)))


def css(selectors: list[str]) -> str | None:
    """Give CSS selectors as one setting; None if any of them is of another language, or none that we can use."""
    joined = ", ".join(selectors)
    if len(joined) > _LONGEST_SETTING:
        return None
    if any(selector.lower().startswith(_NOT_CSS) for selector in selectors) or check_selectors(joined) is not None:
        return None
    return joined


def table(value: Any) -> str:
    """Give headers as a command line would; those that a page may not have are left out, and so is all else."""
    if not isinstance(value, dict):
        return ""
    pairs = [
        f"{json.dumps(name)} = {json.dumps(text)}"
        for name, text in value.items()
        if isinstance(text, str) and check_page_header(name) is None and check_line(text) is None and text.isprintable()
    ]
    joined = ", ".join(pairs)
    return f"{{{joined}}}" if pairs and len(joined) <= _LONGEST_SETTING else ""
