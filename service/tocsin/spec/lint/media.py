"""Media queries, of which only the syntax is judged."""

from __future__ import annotations

import re
from typing import Final

from tocsin.spec.html.microsyntax import SPACE

_IDENT = r"-?+[a-z_\x80-\U0010ffff][a-z0-9_\x80-\U0010ffff-]*+"
_MEDIUM = re.compile(rf"(?:(?:not|only)[{SPACE}]++)?+(?P<medium>{_IDENT})(?![(])[{SPACE}]*+")
_NO_MEDIA = frozenset({"and", "or", "not", "only", "layer"})
_NOT = re.compile(rf"not(?=[{SPACE}])[{SPACE}]*+")
_JOINED = re.compile(rf"[{SPACE}]*+(and|or)(?=[{SPACE}])[{SPACE}]*+")
_CALL = re.compile(_IDENT)
# A name, a name with a value, or a range; values are not looked into.
_FEATURE = re.compile(
    rf"{_IDENT}[{SPACE}]*+(?::[^:;{{}}<>=]++)?+"
    r"|[^:;{}<>=]++(?:[<>]=?|=)[^:;{}<>=]++(?:[<>]=?[^:;{}<>=]++)?"
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_DEEPEST: Final = 16
_LONGEST: Final = 4096


def is_media_query_list(text: str) -> bool:
    """Say whether a text is a list of media queries; which media and features there are is not asked.

    A longer text than anyone writes is taken for one.
    Source  Media Queries, syntax; an empty list is valid and means all media (CI-11).
    """
    if len(text) > _LONGEST or not text.strip(SPACE):
        return True
    queries = _split(_COMMENT.sub(" ", text).lower())
    return queries is not None and all(_is_query(query.strip(SPACE)) for query in queries)


def _split(text: str) -> list[str] | None:
    """Split at the commas outside of brackets; None if the brackets do not match."""
    depth, start, parts = 0, 0, []
    for place, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth < 0:
                return None
        elif letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if not depth else None


def _is_query(query: str) -> bool:
    medium = _MEDIUM.match(query)
    if medium is None or medium["medium"] in _NO_MEDIA:
        return _is_condition(query, ("and", "or"), _DEEPEST)
    rest = query[medium.end() :]
    if not rest:
        return True
    joined = _JOINED.match(rest)
    return joined is not None and joined[1] == "and" and _is_condition(rest[joined.end() :], ("and",), _DEEPEST)


def _is_condition(text: str, joints: tuple[str, ...], depth: int) -> bool:
    """Say whether a text is conditions in brackets, joined by one of these words throughout."""
    text = text.strip(SPACE)
    if depth == 0:
        return True
    if negated := _NOT.match(text):
        text, joints = text[negated.end() :], ()
    used: set[str] = set()
    while True:
        end = _end_of_brackets(text)
        if end is None or not _is_in_brackets(text[:end], depth):
            return False
        text = text[end:]
        if not text.strip(SPACE):
            return len(used) <= 1
        joined = _JOINED.match(text)
        if joined is None or joined[1] not in joints:
            return False
        used.add(joined[1])
        text = text[joined.end() :]


def _end_of_brackets(text: str) -> int | None:
    """Find the end of the brackets, or of the function, at the beginning of a text."""
    call = _CALL.match(text)
    if call is not None and call[0] in _NO_MEDIA:
        return None
    start = call.end() if call else 0
    if text[start : start + 1] != "(":
        return None
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return None


def _is_in_brackets(text: str, depth: int) -> bool:
    if text[0] != "(":  # a function, whose arguments are its own
        return True
    inner = text[1:-1].strip(SPACE)
    if inner.startswith("(") or _NOT.match(inner):
        return _is_condition(inner, ("and", "or"), depth - 1)
    return _FEATURE.fullmatch(inner) is not None
