"""The store exported as a declared list; planning with it changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tocsin.lists.declared.reading import MAIN, quoted, to_text
from tocsin.lists.formats.writing import PRIVATE
from tocsin.model import PageRow


class DeclaredWriter(Protocol):
    """Writes a declared list piece by piece; each method returns a piece of the file."""

    def head(self, for_all: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the settings of all pages and of groups."""

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return some pages."""


class _PageValues:
    """What both formats write of a page."""

    def __init__(self, *, with_secrets: bool) -> None:
        self._with_secrets = with_secrets

    def _settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in given.items() if self._with_secrets or key not in PRIVATE}

    def _page(self, page: PageRow) -> dict[str, Any]:
        own: dict[str, Any] = {"url": page.url}
        if page.group != MAIN:
            own["group"] = page.group
        if page.text is not None:
            own["text"] = page.text
        if page.paused:
            own["paused"] = True
        return {**own, **self._settings(page.settings)}


class TomlWriter(_PageValues):
    """A declared list in TOML."""

    def head(self, for_all: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the tables of all pages and of groups."""
        parts = ["[all]\n" + _toml(self._settings(for_all))]
        parts += [f"[groups.{quoted(name)}]\n{_toml(self._settings(given))}" for name, given in groups.items()]
        return "\n".join(parts)

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a table for each page."""
        return "".join(f"\n[[pages]]\n{_toml(self._page(page))}" for page in pages)


class YamlWriter(_PageValues):
    """A declared list in YAML, with quoted scalars, which every reader takes for text."""

    def __init__(self, *, with_secrets: bool) -> None:
        super().__init__(with_secrets=with_secrets)
        self._is_first = True

    def head(self, for_all: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the mappings of all pages and of groups."""
        named = {name: self._settings(given) for name, given in groups.items()}
        lines = [f"all:{_yaml(self._settings(for_all), 2)}", "groups:" if named else "groups: {}"]
        lines += [f"  {quoted(name)}:{_yaml(given, 4)}" for name, given in named.items()]
        return "\n".join(lines) + "\n"

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return an item for each page."""
        items = "".join("  -" + _yaml(self._page(page), 4).replace("\n   ", "", 1) + "\n" for page in pages)
        first, self._is_first = self._is_first, False
        return f"pages:\n{items}" if first and items else items


def _toml(values: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in values.items())


def _yaml(values: Mapping[str, Any], indent: int) -> str:
    """Write a mapping, indented below its key."""
    if not values:
        return " {}"
    return "".join(f"\n{' ' * indent}{key}: {_yaml_value(value)}" for key, value in values.items())


def _yaml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {quoted(inner)}" for key, inner in value.items()) + "}"
    return _value(value)


def _value(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else to_text(value)
