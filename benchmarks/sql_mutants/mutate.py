"""Ways to break an SQL statement so that it still runs: conditions, bounds and orders. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|->>|->|<>|<=|>=|\|\||[:@]?\w+|\s+|.", re.DOTALL)
_BEGINS: Final = {"where", "on", "having"}
_ENDS: Final = {
    *("group", "order", "limit", "returning", "union", "join", "left", "cross", "inner", "window"),
    *("do", "when", "then", "else", "end", ";"),
}
_MOVED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "is": "is not"}
_TURNED: Final = {"asc": "desc", "desc": "asc"}


class Mutant(NamedTuple):
    """A statement with one thing changed.

    what  was changed, for people: `dropped: p.id = :page`
    """

    what: str
    sql: str


def mutants(sql: str) -> list[Mutant]:
    """Break a statement in every way that is known, one at a time; each statement that results is there once."""
    # A condition within another one is met twice.
    return list({mutant.sql: mutant for mutant in _all(_TOKEN.findall(sql))}.values())


def _all(words: list[str]) -> Iterator[Mutant]:
    for start, end in _conditions(words):
        spans = list(_conjuncts(words, start, end))
        for first, last in spans:
            text = "".join(words[first:last]).strip()
            yield Mutant(f"dropped: {_one_line(text)}", _replace(words, first, last, " true "))
        for place in range(start, end):
            moved = _MOVED.get(words[place].lower())
            if moved is not None and not _is_negated(words, place):
                line = _one_line("".join(words[max(start, place - 4) : place + 5]))
                yield Mutant(f"{words[place]} became {moved}: {line}", _replace(words, place, place + 1, moved))
    yield from _orders(words)


def _conditions(words: list[str]) -> Iterator[tuple[int, int]]:
    """Find each condition: from behind `where`, `on` or `having` to what ends it at the same depth."""
    for place, word in enumerate(words):
        # `on conflict` begins no condition.
        if word.lower() in _BEGINS and _next_word(words, place) != "conflict":
            yield place + 1, _end_of(words, place + 1)


def _end_of(words: list[str], start: int) -> int:
    depth = cases = 0
    for place in range(start, len(words)):
        word = words[place].lower()
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
            if depth < 0:
                return place
        elif not depth and word == "case":
            cases += 1
        elif not depth and cases:
            cases -= word == "end"
        elif not depth and (word in _ENDS or word in _BEGINS):
            return place
    return len(words)


def _conjuncts(words: list[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a condition at each `and` and `or` of its own depth; the `and` of a `between` divides nothing."""
    depth, first, between = 0, start, False
    for place in range(start, end):
        word = words[place].lower()
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word == "between":
            between = True
        elif word in {"and", "or"}:
            if word == "and" and between:
                between = False
                continue
            yield first, place
            first = place + 1
    yield first, end


def _orders(words: list[str]) -> Iterator[Mutant]:
    for place, word in enumerate(words):
        if word.lower() == "order" and _next_word(words, place) == "by":
            end = _end_of_order(words, place)
            turns = [at for at in range(place, end) if words[at].lower() in _TURNED]
            if turns:
                turned = _replace(words, turns[0], turns[0] + 1, _TURNED[words[turns[0]].lower()])
            else:
                keys = place + next(at for at, each in enumerate(words[place:]) if each.lower() == "by") + 1
                comma = _first_comma(words, keys, end)
                turned = _replace(words, comma, comma, " desc")
            yield Mutant(f"reversed: {_one_line(''.join(words[place:end]))}", turned)


def _end_of_order(words: list[str], start: int) -> int:
    depth = 0
    for place in range(start + 1, len(words)):
        word = words[place].lower()
        depth += (word == "(") - (word == ")")
        if depth < 0 or (not depth and word in {"limit", "returning", ";"}):
            return place
    return len(words)


def _first_comma(words: list[str], start: int, end: int) -> int:
    depth = 0
    for place in range(start, end):
        depth += (words[place] == "(") - (words[place] == ")")
        if not depth and words[place] == ",":
            return place
    while words[end - 1].isspace():
        end -= 1
    return end


def _next_word(words: list[str], place: int) -> str:
    return next((word.lower() for word in words[place + 1 :] if not word.isspace()), "")


def _is_negated(words: list[str], place: int) -> bool:
    return words[place].lower() == "is" and _next_word(words, place) == "not"


def _replace(words: list[str], first: int, last: int, text: str) -> str:
    return "".join([*words[:first], text, *words[last:]])


def _one_line(text: str) -> str:
    return " ".join(text.split())
