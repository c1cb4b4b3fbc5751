"""Exports of other programs: their pages, and where changedetection.io sent its alerts, as channels of ours."""

from __future__ import annotations

import io
import json
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import IO, Any, Final

import msgspec

from tocsin.errors import TocsinError, UsageError
from tocsin.lists.entries import (
    CHANGEDETECTION,
    DISTILL,
    GROUP_LETTERS,
    LeftOut,
    ListedChannels,
    ListEntry,
    ListItem,
    RefusedLine,
    css,
    decode,
    repeated_key,
    seconds,
    span,
    table,
    texts,
    words,
)
from tocsin.spec.html.urls import watch_url

_SCHEME: Final = re.compile(r"([a-z][a-z0-9]*)://\S", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{[{%]")
_LONGEST_URL: Final = 4096
_MOST_URLS: Final = 1000
# `configuration.routes` accepts no more values of one key.
_MOST_VALUES: Final = 1000
# Schemes of their own, which Apprise does not know: a request by this method.
_REQUESTS: Final = ("get", "gets", "post", "posts", "put", "puts", "delete", "deletes")

_HEAD: Final = """\
# Channels and routes made of the notification URLs of changedetection.io. Append them to tocsin.toml, then run
# `tocsin doctor`: it says which URLs cannot work. The URLs are secrets; keep this file to yourself, and delete it.
# With routes, an alert goes only where a route sends it: name the channels that you have already in a last route.
# There, the URLs of a watch come before those of its tags, and those before the ones for all; so do the routes.
"""


@dataclass(slots=True)
class NotificationUrls:
    """Gathers the URLs of an export.

    for_all    URLs for watches that have none, nor their tags
    of_groups  by the name of the tag
    of_pages   by the page's URL
    """

    for_all: tuple[str, ...] = ()
    of_groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    of_pages: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add_application(self, settings: Mapping[str, Any]) -> None:
        """Take the URLs for all watches."""
        self.for_all = self.for_all or _urls(settings)

    def add_tag(self, title: str, tag: Mapping[str, Any]) -> None:
        """Take the URLs of a tag."""
        if urls := _urls(tag):
            self.of_groups[title[:GROUP_LETTERS]] = urls

    def add_watch(self, url: str, watch: Mapping[str, Any]) -> None:
        """Take the URLs of a watch."""
        urls = _urls(watch)
        if not urls:
            return
        try:
            self.of_pages[watch_url(url).url] = urls
        except UsageError:  # which is told where the page is refused
            return

    def __bool__(self) -> bool:
        return bool(self.for_all or self.of_groups or self.of_pages)

    def told(self) -> str:
        """Say in words how many there are."""
        pages, groups = len(self.of_pages), len(self.of_groups)
        kinds = [f"{pages:,} watch{'es' if pages > 1 else ''}"] * bool(pages)
        kinds += [f"{groups:,} tag{'s' if groups > 1 else ''}"] * bool(groups) + ["all watches"] * bool(self.for_all)
        return f"notification URLs of {', of '.join(kinds)}"

    def to_toml(self) -> str:
        """Write channels and routes for the configuration file; what has no counterpart is a comment."""
        names: dict[str, str] = {}
        lines = [_HEAD]
        found = (self.for_all, *self.of_groups.values(), *self.of_pages.values())
        lines += [_channel(url, names) for url in dict.fromkeys(url for urls in found for url in urls)]
        return "\n".join(lines + self._routes(names))

    def _routes(self, names: Mapping[str, str]) -> list[str]:
        routes: list[tuple[str, list[str], tuple[str, ...]]] = []
        for key, found in (("url", self.of_pages), ("group", self.of_groups)):
            by_urls: dict[tuple[str, ...], list[str]] = {}
            for value, urls in found.items():
                by_urls.setdefault(urls, []).append(value)
            for urls, values in by_urls.items():
                parts = [values[start : start + _MOST_VALUES] for start in range(0, len(values), _MOST_VALUES)]
                routes += [(key, part, urls) for part in parts]
        if self.for_all:
            routes.append(("", [], self.for_all))
        written: list[str] = []
        for key, values, urls in routes:
            channels = [names[url] for url in urls if names[url]]
            if channels:
                match = f"match = {{ {key} = {_list(values)} }}\n" if key else ""
                name = f"imported-{len(written) + 1}"
                written.append(f'[[routes]]\nname = "{name}"\nchannels = {_list(channels)}\n{match}')
        return written


def _urls(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the URLs of a watch, a tag or the application, each once."""
    if given.get("notification_muted") is True:
        return ()
    found = (url[:_LONGEST_URL] for url in texts(given.get("notification_urls"))[:_MOST_URLS])
    return tuple(dict.fromkeys(url for url in found if url.isprintable()))


def _channel(url: str, names: dict[str, str]) -> str:
    """Write the channel of a URL, and note its name; of one without a counterpart the name is empty."""
    found = _SCHEME.match(url)
    scheme = found[1].lower() if found else ""
    why = ""
    if not scheme:
        why = "it is no URL of Apprise"
    elif _TEMPLATE.search(url):
        why = "it has a template in it"
    elif scheme in _REQUESTS:
        why = "make a channel of type webhook"
    elif scheme in {"mailto", "mailtos"}:
        why = "make a channel of type mail"
    if why:
        names[url] = ""
        return f"# {scheme or 'a text'}://… was not taken: {why}.\n"
    number = sum(name.startswith(f"{scheme}-") for name in names.values()) + 1
    names[url] = f"{scheme}-{number}"
    return f'[channels.{names[url]}]\ntype = "apprise"\nurl = {_text(url)}\n'


def _text(text: str) -> str:
    # Printable text needs the escapes of JSON alone, which are TOML's, too.
    return json.dumps(text, ensure_ascii=False)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


# Exports of Distill: monitors in a list called `data`.


# Distill's number for a monitor that is on.
_ACTIVE: Final = 40
_INTERVAL: Final = "INTERVAL"


def read_monitors(body: bytes) -> Iterator[ListItem]:
    """Read the monitors of an export; a problem with one of them is an item."""
    monitors = decode(body, list[msgspec.Raw])
    if monitors is None:
        yield RefusedLine(1, "data is no list of monitors; make the export again")
        return
    left_out = LeftOut("monitor", "monitors")
    for number, raw in enumerate(monitors, 1):
        monitor = decode(bytes(raw), dict[str, Any])
        url = words(monitor.get("uri")) if monitor else None
        if monitor is None or url is None:
            yield RefusedLine(number, "a monitor without a uri")
            continue
        yield ListEntry(
            number,
            url,
            _group(monitor, left_out, number),
            words(monitor.get("name")),
            _settings(monitor, left_out, number),
            paused=monitor.get("paused") is True or monitor.get("enabled") is False,
        )
    yield from left_out.told()


def _group(monitor: Mapping[str, Any], left_out: LeftOut, number: int) -> str | None:
    given = monitor.get("tags")
    names = texts(given.split(",") if isinstance(given, str) else given)
    if len(names) > 1:
        left_out.note("further tags", number)
    return names[0][:GROUP_LETTERS] if names else None


def _settings(monitor: Mapping[str, Any], left_out: LeftOut, number: int) -> dict[str, str]:
    settings: dict[str, str] = {}
    schedule = _inner(monitor.get("schedule"))
    params = schedule.get("params")
    every = seconds(params.get("interval")) if isinstance(params, dict) else 0
    if every and schedule.get("type", _INTERVAL) == _INTERVAL:
        settings["every"] = span(every)
    elif schedule:
        left_out.note("schedule", number)
    if monitor.get("state", _ACTIVE) != _ACTIVE:
        left_out.note(f"state {str(monitor['state'])[:20]}", number)
    for key in ("rules", "actions", "rule"):
        if monitor.get(key):
            left_out.note(key, number)
    included, excluded, others = _selectors(_inner(monitor.get("config")))
    for key, setting, found in (("includes", "look_at", included), ("excludes", "ignore", excluded)):
        selectors = None if key in others else css(found)
        if selectors is None:
            left_out.note(key, number)
        elif selectors:
            settings[setting] = selectors
    return settings


def _selectors(config: Mapping[str, Any]) -> tuple[list[str], list[str], set[str]]:
    """Collect the CSS selectors of all selections and frames, and the keys that have other selectors, too."""
    found: dict[str, list[str]] = {"includes": [], "excludes": []}
    others: set[str] = set()
    for selection in _tables(config.get("selections")):
        for frame in _tables(selection.get("frames")):
            for key, selectors in found.items():
                for chosen in _tables(frame.get(key)):
                    expression = words(chosen.get("expr"))
                    if chosen.get("type") == "css" and expression is not None:
                        selectors.append(expression)
                    elif expression is not None:
                        others.add(key)
    return found["includes"], found["excludes"], others


def _inner(value: Any) -> dict[str, Any]:
    """Return a table, which Distill writes as JSON within JSON."""
    found = decode(value.encode("utf-8", "replace"), dict[str, Any]) if isinstance(value, str) else value
    return found if isinstance(found, dict) else {}


def _tables(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# Exports of changedetection.io: its list of watches, a single watch, and the answers of its API.
#
# Values are only compared and converted: none names a file, module or class here, as the `processor` of an import did
# there (GHSA-mh42-m7cg-49fr).


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
    "proxy", "text_should_not_be_present", "trigger_text", "webdriver_js_execute_code",
)  # fmt: skip
_SOURCE: Final = "source:"


class Watches:
    """Turns watches into entries.

    tags           names of tags by id
    notifications  where alerts went there
    """

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}
        self.notifications = NotificationUrls()
        self.left_out = LeftOut("watch", "watches")
        self._number = 0
        self._ids: set[str] = set()

    def from_list(self, body: bytes, *, name: str) -> Iterator[ListItem]:
        """Read `url-watches.json`, which holds all watches."""
        tree = decode(body, dict[str, msgspec.Raw])
        if tree is None or "watching" not in tree:
            yield RefusedLine(1, f"{name}: not JSON, cut off, or without a list of watches; make the export again")
            return
        self.add_application(body)
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
        self._take_tag(key, decode(body, dict[str, Any]))

    def told(self) -> Iterator[ListItem]:
        """Yield what was found beside the watches."""
        if self.notifications:
            yield ListedChannels(1, self.notifications.told(), self.notifications.to_toml())
        yield from self.left_out.told()

    def add_application(self, body: bytes) -> None:
        """Read tags and notification URLs from the settings of the application, and note a newer version of it."""
        tree = decode(body, dict[str, Any]) or {}
        settings = tree.get("settings")
        application = settings.get("application") if isinstance(settings, dict) else None
        if not isinstance(application, dict):
            return
        version = application.get("schema_version", tree.get("schema_version"))
        if isinstance(version, int) and version > KNOWN_SCHEMA:
            self.left_out.note(f"what is new in schema_version {version} (known is {KNOWN_SCHEMA})", 1)
        self.notifications.add_application(application)
        tags = application.get("tags")
        for key, tag in tags.items() if isinstance(tags, dict) else ():
            self._take_tag(key, tag)

    def _take_tag(self, key: str, tag: Any) -> None:
        title = words(tag.get("title")) if isinstance(tag, dict) else None
        if title is not None:
            self.tags[key.lower()] = title
            self.notifications.add_tag(title, tag)

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
        self.notifications.add_watch(url, watch)
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


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-fA-F-]{36}", text) is not None


# The backup archive of changedetection.io, which is read without being extracted.
#
# Only members with known names are read, into memory, each of them and all together within limits. So a name that leads
# out of the archive has no effect (CVE-2026-29065, GHSA-8757-69j2-hx56).


# Backups hold the histories of all watches, which are not read.
LARGEST_ARCHIVE: Final = 256 * 2**20
LARGEST_MEMBER: Final = 10 * 2**20
LARGEST_LIST: Final = 64 * 2**20
LARGEST_TOTAL: Final = 256 * 2**20
# The directory of an archive is read whole.
_LARGEST_INDEX: Final = 16 * 2**20
# Zip bombs compress a thousand times and more; JSON compresses ten times.
_HIGHEST_RATIO: Final = 200
_MOST_REFUSED: Final = 100
# Below this size even a bomb does no harm.
_SMALL: Final = 64 * 1024
_PIECE: Final = 2**20

_END: Final = b"PK\x05\x06"
# The record at the end of a zip file, without its comment.
_END_BYTES: Final = 22
# Its length has 16 bits.
_LONGEST_COMMENT: Final = 65_535
_ID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_WATCH: Final = re.compile(rf"({_ID})/watch\.json")
_TAG: Final = re.compile(rf"({_ID})/tag\.json")
_LEGACY: Final = "url-watches.json"
_APPLICATION: Final = "changedetection.json"
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def read_archive(stream: IO[bytes], *, name: str) -> Iterator[ListItem]:
    """Read the watches of a backup: in place if the stream is seekable, else from a copy on disk.

    Raises UsageError if it is not such a backup, cut off, or too large; TocsinError if there is no room for the copy. A
    problem with one watch is an item.
    """
    with ExitStack() as stack:
        whole = stream if stream.seekable() else stack.enter_context(_copied(stream, name))
        total = whole.seek(0, io.SEEK_END)
        _demand_size(total, name)
        _demand_index(whole, total, name)
        try:
            with zipfile.ZipFile(whole) as archive:
                yield from _BackupArchive(archive, name).items()
        except (zipfile.BadZipFile, ValueError, OSError) as exc:
            raise UsageError(f"{name}: the archive is damaged or cut off ({exc}); get the file again") from exc


def _copied(stream: IO[bytes], name: str) -> IO[bytes]:
    """Copy a stream to an unnamed file, so that memory stays flat."""
    total = 0
    with ExitStack() as stack:
        copy = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_PIECE))
        while piece := stream.read(_PIECE):
            total += len(piece)
            _demand_size(total, name)
            try:
                copy.write(piece)
                copy.flush()
            except OSError as exc:
                with suppress(OSError):  # Closing writes the rest of the piece, for which there is no room either.
                    copy.close()
                raise TocsinError(
                    f"{name}: no room for a copy of the archive in {tempfile.gettempdir()} ({exc.strerror or exc}); "
                    "free some there, set TMPDIR to a folder with room, or give the archive as a file, not compressed"
                ) from exc
        stack.pop_all()
    return copy


def _demand_size(total: int, name: str) -> None:
    if total > LARGEST_ARCHIVE:
        raise UsageError(f"{name}: larger than {LARGEST_ARCHIVE // 2**20} MiB; export the list of URLs instead")


def _demand_index(spooled: IO[bytes], total: int, name: str) -> None:
    """Refuse an archive whose list of names alone would fill the memory, before zipfile reads it."""
    tail = min(total, _END_BYTES + _LONGEST_COMMENT)
    spooled.seek(total - tail)
    found = spooled.read(tail)
    place = found.rfind(_END)
    if place < 0 or len(found) - place < _END_BYTES:
        raise UsageError(f"{name}: the archive is cut off; get the file again")
    (size,) = struct.unpack("<L", found[place + 12 : place + 16])
    if size > _LARGEST_INDEX:
        raise UsageError(f"{name}: the archive has more files than a backup; export the list of URLs instead")
    spooled.seek(0)


class _BackupArchive:
    """The known members of a backup."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self._read = 0
        self._refused: list[RefusedLine] = []

    def items(self) -> Iterator[ListItem]:
        members = self._known()
        yield from self._refused
        if not members:
            raise UsageError(
                f"{self._name}: no backup of changedetection.io: there is neither {_LEGACY} nor a watch.json in it; "
                "make a backup there anew, or export the list of URLs"
            )
        watches = Watches()
        is_split = any(_WATCH.fullmatch(key) for key in members)
        for number, (key, info) in enumerate(members.items(), 1):
            body = self._content(info, LARGEST_LIST if key in {_LEGACY, _APPLICATION} else LARGEST_MEMBER)
            if isinstance(body, str):
                yield RefusedLine(number, f"{key}: {body}")
            elif (twice := repeated_key(body)) is not None:
                yield RefusedLine(
                    number, f"{key}: the key {twice!a} is there twice in one object; leave one of them out"
                )
            elif key == _LEGACY and not is_split:
                yield from watches.from_list(body, name=key)
            elif key in {_APPLICATION, _LEGACY}:
                # Beside watches in files of their own, the old list is a leftover.
                watches.add_application(body)
            elif match := _TAG.fullmatch(key):
                watches.add_tag(match[1], body)
            elif match := _WATCH.fullmatch(key):
                yield from watches.from_one(body, match[1])
        yield from watches.told()

    def _known(self) -> dict[str, zipfile.ZipInfo]:
        """Choose the members to read, with tags before the watches that have them."""
        found: dict[str, zipfile.ZipInfo] = {}
        for number, info in enumerate(self._archive.infolist(), 1):
            reason = _hostile(info)
            if reason is not None:
                self._refuse(number, info.filename, reason)
            elif info.filename not in {_LEGACY, _APPLICATION} and not (
                _WATCH.fullmatch(info.filename) or _TAG.fullmatch(info.filename)
            ):
                continue
            elif info.filename in found:
                self._refuse(number, info.filename, "is there twice; the first one is read")
            else:
                found[info.filename] = info
        rank = {_APPLICATION: 0, _LEGACY: 1}
        return dict(sorted(found.items(), key=lambda item: rank.get(item[0], 2 if _TAG.fullmatch(item[0]) else 3)))

    def _refuse(self, number: int, member: str, reason: str) -> None:
        if len(self._refused) == _MOST_REFUSED:
            raise UsageError(f"{self._name}: {_MOST_REFUSED} files that no backup has, and more; make the backup anew")
        self._refused.append(RefusedLine(number, f"{member[:120]!a}: {reason}"))

    def _content(self, info: zipfile.ZipInfo, largest: int) -> bytes | str:
        """Read one member; returns what is wrong with it as text."""
        if info.flag_bits & 1:
            return "encrypted; make the backup without a password"
        if info.file_size > largest:
            return f"larger than {largest // 2**20} MiB; no watch is"
        if info.file_size > _SMALL and info.file_size > _HIGHEST_RATIO * max(info.compress_size, 1):
            return f"compressed more than {_HIGHEST_RATIO} times; no watch is"
        if self._read + info.file_size > LARGEST_TOTAL:
            raise UsageError(
                f"{self._name}: more than {LARGEST_TOTAL // 2**20} MiB of watches; export the list of URLs instead"
            )
        body = io.BytesIO()
        try:
            with self._archive.open(info) as member:
                # The sizes in an archive are claims, so the bytes are counted.
                while piece := member.read(_SMALL):
                    body.write(piece)
                    self._read += len(piece)
                    if body.tell() > largest or self._read > LARGEST_TOTAL:
                        return "larger than the archive says it is"
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as exc:
            return f"cannot be read ({exc}); make the backup again"
        return body.getvalue()


def _hostile(info: zipfile.ZipInfo) -> str | None:
    """Return what is wrong with a member that no backup has."""
    name = info.orig_filename
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link; it is not followed"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "a name from the root of a disk; it is not read"
    if ".." in re.split(r"[/\\]", name) or "\0" in name:
        return "a name that leads out of the archive; it is not read"
    return None


_KNOWN: Final = "known are exports of changedetection.io (url-watches.json, a watch, the API's list) and of Distill"


def read_export(stream: IO[bytes], *, name: str, expected: str | None) -> tuple[str, Iterator[ListItem]]:
    """Read JSON that another program exported.

    expected  one of CHANGEDETECTION and DISTILL, or None: recognised by its keys
    Returns the name of the program, and the items. Raises UsageError for other files.
    """
    body, tree = _read_object(stream, name)
    if "data" in tree and expected != CHANGEDETECTION:
        return DISTILL, read_monitors(bytes(tree["data"]))
    if expected == DISTILL:
        raise UsageError(f"{name}: no export of Distill: there is no list called data in it; export it anew")
    watches = Watches()
    if "watching" in tree:
        return CHANGEDETECTION, _closed(watches, watches.from_list(body, name=name))
    if "url" in tree:
        return CHANGEDETECTION, _closed(watches, watches.from_one(body))
    if tree and all(_has_url(raw) for raw in tree.values()):
        return CHANGEDETECTION, _closed(watches, watches.from_map(body))
    watches.add_application(body)
    if watches.tags:
        raise UsageError(f"{name}: settings of changedetection.io without its watches; import the whole backup")
    if "pages" in tree:
        raise UsageError(f"{name}: a declared list; look at it with: tocsin plan FILE, then: tocsin apply FILE")
    raise UsageError(f"{name}: JSON that lists no pages; {_KNOWN}")


def _read_object(stream: IO[bytes], name: str) -> tuple[bytes, dict[str, msgspec.Raw]]:
    """Read a file that is one object; returns its bytes, and its values by key."""
    body = stream.read(LARGEST_LIST + 1)
    if len(body) > LARGEST_LIST:
        raise UsageError(f"{name}: larger than {LARGEST_LIST // 2**20} MiB; export the list of URLs instead")
    tree = decode(body, dict[str, msgspec.Raw])
    if tree is None:
        raise UsageError(f"{name}: not JSON, or cut off; get the file again ({_KNOWN})")
    if (key := repeated_key(body)) is not None:
        raise UsageError(f"{name}: the key {key!a} is there twice in one object; leave one of them out")
    return body, tree


def _closed(watches: Watches, items: Iterator[ListItem]) -> Iterator[ListItem]:
    yield from items
    yield from watches.told()


def _has_url(raw: msgspec.Raw) -> bool:
    found: dict[str, Any] | None = decode(bytes(raw), dict[str, Any])
    return found is not None and "url" in found
