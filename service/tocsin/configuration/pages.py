"""What holds for one page: its own settings, its group's, those of all pages, then the configuration's; pure."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from tocsin.configuration.convert import NotAllowed, to_json, to_setting
from tocsin.configuration.parsing import complaint, unknown_key
from tocsin.configuration.spans import parse_span
from tocsin.configuration.tree import PAGE_KEYS, UnknownKey, dotted, type_at
from tocsin.errors import SettingsError
from tocsin.settings import DAMAGED, UNREADABLE, why_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.settings import PageSettings

LEVELS: Final = ("page", "group", "all pages")
CONFIGURATION: Final = "configuration"
_DAMAGED_ROW: Final = (
    "store: what is stored of this page is damaged; see: tocsin store check; then restore a backup, or take the page "
    "off the list and add it again"
)
_IN_FILES: Final = ("auth", "proxy")
"""Keys that the configuration may keep in files of their own."""
_INSTEAD: Final = {"every": "cron", "cron": "every"}


class Refused(Struct, frozen=True):
    """A setting that cannot be used: of which level, its key, and what is wrong with it.

    In the store, where an older version took it or it was written by hand; or of the configuration, in a file of its
    own that cannot be read: then `why` names the mend, too.
    """

    level: str
    key: str
    why: str


class Resolved(Struct, frozen=True):
    """What holds for one page, as far as it can be read.

    refused  what cannot; in `settings` the next level's word stands in its place
    """

    settings: PageSettings
    refused: tuple[Refused, ...] = ()


def parse_page_settings(given: Mapping[str, str], *, source: str = "") -> dict[str, Any]:
    """Read settings of pages as a command line gives them (`{"every": "6h"}`), ready to be stored.

    given   text by key of PageSettings
    source  what to blame; without one the option of that name
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
    """Name all that an edit unsets: an interval takes the place of a cron expression of its level, and the reverse.

    settings  what the edit sets
    unset     what it unsets in so many words
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
        raise SettingsError(told(resolved.refused))
    return resolved.settings


def resolve_readable(
    base: PageSettings, for_all: dict[str, Any], group: dict[str, Any], page: dict[str, Any] | None
) -> Resolved:
    """Return what holds for one page as far as it can be read, and what cannot.

    base     from the configuration
    for_all  set at run time for all pages; then for the page's group; then for the page itself: the nearest wins
    Of an interval and a cron expression the one that was set nearer wins. What cannot be used at one level is not in
    force, and not refused, where a nearer one says something else.
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
        raise SettingsError(told(refused))


def told(refused: Sequence[Refused], *, url: str = "URL", group: str = "NAME") -> str:
    """Say what is refused, and the mend; see `mend_of`."""
    mend = mend_of(refused, url=url, group=group)
    return "; ".join([*(each.why for each in refused), *([mend] if mend else [])])


def mend_of(refused: Sequence[Refused], *, url: str, group: str) -> str:
    """Say by which command what is refused in the store inherits again; "" where nothing in the store is.

    url, group  of whose settings these are
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


def without_unread(base: PageSettings) -> tuple[PageSettings, list[Refused]]:
    """Take out what the configuration keeps in files that cannot be read; returns the rest, and what is refused."""
    refused = [Refused(CONFIGURATION, key, why) for key in _IN_FILES if (why := why_unread(getattr(base, key)))]
    if refused:
        base = msgspec.structs.replace(base, **{each.key: "" for each in refused})
    return base, refused


def _read(level: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[Refused]]:
    """Read the settings of one level; returns those that can be used, and what is wrong with the others."""
    read, refused = {}, []
    source = f"store, settings of {level}" if level == LEVELS[-1] else f"store, settings of the {level}"
    for key, value in given.items():
        if key == DAMAGED:
            # No command mends this one, so that it is told as the configuration's faults are: with its mend.
            refused.append(Refused(CONFIGURATION, key, _DAMAGED_ROW))
            continue
        if key == UNREADABLE:
            refused.append(Refused(level, key, f"{source}: no JSON object: {value!r}"))
            continue
        path = ("pages", key)
        try:
            read[key] = to_setting(path, value, written=False)
        except UnknownKey:
            refused.append(Refused(level, key, f"{source}: {dotted(path)}: this version has no such setting"))
        except NotAllowed as exc:
            refused.append(Refused(level, key, complaint(path, source, value, str(exc))))
    return read, refused
