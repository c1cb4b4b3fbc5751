"""What a declared list would change, page by page.

The file is authoritative for everything it lists: a setting that it leaves out is inherited again, so that deleting a
line takes effect without a record of the last run. Pages and groups that it does not list stay as they are, and so does
`all` without such a table. Where the file is silent, these stay, too: credentials, headers, cookies and proxies; a
pause; and the user name and password of a URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from tocsin.lists.declared.reading import Declared, DeclaredPage
from tocsin.lists.formats.writing import PRIVATE
from tocsin.model import JsonObject, NewPage, PageRow

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


class SettingsEdit(Struct, frozen=True):
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


def edit_of(change: ListChange) -> SettingsEdit:
    """Return the edit that makes a change."""
    latest = {field.key: field.latest for field in change.fields}
    own = {key: latest.pop(key) for key in OWN if change.scope == "page" and key in latest}
    return SettingsEdit(
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
