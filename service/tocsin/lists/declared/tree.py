"""A declared list as a tree of keys and values with their lines, from TOML or YAML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final, TypeAlias

import yaml

from tocsin.errors import UsageError

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(
    r"\s*((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:\"[^\"]*\"|'[^']*'|[\w-]+))*)\s*="
)
_PART: Final = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_FENCES: Final = ('"""', "'''")
# The patterns above take long on endless lines, and a line that long is neither a header nor a key.
_LONGEST_LINE: Final = 10_000

TomlPath: TypeAlias = "tuple[str | int, ...]"


class TomlLines:
    """Finds lines of keys in a TOML text, since tomllib does not report them. The text is read once."""

    def __init__(self, text: str) -> None:
        self._first: dict[TomlPath, int] = {}
        for line, here in _places(text):
            for length in range(len(here), 0, -1):
                if here[:length] in self._first:
                    break  # Then all shorter prefixes are known, too.
                self._first[here[:length]] = line

    def line_of(self, path: Sequence[str | int]) -> int:
        """Find the line of a path such as ("pages", 3, "every"); of the nearest key above it if it is not found.

        Numbers count the tables of that name from 0. A table within a line has the line in which it begins.
        """
        found = (self._first.get(tuple(path[:length])) for length in range(len(path), 0, -1))
        return next((line for line in found if line is not None), 1)


def _places(text: str) -> Iterator[tuple[int, tuple[str | int, ...]]]:
    """Yield each header and key with its line."""
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if fence is not None:
            fence = None if line.count(fence) % 2 else fence
            continue
        if len(line) > _LONGEST_LINE:
            fence = next((mark for mark in _FENCES if line.count(mark) % 2), None)
            continue
        header = _HEADER.match(line)
        if header is not None and header[1] == "[[":
            name = _parts(header[2])
            counts[name] = counts.get(name, -1) + 1
            table = (*name, counts[name])
            yield number, table
        elif header is not None:
            table = _inside(_parts(header[2]), counts)
            yield number, table
        elif (key := _KEY.match(line)) is not None:
            yield number, (*table, *_parts(key[1]))
        fence = next((mark for mark in _FENCES if line.count(mark) % 2), None)


def _inside(name: tuple[str | int, ...], counts: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """Return the path of a table; below an array, it belongs to the last table of that array."""
    for length in range(len(name), 0, -1):
        if name[:length] in counts:
            return (*name[:length], counts[name[:length]], *name[length:])
    return name


def _parts(text: str) -> tuple[str | int, ...]:
    return tuple(double or single or bare for double, single, bare in _PART.findall(text))


# A list has four levels; deeper nesting could exhaust the stack.
DEEPEST: Final = 8
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# An event of PyYAML, whose own types name each kind.
Event: TypeAlias = Any


class YamlMapping(dict[str, Any]):
    """A mapping with the line of each key."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class YamlSequence(list[Any]):
    """A list with the line of each item."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


def parse_yaml(text: str, *, name: str) -> Any:
    """Read one document; scalars are text, or None if they are empty.

    name  for messages
    Raises UsageError with the line for invalid YAML, and for features that a list of pages does not need.
    """
    # PyYAML gives events only; nothing is constructed. So `mode: on` is the text "on", no tag makes an object, and an
    # alias, with which a few lines expand to billions, is refused (compare GHSA-83jp-rww3-57rr).
    try:
        return _build(yaml.parse(text, Loader=_LOADER), name)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = "" if mark is None else f":{mark.line + 1}"
        raise UsageError(f"{name}{line}: not YAML: {exc.problem or exc.context}; mend the line") from exc
    except yaml.YAMLError as exc:
        raise UsageError(f"{name}: not YAML: {' '.join(str(exc).split())}; save it as UTF-8 text") from exc


def _build(events: Iterator[Event], name: str) -> Any:
    """Build the tree without recursion; the depth is bounded."""
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
                f"{_place(name, event)}: the alias *{event.anchor}; write out its value, "
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
        return YamlMapping()
    if isinstance(event, yaml.SequenceStartEvent):
        return YamlSequence()
    text: str = event.value
    return None if event.implicit[0] and text in _NOTHING else text


def _place_value(event: Event, value: Any, target: Any, keys: list[str | None], name: str) -> None:
    line = event.start_mark.line + 1
    if isinstance(target, YamlSequence):
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
        raise UsageError(f"{name}:{line}: {value[:80]!r} is there twice, first in line {target.lines[value]}")
    target.lines[value] = line
    keys[-1] = value


def _place(name: str, event: Event) -> str:
    return f"{name}:{event.start_mark.line + 1}"


# TOML and YAML are read whole, into memory.
LARGEST_BYTES: Final = 64 * 2**20
FORMATS: Final = ("toml", "yaml")
_BY_SUFFIX: Final = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "yaml"}


class DeclaredTree:
    """A declared list, parsed.

    value  from TOML with its types; from YAML texts, or None for empty values
    text   the whole file, to find lines in
    """

    def __init__(self, name: str, value: Any, text: str) -> None:
        self.name, self.value, self._text = name, value, text

    @cached_property
    def _toml_lines(self) -> TomlLines:
        return TomlLines(self._text)

    def place(self, *path: str | int) -> str:
        """Return the place of a value as `file:line`."""
        return f"{self.name}:{self.line(path)}"

    def line(self, path: Sequence[str | int]) -> int:
        """Find the line of a value, or of the nearest key above it."""
        if not isinstance(self.value, YamlMapping):
            return self._toml_lines.line_of(path)
        here: Any = self.value
        line = 1
        for part in path:
            try:
                line, here = here.lines[part], here[part]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line


def read_tree(body: bytes, *, name: str, kind: str | None = None) -> DeclaredTree:
    """Read a file.

    kind  one of FORMATS; None: by the suffix of its name (JSON is YAML)
    Raises UsageError with the line if the file cannot be parsed.
    """
    kind = kind or _BY_SUFFIX.get(PurePath(name).suffix.lower())
    if kind is None:
        raise UsageError(f"{name}: is it TOML or YAML? Give --format, or let its name end in .toml or .yaml")
    if len(body) > LARGEST_BYTES:
        raise UsageError(
            f"{name}: larger than {LARGEST_BYTES // 2**20} MiB; split it, or bring long lists with: tocsin watch import"
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = body.count(b"\n", 0, exc.start) + 1
        raise UsageError(f"{name}:{line}: not UTF-8; save it as UTF-8") from exc
    value = parse_yaml(text, name=name) if kind == "yaml" else _parse_toml(text, name)
    if value is None:
        value = YamlMapping()
    if not isinstance(value, dict):
        raise UsageError(f"{name}:1: not a table of keys; write pages: and a list of pages below it")
    return DeclaredTree(name, value, text)


def is_list(value: Any) -> bool:
    """Say whether a value of a tree is a list."""
    return isinstance(value, (list, YamlSequence))


def _parse_toml(text: str, name: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"{name}: not TOML: {exc}; mend the line") from exc
    except RecursionError as exc:
        raise UsageError(f"{name}: nested too deep; this is no list of pages") from exc
