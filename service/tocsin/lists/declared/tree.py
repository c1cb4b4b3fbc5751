"""A declared list as a tree of keys and values, whichever language it is written in."""

from __future__ import annotations

import tomllib
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from tocsin.errors import UsageError
from tocsin.lists.declared.toml_lines import TomlLines
from tocsin.lists.declared.yaml_tree import Mapping, Sequence, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence as Path

LARGEST_BYTES: Final = 64 * 2**20
FORMATS: Final = ("toml", "yaml")
_BY_SUFFIX: Final = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "yaml"}


class Tree:
    """What a file holds.

    value  of TOML with its types; of YAML texts, or None where a value is empty
    text   the whole, to find lines in
    """

    def __init__(self, name: str, value: Any, text: str) -> None:
        self.name, self.value, self._text = name, value, text

    @cached_property
    def _toml_lines(self) -> TomlLines:
        return TomlLines(self._text)

    def place(self, *path: str | int) -> str:
        """Say where something stands, as `file:line`."""
        return f"{self.name}:{self.line(path)}"

    def line(self, path: Path[str | int]) -> int:
        """Find the line of something, or of the nearest thing above it."""
        if not isinstance(self.value, Mapping):
            return self._toml_lines.line_of(path)
        here: Any = self.value
        line = 1
        for part in path:
            try:
                line, here = here.lines[part], here[part]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line


def read_tree(body: bytes, *, name: str, kind: str | None = None) -> Tree:
    """Read a file.

    kind  one of FORMATS; None: by the ending of its name (JSON is YAML)
    Raises UsageError for what cannot be read, with the line.
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
        value = Mapping()
    if not isinstance(value, dict):
        raise UsageError(f"{name}:1: not a table of keys; write pages: and a list of pages below it")
    return Tree(name, value, text)


def is_list(value: Any) -> bool:
    """Say whether a value of a tree is a list."""
    return isinstance(value, (list, Sequence))


def _parse_toml(text: str, name: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"{name}: not TOML: {exc}; mend the line") from exc
    except RecursionError as exc:
        raise UsageError(f"{name}: nested too deep; this is no list of pages") from exc
