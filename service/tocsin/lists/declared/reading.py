"""Reads a declared list: settings of all pages, groups and pages. A file with any error is rejected as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from msgspec import Struct

from tocsin.configuration import parse_page_settings
from tocsin.configuration.convert import type_at
from tocsin.configuration.schema import DRAFT, schema_of
from tocsin.configuration.template import KEYS as COMMENTS
from tocsin.errors import UsageError
from tocsin.lists.declared.tree import DeclaredTree, is_list, read_tree
from tocsin.lists.pages import GroupNames, check_group, check_words, new_page
from tocsin.model import JsonObject, NewPage
from tocsin.settings import PageSettings
from tocsin.spec.html.urls import watch_url

ReadSecret = Callable[[str, str, str], str]
"""Takes a file's name, the key and its place; returns the content of the file."""

KEYS: Final = tuple(PageSettings.__struct_fields__)
SECRET_FILES: Final = {"auth_file": "auth", "proxy_file": "proxy"}
PAGE_KEYS: Final = ("url", "group", "text", "paused")
TOP_KEYS: Final = ("prune", "all", "groups", "pages")
MAIN: Final = "main"
# A file with one systematic error has it in every entry.
_MOST_COMPLAINTS: Final = 20
_YES: Final = ("true", "yes", "on")
_NO: Final = ("false", "no", "off")
_SHOWN: Final = 80
# Beside what JSON escapes: characters that TOML forbids, and that YAML takes for line ends or rejects.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class DeclaredPage(Struct, frozen=True):
    """A page of the file; `paused` is None if the file does not set it."""

    new: NewPage
    paused: bool | None


class Declared(Struct, frozen=True):
    """The content of a file.

    for_all  settings for all pages; None without such a table
    groups   settings by the group's name
    pages    by URL
    prune    remove watched pages that the file does not name
    """

    for_all: JsonObject | None
    groups: dict[str, JsonObject]
    pages: dict[str, DeclaredPage]
    prune: bool


def read_declared(
    body: bytes, *, name: str, kind: str | None = None, read_secret: ReadSecret | None = None
) -> Declared:
    """Read a declared list.

    name         for messages; its suffix decides the format if `kind` is None
    kind         "toml" or "yaml"
    read_secret  reads `auth_file` and `proxy_file`; None: no file may be named
    Raises UsageError with a line for each of the first 20 errors, its place and the mend.
    """
    tree = read_tree(body, name=name, kind=kind)
    reader = _Reader(tree, read_secret)
    declared = reader.read()
    if reader.complaints:
        told = reader.complaints[:_MOST_COMPLAINTS]
        more = len(reader.complaints) - len(told)
        rest = [f"{name}: {more:,} more; nothing was applied"] if more else [f"{name}: nothing was applied"]
        raise UsageError("\n".join([*told, *rest]))
    return declared


