"""What a declared list would change: pure, page by page.

A file is the whole word on what it names. A setting that a page has and the file does not give inherits again, so that
a line that is taken out of the file takes effect, with nothing to be remembered between two calls. What it does not
name (other pages, other groups; `all` where it has no such table) stays. Three things stay where the file is silent,
for they are not what is kept in lists: credentials, headers, cookies and proxies; a pause; and the user name and
password of a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import Struct

from tocsin.lists.writing import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.lists.declared.reading import Declared, DeclaredPage
    from tocsin.model import JsonObject, NewPage, PageRow

OWN: Final = ("group", "text", "paused")
"""What a page has beside its settings."""


class Field(Struct, frozen=True):
    """One value that changes; None is absent: it is inherited, or there is none."""

    key: str
    previous: Any
    latest: Any


class Change(Struct, frozen=True):
    """What changes of one thing.

    name     URL, name of the group, or "" for all pages
    page_id  of a page that is watched
    fields   of what is removed none
    """

    action: Literal["added", "changed", "removed"]
    scope: Literal["all", "group", "page"]
    name: str
    fields: tuple[Field, ...] = ()
    page_id: int | None = None


class Edit(Struct, frozen=True):
    """What the store is told of a page or group that is there; two that are alike are one edit of many pages."""

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


def compare_group(name: str | None, stored: Mapping[str, Any] | None, settings: JsonObject) -> Change | None:
    """Compare what is set for a group (None: for all pages) with what the file says; None where they agree.

    stored  None for a group that there is not yet
    """
    fields = _of_settings(stored or {}, settings)
    if not fields and stored is not None:
        return None
    scope: Literal["all", "group"] = "all" if name is None else "group"
    return Change("added" if stored is None else "changed", scope, name or "", fields)


def compare_page(page: PageRow, declared: Declared) -> Change | None:
    """Compare a page that is watched with what the file says of it; None where they agree, or it says nothing."""
    said = declared.pages.get(page.url)
    if said is None:
        return Change("removed", "page", page.url, page_id=page.id) if declared.prune else None
    new = said.new
    own = [Field("group", page.group, new.group), Field("text", page.text, new.text)]
    if said.paused is not None:
        own.append(Field("paused", page.paused, said.paused))
    fields = (*(field for field in own if field.previous != field.latest), *_of_settings(page.settings, new.settings))
    return Change("changed", "page", page.url, fields, page.id) if fields else None


def to_new(said: DeclaredPage) -> tuple[NewPage, Change]:
    """Tell a page that is not watched yet, as the store and as people are told of it."""
    new = msgspec.structs.replace(said.new, paused=bool(said.paused))
    own = [Field("group", None, new.group)]
    if new.text is not None:
        own.append(Field("text", None, new.text))
    if new.paused:
        own.append(Field("paused", None, True))  # noqa: FBT003 - a value
    settings = _of_settings({}, new.settings or {})
    return new, Change("added", "page", new.url, (*own, *settings))


def edit_of(change: Change) -> Edit:
    """Give the edit that makes a change."""
    latest = {field.key: field.latest for field in change.fields}
    own = {key: latest.pop(key) for key in OWN if change.scope == "page" and key in latest}
    return Edit(
        settings={key: value for key, value in latest.items() if value is not None},
        unset=tuple(key for key, value in latest.items() if value is None),
        paused=own.get("paused"),
        group=own.get("group"),
        text=own.get("text"),
        clear_text="text" in own and own["text"] is None,
    )


def _of_settings(stored: Mapping[str, Any], given: Mapping[str, Any] | None) -> tuple[Field, ...]:
    given = given or {}
    keys = [key for key in stored if key not in given and key not in PRIVATE]
    fields = [Field(key, stored.get(key), value) for key, value in given.items() if stored.get(key) != value]
    return (*fields, *(Field(key, stored[key], None) for key in keys))
