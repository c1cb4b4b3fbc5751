"""What a declared list would change, page by page.

The file is authoritative for everything it lists: a setting that it leaves out is inherited again, so that deleting a
line takes effect without a record of the last run. Pages and groups that it does not list stay as they are, and so does
`all` without such a table. Where the file is silent, these stay, too: credentials, headers, cookies and proxies; a
pause; and the user name and password of a URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from tocsin.lists.declared.reading import MAIN, Declared, DeclaredPage, quoted, to_text
from tocsin.lists.formats.text import PRIVATE
from tocsin.model import JsonObject, NewPage, PageRow

# The store exported as a declared list; planning with it changes nothing.


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


# Values of a page beside its settings.
OWN: Final = ("group", "text", "paused")


class ChangedField(Struct, frozen=True):
    """One value that changes; None if it is inherited, or missing."""

    key: str
    previous: Any
    latest: Any


class ListChange(Struct, frozen=True):
    """The changes of one page or group, or of all pages.

    name     URL, name of the group, or "" for all pages
    page_id  of a page that is watched
    fields   () if it is removed
    """

    action: Literal["added", "changed", "removed"]
    scope: Literal["all", "group", "page"]
    name: str
    fields: tuple[ChangedField, ...] = ()
    page_id: int | None = None


class DeclaredEdit(Struct, frozen=True):
    """An edit of a page or group in the store; pages with equal edits are edited together."""

    settings: JsonObject
    unset: tuple[str, ...]
    paused: bool | None = None
    group: str | None = None
    text: str | None = None
    clear_text: bool = False

    @property
    def key(self) -> bytes:
        """Equal for equal edits."""
        return msgspec.msgpack.encode(self)


def compare_group(name: str | None, stored: Mapping[str, Any] | None, settings: JsonObject) -> ListChange | None:
    """Compare the stored settings of a group (None: of all pages) with the file; returns None if they are equal.

    stored  None for a new group
    """
    fields = _of_settings(stored or {}, settings)
    if not fields and stored is not None:
        return None
    scope: Literal["all", "group"] = "all" if name is None else "group"
    return ListChange("added" if stored is None else "changed", scope, name or "", fields)


def compare_page(page: PageRow, declared: Declared) -> ListChange | None:
    """Compare a watched page with the file; returns None if they are equal, or if the file does not name it."""
    said = declared.pages.get(page.url)
    if said is None:
        return ListChange("removed", "page", page.url, page_id=page.id) if declared.prune else None
    new = said.new
    own = [ChangedField("group", page.group, new.group), ChangedField("text", page.text, new.text)]
    if said.paused is not None:
        own.append(ChangedField("paused", page.paused, said.paused))
    fields = (*(field for field in own if field.previous != field.latest), *_of_settings(page.settings, new.settings))
    return ListChange("changed", "page", page.url, fields, page.id) if fields else None


def to_new(said: DeclaredPage) -> tuple[NewPage, ListChange]:
    """Return a page that is not watched yet, for the store, and as a change."""
    new = msgspec.structs.replace(said.new, paused=bool(said.paused))
    own = [ChangedField("group", None, new.group)]
    if new.text is not None:
        own.append(ChangedField("text", None, new.text))
    if new.paused:
        own.append(ChangedField("paused", None, True))  # noqa: FBT003 - a value
    settings = _of_settings({}, new.settings or {})
    return new, ListChange("added", "page", new.url, (*own, *settings))


def edit_of(change: ListChange) -> DeclaredEdit:
    """Return the edit that makes a change."""
    latest = {field.key: field.latest for field in change.fields}
    own = {key: latest.pop(key) for key in OWN if change.scope == "page" and key in latest}
    return DeclaredEdit(
        settings={key: value for key, value in latest.items() if value is not None},
        unset=tuple(key for key, value in latest.items() if value is None),
        paused=own.get("paused"),
        group=own.get("group"),
        text=own.get("text"),
        clear_text="text" in own and own["text"] is None,
    )


def _of_settings(stored: Mapping[str, Any], given: Mapping[str, Any] | None) -> tuple[ChangedField, ...]:
    given = given or {}
    keys = [key for key in stored if key not in given and key not in PRIVATE]
    fields = [ChangedField(key, stored.get(key), value) for key, value in given.items() if stored.get(key) != value]
    return (*fields, *(ChangedField(key, stored[key], None) for key in keys))
