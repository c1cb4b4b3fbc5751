"""Exports of changedetection.io: its list of watches, a single watch, and the answers of its API.

Values are only compared and converted: none names a file, module or class here, as the `processor` of an import did
there (GHSA-mh42-m7cg-49fr).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from tocsin.lists.entries import GROUP_LETTERS, ListEntry, ListItem, RefusedLine
from tocsin.lists.exports.values import LeftOut, css, decode, seconds, span, table, texts, words

# The latest `schema_version` of theirs that is known; a later one may have more settings.
KNOWN_SCHEMA: Final = 40

_SPANS: Final = {"weeks": 604_800, "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
# Keys with their default values; other values have no counterpart here.
_PLAIN: Final = {
    "processor": {None, "", "text_json_diff"},
    "fetch_backend": {None, "", "system", "html_requests"},
    "method": {None, "", "GET"},
}
_NO_COUNTERPART: Final = (
    "body", "browser_steps", "conditions", "extract_text", "ignore_text", "notification_body", "notification_title",
    "notification_urls", "proxy", "text_should_not_be_present", "trigger_text", "webdriver_js_execute_code",
)  # fmt: skip
_SOURCE: Final = "source:"
_TEMPLATE: Final = re.compile(r"\{[{%]")


class Watches:
    """Turns watches into entries.

    tags  names of tags by id
    """

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}
        self.left_out = LeftOut("watch", "watches")
        self._number = 0
        self._ids: set[str] = set()

    def from_list(self, body: bytes, *, name: str) -> Iterator[ListItem]:
        """Read `url-watches.json`, which holds all watches."""
        tree = decode(body, dict[str, msgspec.Raw])
        if tree is None or "watching" not in tree:
            yield RefusedLine(1, f"{name}: not JSON, cut off, or without a list of watches; make the export again")
            return
        self.tags |= read_application(body, self.left_out)
        yield from self.from_map(bytes(tree["watching"]))

    def from_map(self, body: bytes) -> Iterator[ListItem]:
        """Read a table of watches by id, as the API gives it."""
        watches = decode(body, dict[str, msgspec.Raw])
        if watches is None:
            yield RefusedLine(self._number + 1, "no table of watches by their ids")
            return
        for key, watch in watches.items():
            yield from self.from_one(bytes(watch), key)

    def from_one(self, body: bytes, key: str | None = None) -> Iterator[ListItem]:
        """Read one watch; its id is the name of its folder, not a value of its own."""
        self._number += 1
        watch = decode(body, dict[str, Any])
        if watch is None:
            yield RefusedLine(self._number, "not JSON, or cut off; make the export again")
            return
        if key is not None and key.lower() in self._ids:
            yield RefusedLine(self._number, f"a second watch with the id {key[:40]!a}")
            return
        if key is not None:
            self._ids.add(key.lower())
        yield self._entry(watch)

    def add_tag(self, key: str, body: bytes) -> None:
        """Read the name of a tag."""
        tag = decode(body, dict[str, Any])
        title = words(tag.get("title")) if tag else None
        if title is not None:
            self.tags[key.lower()] = title

    def _entry(self, watch: Mapping[str, Any]) -> ListItem:
        number, url = self._number, words(watch.get("url"))
        if url is None:
            return RefusedLine(number, "a watch without a URL")
        while url.lower().startswith(_SOURCE):
            # "source:" asks for the markup instead of the text; the rest is a URL like others.
            url = url[len(_SOURCE) :].lstrip()
            self.left_out.note("source:", number)
        if _TEMPLATE.search(url):
            return RefusedLine(number, f"{url}: a URL with a template in it; write out the URL")
        self._note(watch, number)
        return ListEntry(
            number,
            url,
            self._group(watch, number),
            words(watch.get("title")),
            self._settings(watch, number),
            paused=watch.get("paused") is True,
        )

    def _group(self, watch: Mapping[str, Any], number: int) -> str | None:
        """Return the first tag as the group; a page is in one group only."""
        named = texts(watch.get("tags")) or [part.strip() for part in (words(watch.get("tag")) or "").split(",")]
        names = [self.tags.get(name.lower(), "" if _is_id(name) else name) for name in named]
        names = [name for name in names if name]
        if len(names) > 1:
            self.left_out.note("further tags", number)
        return names[0][:GROUP_LETTERS] if names else None

    def _settings(self, watch: Mapping[str, Any], number: int) -> dict[str, str]:
        settings: dict[str, str] = {}
        if watch.get("time_between_check_use_default") is not True:
            given = watch.get("time_between_check")
            every = (
                sum(seconds(given.get(unit)) * length for unit, length in _SPANS.items())
                if isinstance(given, dict)
                else seconds(watch.get("minutes_between_check")) * _SPANS["minutes"]
            )
            if every:
                settings["every"] = span(every)
        for key, setting in (("include_filters", "look_at"), ("subtractive_selectors", "ignore")):
            selectors = texts(watch.get(key))
            found = css(selectors)
            if selectors and found is None:
                self.left_out.note(key, number)
            elif found:
                settings[setting] = found
        headers = table(watch.get("headers"))
        if headers:
            settings["headers"] = headers
        return settings

    def _note(self, watch: Mapping[str, Any], number: int) -> None:
        for key, plain in _PLAIN.items():
            value = watch.get(key)
            if not isinstance(value, (str, type(None))) or value not in plain:
                self.left_out.note(key, number)
        for key in _NO_COUNTERPART:
            if watch.get(key):
                self.left_out.note(key, number)
        limit = watch.get("time_schedule_limit")
        if isinstance(limit, dict) and limit.get("enabled") is True:
            self.left_out.note("time_schedule_limit", number)


def read_application(body: bytes, left_out: LeftOut) -> dict[str, str]:
    """Read the names of tags from the settings of the application, and note a newer version of it."""
    tree = decode(body, dict[str, Any]) or {}
    settings = tree.get("settings")
    application = settings.get("application") if isinstance(settings, dict) else None
    if not isinstance(application, dict):
        return {}
    version = application.get("schema_version", tree.get("schema_version"))
    if isinstance(version, int) and version > KNOWN_SCHEMA:
        left_out.note(f"what is new in schema_version {version} (known is {KNOWN_SCHEMA})", 1)
    if application.get("notification_urls"):
        left_out.note("notification_urls for all", 1)
    tags = application.get("tags")
    found = {}
    for key, tag in tags.items() if isinstance(tags, dict) else ():
        title = words(tag.get("title")) if isinstance(tag, dict) else None
        if title is not None:
            found[key.lower()] = title
    return found


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-fA-F-]{36}", text) is not None
