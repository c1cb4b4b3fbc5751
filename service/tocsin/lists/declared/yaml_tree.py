"""YAML as plain text: mappings, lists and scalars as they were written, never what a tag or a type would make of them.

PyYAML gives its events; nothing is constructed. So `mode: on` is the text "on" and not a truth, no tag makes an object,
and an alias, with which a few lines stand for billions, is refused (the counterpart of GHSA-83jp-rww3-57rr).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST: Final = 8
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Event: TypeAlias = Any
"""An event of PyYAML, whose own types name each kind."""


class Mapping(dict[str, Any]):
    """A mapping that knows the line of each of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class Sequence(list[Any]):
    """A list that knows the line of each of its items."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def parse_yaml(text: str, *, name: str) -> Any:
    """Read one document; scalars are text, or None where nothing stands.

    name  for messages
    Raises UsageError with the line for what is no YAML, or more than a list of pages needs.
    """
    try:
        return _build(yaml.parse(text, Loader=_LOADER), name)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = "" if mark is None else f":{mark.line + 1}"
        raise UsageError(f"{name}{line}: not YAML: {exc.problem or exc.context}; mend the line") from exc
    except yaml.YAMLError as exc:
        raise UsageError(f"{name}: not YAML: {' '.join(str(exc).split())}; save it as UTF-8 text") from exc


def _build(events: Iterator[Event], name: str) -> Any:
    """Put the tree together without recursion: depth is bounded before anything is made of it."""
    root: Any = None
    documents = 0
    open_: list[Any] = []
    keys: list[str | None] = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise UsageError(f"{_place(name, event)}: a second document; a list of pages is one, leave out the ---")
        elif isinstance(event, yaml.AliasEvent):
            raise UsageError(
                f"{_place(name, event)}: the alias *{event.anchor}; write out what it stands for, "
                "or set it for a group: its pages inherit it"
            )
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            open_.pop()
            keys.pop()
        elif isinstance(event, (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            value = _value(event, name)
            if open_:
                _place_value(event, value, open_[-1], keys, name)
            else:
                root = value
            if not isinstance(event, yaml.ScalarEvent):
                open_.append(value)
                keys.append(None)
                if len(open_) > DEEPEST:
                    raise UsageError(f"{_place(name, event)}: nested deeper than {DEEPEST}; this is no list of pages")
    return root


def _value(event: Event, name: str) -> Any:
    if event.tag is not None and event.tag != "!":
        raise UsageError(f"{_place(name, event)}: the tag {event.tag}; leave it out, values are written as they are")
    if isinstance(event, yaml.MappingStartEvent):
        return Mapping()
    if isinstance(event, yaml.SequenceStartEvent):
        return Sequence()
    text: str = event.value
    return None if event.implicit[0] and text in _NOTHING else text


def _place_value(event: Event, value: Any, target: Any, keys: list[str | None], name: str) -> None:
    line = event.start_mark.line + 1
    if isinstance(target, Sequence):
        target.append(value)
        target.lines.append(line)
        return
    key = keys[-1]
    if key is not None:
        target[key] = value
        keys[-1] = None
        return
    if not isinstance(value, str):
        raise UsageError(f"{name}:{line}: a key that is no text; write a name such as url")
    if value in target.lines:
        raise UsageError(f"{name}:{line}: {value[:80]!r} stands here twice, first in line {target.lines[value]}")
    target.lines[value] = line
    keys[-1] = value


def _place(name: str, event: Event) -> str:
    return f"{name}:{event.start_mark.line + 1}"