class _Reader:
    """Reads one tree, and collects errors, so that the user can mend all of them at once."""

    def __init__(self, tree: DeclaredTree, read_secret: ReadSecret | None) -> None:
        self._tree, self._read_secret = tree, read_secret
        self._judged: dict[str, JsonObject] = {}
        self._names = GroupNames([MAIN])
        self.complaints: list[str] = []

    def read(self) -> Declared:
        top = self._tree.value
        self._demand_known(top, TOP_KEYS, ())
        for_all = self._settings(top["all"], ("all",)) if top.get("all") is not None else None
        groups = self._groups(top.get("groups"))
        pages = self._pages(top.get("pages"))
        prune = self._truth(top.get("prune"), ("prune",))
        if prune and not pages and not self.complaints:
            self._complain(
                ("prune",), "prune, but no page is named, which would remove all; to empty the list: tocsin watch clear"
            )
        return Declared(for_all, groups, pages, bool(prune))

    def _groups(self, given: Any) -> dict[str, JsonObject]:
        groups: dict[str, JsonObject] = {}
        if given is None:
            return groups
        if not isinstance(given, dict):
            self._complain(("groups",), 'not a table; write [groups.news], or "news:" below groups')
            return groups
        for name, settings in given.items():
            try:
                own = {} if settings is None else settings
                groups[self._names.take(check_group(name))] = self._settings(own, ("groups", name))
            except UsageError as exc:
                self._complain(("groups", name), str(exc))
        return groups

    def _pages(self, given: Any) -> dict[str, DeclaredPage]:
        pages: dict[str, DeclaredPage] = {}
        if given is None:
            return pages
        if not is_list(given):
            self._complain(("pages",), "not a list; write [[pages]] for each page, or - url: … below pages")
            return pages
        places: dict[str, int] = {}
        for number, entry in enumerate(given):
            try:
                page = self._page(entry, number)
            except UsageError as exc:
                self._complain(("pages", number), str(exc))
                continue
            url = page.new.url
            if url in pages:
                first = self._tree.line(("pages", places[url]))
                self._complain(("pages", number), f"{url} is listed twice, first in line {first}; remove one")
                continue
            pages[url], places[url] = page, number
        return pages

    def _page(self, entry: Any, number: int) -> DeclaredPage:
        path = ("pages", number)
        if isinstance(entry, str):
            entry = {"url": entry}
        if not isinstance(entry, dict):
            raise UsageError("not a page; write its URL, or a table with the key url")
        url, group, text = (self._text(entry.get(key), key) for key in ("url", "group", "text"))
        if not url:
            raise UsageError('this page has no url; give it, as in url = "https://example.org/"')
        found = watch_url(url)
        if found.credentials is not None:
            raise UsageError(f"{found.given}: credentials in the URL; write them as auth, or auth_file")
        name = self._names.take(check_group(group)) if group else MAIN
        settings = self._settings({key: entry[key] for key in entry if key not in PAGE_KEYS}, path, also=PAGE_KEYS)
        paused = self._truth(entry.get("paused"), (*path, "paused"))
        return DeclaredPage(new_page(found, group=name, text=check_words(text), settings=settings), paused)

    def _settings(self, given: Any, path: tuple[str | int, ...], *, also: tuple[str, ...] = ()) -> JsonObject:
        """Check settings; equal settings of several pages are checked once."""
        if not isinstance(given, dict):
            self._complain(path, "not a table of settings; write them as keys below it, such as every")
            return {}
        if not self._demand_known(given, (*also, *KEYS, *SECRET_FILES), path):
            return {}
        try:
            texts = {key: to_text(value) for key, value in given.items() if value is not None}
        except UsageError as exc:
            self._complain(path, str(exc))
            return {}
        judged_by = "\0".join(f"{key}\0{text}" for key, text in texts.items())
        if judged_by not in self._judged:
            try:
                self._judged[judged_by] = parse_page_settings(self._with_secrets(texts, path), source="settings")
            except UsageError as exc:
                lines = [line.removeprefix("settings: ") for line in str(exc).split("\n")]
                for line in lines:
                    key = line.removeprefix("pages.").partition(":")[0]
                    self._complain((*path, key) if key in given else path, line.removeprefix("pages."))
                return {}
        return self._judged[judged_by]

    def _with_secrets(self, texts: Mapping[str, str], path: tuple[str | int, ...]) -> dict[str, str]:
        """Replace the names of secret files by their content."""
        found = {key: text for key, text in texts.items() if key not in SECRET_FILES}
        for by_file, key in SECRET_FILES.items():
            if by_file not in texts:
                continue
            if key in texts:
                raise UsageError(f"{key} and {by_file} exclude each other; leave one of them out")
            if self._read_secret is None:
                raise UsageError(f"{by_file}: files are read on a command line only; write {key}")
            place = self._tree.place(*path, by_file)
            try:
                found[key] = self._read_secret(texts[by_file], by_file, place)
            except UsageError as exc:
                # `_complain` writes the place, too.
                raise UsageError(str(exc).removeprefix(f"{place}: ")) from exc
        return found

    def _demand_known(self, given: Mapping[str, Any], known: tuple[str, ...], path: tuple[str | int, ...]) -> bool:
        unknown = [key for key in given if key not in known]
        for key in unknown:
            # Finding close names is slow, and messages beyond the first 20 are only counted.
            close = [] if self._is_full else get_close_matches(str(key).lower(), known, n=1, cutoff=0.5)
            mend = f"the nearest known key is {close[0]}" if close else f"known here are {', '.join(known)}"
            self._complain((*path, key), f"{_shown(key)}: unknown key; {mend}")
        return not unknown

    def _text(self, value: Any, key: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        raise UsageError(f"{key}: found {_shown(value)}, allowed is text in quotes")

    def _truth(self, value: Any, path: tuple[str | int, ...]) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        text = value.lower() if isinstance(value, str) else ""
        if text not in _YES + _NO:
            self._complain(path, f"{path[-1]}: found {_shown(value)}, allowed is true or false")
            return None
        return text in _YES

    @property
    def _is_full(self) -> bool:
        return len(self.complaints) >= _MOST_COMPLAINTS

    def _complain(self, path: tuple[str | int, ...], what: str) -> None:
        place = self._tree.place(*path) if not self._is_full else self._tree.name
        self.complaints.append(f"{place}: {what}")


def to_text(value: Any) -> str:
    """Write a value as on a command line; raises UsageError for a type that no setting has."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if is_list(value) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(map(quoted, value))}]"
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return "{" + ", ".join(f"{quoted(key)} = {quoted(item)}" for key, item in value.items()) + "}"
    raise UsageError(f"found {_shown(value)}, allowed is text, a number, true, false, or a list or table of texts")


def quoted(text: str) -> str:
    """Quote a text for TOML and YAML."""
    return _ESCAPED.sub(lambda letter: f"\\u{ord(letter[0]):04x}", json.dumps(text, ensure_ascii=False))


def _shown(value: object) -> str:
    """Show a value in a message: short, and without control characters."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


# The JSON Schema of declared lists, generated from the settings.


_LONGEST_GROUP, _LONGEST_TEXT = 63, 253


def to_schema() -> JsonObject:
    """Return the schema (draft 2020-12); editors use it to complete and to check TOML and YAML."""
    settings = {key: _of_setting(key) for key in KEYS}
    for by_file, key in SECRET_FILES.items():
        settings[by_file] = {"type": "string", "description": f"a file that holds {key}, from this file's folder"}
    group = {"type": "string", "minLength": 1, "maxLength": _LONGEST_GROUP}
    page = {
        "type": "object",
        "additionalProperties": False,
        "required": ["url"],
        "properties": {
            "url": {"$ref": "#/$defs/url"},
            "group": {**group, "default": "main"},
            "text": {"type": "string", "maxLength": _LONGEST_TEXT, "description": "your own words on the page"},
            "paused": {"type": "boolean", "description": "no checks; where it is left out a pause stays as it is"},
            **settings,
        },
    }
    return {
        "$schema": DRAFT,
        "title": "A declared list of Tocsin",
        "description": "Which pages are watched, and how: see tocsin plan and tocsin apply.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "prune": {"type": "boolean", "default": False, "description": "remove pages that the file does not name"},
            "all": {"$ref": "#/$defs/settings", "description": "for all pages"},
            "groups": {
                "type": "object",
                "propertyNames": group,
                "additionalProperties": {"anyOf": [{"$ref": "#/$defs/settings"}, {"type": "null"}]},
            },
            "pages": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/url"}, {"$ref": "#/$defs/page"}]},
            },
        },
        "$defs": {
            "url": {"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://"},
            "settings": {"type": "object", "additionalProperties": False, "properties": settings},
            "page": page,
        },
    }


def _of_setting(key: str) -> JsonObject:
    return {**schema_of(type_at(("pages", key))), "description": COMMENTS[f"pages.{key}"]}
