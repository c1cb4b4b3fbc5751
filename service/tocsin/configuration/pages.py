"""The settings in force for one page: its own, its group's, those of all pages, then the configuration's; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote
from typing import Any, Final

import msgspec
from msgspec import Struct

from tocsin.configuration.convert import (
    PAGE_KEYS,
    NotAllowed,
    UnknownKey,
    dotted,
    parse_span,
    to_json,
    to_setting,
    type_at,
)
from tocsin.configuration.limits import asks_for_pictures
from tocsin.configuration.loading import complaint, unknown_key
from tocsin.errors import SettingsError
from tocsin.settings import DAMAGED, UNREADABLE, PageSettings, why_unread

LEVELS: Final = ("page", "group", "all pages")
CONFIGURATION: Final = "configuration"
_DAMAGED_ROW: Final = (
    "store: what is stored of this page is damaged; see: tocsin store check; then restore a backup, or take the page "
    "off the list and add it again"
)
# Keys whose values the configuration may keep in files.
_IN_FILES: Final = ("auth", "proxy")
_INSTEAD: Final = {"every": "cron", "cron": "every"}


class RefusedSetting(Struct, frozen=True):
    """A setting that cannot be used: its level, its key, and what is wrong with it.

    It is in the store, from an older version or an edit by hand; or its file cannot be read, and `why` names the mend.
    """

    level: str
    key: str
    why: str


class Resolved(Struct, frozen=True):
    """The settings in force for one page.

    refused  settings that cannot be read; `settings` has the value of the next level instead
    """

    settings: PageSettings
    refused: tuple[RefusedSetting, ...] = ()


def parse_page_settings(given: Mapping[str, str], *, source: str = "") -> dict[str, Any]:
    """Read settings of pages as a command line gives them (`{"every": "6h"}`), ready to be stored.

    given   text by key of PageSettings
    source  for messages; empty: the option of that name
    Raises SettingsError, a line for each value that cannot be used.
    """
    complaints, values = [], {}
    for key, text in given.items():
        path = ("pages", key)
        blamed = source or f"--{key.replace('_', '-')}"
        try:
            values[key] = to_json(path, to_setting(path, text, written=True))
        except UnknownKey as exc:
            complaints.append(str(unknown_key(exc, source or "settings")))
        except NotAllowed as exc:
            complaints.append(complaint(path, blamed, text, str(exc)))
    if given.get("every") and given.get("cron"):
        complaints.append(f"{source or '--every and --cron'}: they exclude each other; leave one of them out")
    if values.get("adaptive") is True and given.get("cron"):
        complaints.append(f"{source or '--adaptive and --cron'}: they exclude each other; leave one of them out")
    if values.get("fetch", "browser") != "browser" and asks_for_pictures(values.get("signal_rules") or ()):
        blamed = source or "--signal-rules and --fetch"
        complaints.append(f"{blamed}: only a browser sees the picture; set fetch to browser, or leave the rule out")
    bounds = [parse_span(values[key]) for key in ("every_min", "every_max") if key in values]
    if bounds != sorted(bounds):
        blamed = source or "--every-min and --every-max"
        complaints.append(f"{blamed}: the least interval is longer than the longest; write them the other way round")
    if complaints:
        raise SettingsError("\n".join(complaints))
    return values


def check_page_keys(keys: Iterable[str], *, source: str) -> None:
    """Refuse keys that no page has; raises SettingsError naming the nearest one."""
    for key in keys:
        try:
            type_at(("pages", key))
        except UnknownKey as exc:
            raise unknown_key(exc, source) from exc


def all_unset(settings: Mapping[str, object], unset: Iterable[str]) -> tuple[str, ...]:
    """List all keys that an edit unsets: an interval replaces a cron expression of its level, and vice versa.

    settings  that the edit sets
    unset     keys that it names
    """
    replaced = [other for key, other in _INSTEAD.items() if settings.get(key) and other not in settings]
    return tuple(dict.fromkeys((*unset, *replaced)))


def resolve_page(
    base: PageSettings, for_all: dict[str, Any], group: dict[str, Any], page: dict[str, Any] | None
) -> PageSettings:
    """Return the settings in force for one page; see `resolve_readable`.

    Values were checked when they were set; raises SettingsError if the store holds others.
    """
    resolved = resolve_readable(base, for_all, group, page)
    if resolved.refused:
        raise SettingsError(describe_refused(resolved.refused))
    return resolved.settings


def resolve_readable(
    base: PageSettings, for_all: dict[str, Any], group: dict[str, Any], page: dict[str, Any] | None
) -> Resolved:
    """Return the settings in force for one page, and those that cannot be read.

    base     from the configuration
    for_all  set at run time for all pages; then for the page's group; then for the page itself: the nearest wins
    Of an interval and a cron expression the nearer one wins. A value that cannot be used is ignored, and not refused,
    where a nearer level has another one.
    """
    base, refused = without_unread(base)
    if not (for_all or group or page):
        return Resolved(base, tuple(refused))
    values: dict[str, Any] = {}
    for level, given in zip(reversed(LEVELS), (for_all, group, page or {}), strict=True):
        read, wrong = _read(level, given)
        if read.get("every") and not read.get("cron"):
            read = {"cron": "", **read}
        values |= read
        refused = [each for each in refused if each.key not in read] + wrong
    return Resolved(msgspec.structs.replace(base, **values), tuple(refused))


def refuse_unread(base: PageSettings) -> None:
    """Raise SettingsError where the configuration's credentials or proxy of pages cannot be read from their files."""
    _, refused = without_unread(base)
    if refused:
        raise SettingsError(describe_refused(refused))


