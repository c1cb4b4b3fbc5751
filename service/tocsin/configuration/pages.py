"""What holds for one page: its own settings, its group's, those of all pages, then the configuration's; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tocsin.configuration.convert import NotAllowed, to_json, to_setting
from tocsin.configuration.layers import unknown_key
from tocsin.configuration.parsing import complaint
from tocsin.configuration.spans import parse_span
from tocsin.configuration.tree import PAGE_KEYS, UnknownKey, type_at
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.model import JsonObject
    from tocsin.settings import PageSettings

LEVELS: Final = ("page", "group", "all pages")


def parse_page_settings(given: Mapping[str, str], *, source: str = "") -> JsonObject:
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


def resolve_page(base: PageSettings, for_all: JsonObject, group: JsonObject, page: JsonObject | None) -> PageSettings:
    """Return the settings in force for one page.

    base     from the configuration
    for_all  set at run time for all pages; then for the page's group; then for the page itself: the nearest wins
    Of an interval and a cron expression the one that was set nearer wins.
    Values were checked when they were set; raises SettingsError if the store holds others.
    """
    if not (for_all or group or page):
        return base
    values: dict[str, Any] = {}
    for level, given in zip(reversed(LEVELS), (for_all, group, page or {}), strict=True):
        if given.get("every") and not given.get("cron"):
            values["cron"] = ""
        values.update((key, _stored_value(level, key, value)) for key, value in given.items())
    return msgspec.structs.replace(base, **values)


def resolve_page_origins(
    origins: Mapping[str, str], for_all: JsonObject, group: JsonObject, page: JsonObject | None
) -> dict[str, str]:
    """Say where each value of `resolve_page` comes from: "page", "group", "all pages", or the configuration's origin.

    origins  of the configuration, by dotted key
    """
    found = {key: origins.get(f"pages.{key}", "default") for key in PAGE_KEYS}
    for level, given in zip(reversed(LEVELS), (for_all, group, page or {}), strict=True):
        if given.get("every") and not given.get("cron"):
            found["cron"] = level
        found.update(dict.fromkeys(given, level))
    return found


def _stored_value(level: str, key: str, value: object) -> Any:
    try:
        return to_setting(("pages", key), value, written=False)
    except UnknownKey as exc:
        raise unknown_key(exc, f"store, settings of the {level}") from exc
    except NotAllowed as exc:
        raise SettingsError(complaint(("pages", key), f"store, settings of the {level}", value, str(exc))) from exc
