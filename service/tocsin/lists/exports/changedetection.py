"""What changedetection.io exports: its list of watches, a single watch, and what its API tells of them.

A watch's values are only ever compared and converted: none of them names a file, a module or a class here, as the
`processor` of an import did there (GHSA-mh42-m7cg-49fr).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tocsin.lists.entries import GROUP_LETTERS, Entry, Refused
from tocsin.lists.exports.left_out import LeftOut
from tocsin.lists.exports.values import css, decode, seconds, span, table, texts, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.lists.entries import Item

KNOWN_SCHEMA: Final = 40
"""The latest `schema_version` of theirs that was looked at; a later one may say more."""

_SPANS: Final = {"weeks": 604_800, "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
_PLAIN: Final = {
    "processor": {None, "", "text_json_diff"},
    "fetch_backend": {None, "", "system", "html_requests"},
    "method": {None, "", "GET"},
}
"""Keys with the values that say nothing; whatever else they say has no counterpart."""
_NO_COUNTERPART: Final = (
    "body", "browser_steps", "conditions", "extract_text", "ignore_text", "notification_body", "notification_title",
    "notification_urls", "proxy", "text_should_not_be_present", "trigger_text", "webdriver_js_execute_code",
)  # fmt: skip
_SOURCE: Final = "source:"
_TEMPLATE: Final = re.compile(r"\{[{%]")


class Watches:
    """Turns watches into entries, one after the other.

    tags  names of tags by id
    """

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}
        self.left_out = LeftOut("watch", "watches")
        self._number = 0
        self._ids: set[str] = set()

    def from_list(self, body: bytes, *, name: str) -> Iterator[Item]:
        """Read `url-watches.json`: all of them in one file."""
        tree = decode(body, dict[str, msgspec.Raw])
        if tree is None or "watching" not in tree:
            yield Refused(1, f"{name}: not JSON, cut off, or without a list of watches; make the export again")
            return
        self.tags |= read_application(body, self.left_out)
        yield from self.from_map(bytes(tree["watching"]))

    def from_map(self, body: bytes) -> Iterator[Item]:
        """Read watches by their ids, as the API lists them."""
        watches = decode(body, dict[str, msgspec.Raw])
        if watches is None:
            yield Refused(self._number + 1, "no table of watches by their ids")
            return
        for key, watch in watches.items():
            yield from self.from_one(bytes(watch), key)

    def from_one(self, body: bytes, key: str | None = None) -> Iterator[Item]:
        """Read one watch; its folder's name is its id, whatever it says itself."""
        self._number += 1
        watch = decode(body, dict[str, Any])
        if watch is None:
            yield Refused(self._number, "not JSON, or cut off; make the export again")
            return
        if key is not None and key.lower() in self._ids:
            yield Refused(self._number, f"a second watch with the id {key[:40]!a}")
            return
        if key is not None:
            self._ids.add(key.lower())
        yield self._entry(watch)

    def add_tag(self, key: str, body: bytes) -> None:
        """Take over the name of a tag."""
        tag = decode(body, dict[str, Any])
        title = words(tag.get("title")) if tag else None
        if title is not None:
            self.tags[key.lower()] = title

    def _entry(self, watch: Mapping[str, Any]) -> Item:
        number, url = self._number, words(watch.get("url"))
        if url is None:
            return Refused(number, "a watch without a URL")
        while url.lower().startswith(_SOURCE):
            # "source:" asks for the markup instead of the text; what stands behind it is judged like every URL.
            url = url[len(_SOURCE) :].lstrip()
            self.left_out.note("source:", number)
        if _TEMPLATE.search(url):
            return Refused(number, f"{url}: a URL with a template in it; write out what it stands for")
        self._note(watch, number)
        return Entry(
            number,
            url,
            self._group(watch, number),
            words(watch.get("title")),
            self._settings(watch, number),
            paused=watch.get("paused") is True,
        )

    def _group(self, watch: Mapping[str, Any], number: int) -> str | None:
        """Take the first tag: a page is in one group."""
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
    """Read the names of tags from the settings of the application; a later version of theirs is named."""
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