def describe_refused(refused: Sequence[RefusedSetting], *, url: str = "URL", group: str = "NAME") -> str:
    """Describe the refused settings, with the mend; see `mend_of`."""
    mend = mend_of(refused, url=url, group=group)
    return "; ".join([*(each.why for each in refused), *([mend] if mend else [])])


def mend_of(refused: Sequence[RefusedSetting], *, url: str, group: str) -> str:
    """Give the command by which the refused settings of the store inherit again; "" where there are none.

    url, group  that the settings belong to
    """
    whom = {"page": quote(url), "group": f"--group {quote(group)}", "all pages": "--all"}
    keys: dict[str, list[str]] = {}
    for each in refused:
        if each.level != CONFIGURATION:
            keys.setdefault(each.level, []).append(f" --unset {quote(each.key)}")
    if not keys:
        return ""
    mends = [f"tocsin watch set {whom[level]}{''.join(unset)}" for level, unset in keys.items()]
    known = any(each.key in PAGE_KEYS for each in refused if each.level != CONFIGURATION)
    return f"{'set it anew, or ' if known else ''}let it inherit: {', and '.join(mends)}"


def resolve_page_origins(
    origins: Mapping[str, str], for_all: dict[str, Any], group: dict[str, Any], page: dict[str, Any] | None
) -> dict[str, str]:
    """Say where each value of `resolve_readable` comes from: "page", "group", "all pages", or as `origins` say.

    origins  of the configuration, by dotted key
    """
    found = {key: origins.get(f"pages.{key}", "default") for key in PAGE_KEYS}
    for level, given in zip(reversed(LEVELS), (for_all, group, page or {}), strict=True):
        read, _ = _read(level, given)
        if read.get("every") and not read.get("cron"):
            found["cron"] = level
        found.update(dict.fromkeys(read, level))
    return found


def without_unread(base: PageSettings) -> tuple[PageSettings, list[RefusedSetting]]:
    """Remove values whose files cannot be read; returns the settings without them, and those values."""
    refused = [RefusedSetting(CONFIGURATION, key, why) for key in _IN_FILES if (why := why_unread(getattr(base, key)))]
    if refused:
        base = msgspec.structs.replace(base, **{each.key: "" for each in refused})
    return base, refused


def _read(level: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[RefusedSetting]]:
    """Read the settings of one level; returns those that can be used, and the others."""
    read, refused = {}, []
    source = f"store, settings of {level}" if level == LEVELS[-1] else f"store, settings of the {level}"
    for key, value in given.items():
        if key == DAMAGED:
            # No command mends this one, so its mend is part of the message, as with files.
            refused.append(RefusedSetting(CONFIGURATION, key, _DAMAGED_ROW))
            continue
        if key == UNREADABLE:
            refused.append(RefusedSetting(level, key, f"{source}: no JSON object: {value!r}"))
            continue
        path = ("pages", key)
        try:
            read[key] = to_setting(path, value, written=False)
        except UnknownKey:
            refused.append(RefusedSetting(level, key, f"{source}: {dotted(path)}: this version has no such setting"))
        except NotAllowed as exc:
            refused.append(RefusedSetting(level, key, complaint(path, source, value, str(exc))))
    return read, refused
