"""Channels and routes that were made at run time: reading, masking, and merging with the configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Final

import msgspec
from msgspec import Struct

from tocsin.configuration import limits
from tocsin.configuration.channels import load_type
from tocsin.configuration.convert import (
    ChannelName,
    NotAllowed,
    UnknownKey,
    described,
    show_span,
    to_json,
    to_setting,
    traits_at,
)
from tocsin.configuration.loading import mask, shown_address
from tocsin.configuration.routes import MOST_ROUTES, check_routes, read_routes
from tocsin.errors import FieldErrors, SettingsError
from tocsin.settings import ChannelSettings, RouteSettings

MOST_CHANNELS: Final = 200
# Each type has a few keys of a few hundred characters; a certificate or a key has some thousands.
_LONGEST_TEXT: Final = 20_000
_LAST: Final = ("template", "content_type", "language", "timeout")


class UnusableChannel(ChannelSettings, frozen=True, kw_only=True):
    """A saved channel that this program cannot use: of a plug-in that is gone, or of another version.

    why  as `settings.unread` gives it, so that its alerts wait
    """

    why: str


def read_channel(
    name: str, given: Mapping[str, Any], plugins: Collection[str], *, files: bool, written: bool = False
) -> ChannelSettings:
    """Read the settings of a channel, as the configuration writes them.

    files    they may name files of this machine, which a client of the API must not choose
    written  all values are texts
    Raises FieldErrors.
    """
    where = f"channels.{name if name.isprintable() else ascii(name)}"[:200]
    allowed = limits.check_channel_name(name)
    if allowed:
        raise FieldErrors("channels", [("name", f"found {ascii(name)[:80]}, allowed is {allowed}")])
    kind = given.get("type")
    if not isinstance(kind, str) or not kind:
        raise FieldErrors(where, [("type", 'it is missing; give it, as in type = "webhook"')])
    try:
        settings = load_type(kind, plugins).Settings
    except SettingsError as exc:
        raise FieldErrors(where, [("type", str(exc))]) from exc
    place, found, errors = ("channels", ChannelName(name, settings)), {}, []
    for key, value in given.items():
        try:
            traits = traits_at((*place, key))
            if traits.get("is_file") and value and not files:
                mend = "write this channel into the configuration file, or make it with `tocsin channel add`"
                errors.append((key, f"it names a file of the machine that Tocsin runs on; {mend}"))
                continue
            found[key] = to_setting((*place, key), _bounded(value), written=written)
        except UnknownKey as exc:
            errors.append((key[:80], f"unknown key; {_nearest(key, exc.known)}"))
        except NotAllowed as exc:
            errors.append((key, f"allowed is {exc}"))
    if errors:
        raise FieldErrors(where, errors)
    return msgspec.convert(found, settings)


def read_route(name: str, given: Mapping[str, Any], channels: Collection[str]) -> RouteSettings:
    """Read a route, as the configuration writes it; raises FieldErrors."""
    try:
        (route,) = read_routes([{**given, "name": name}], "route")
        check_routes([route], channels, "route")
    except SettingsError as exc:
        text = str(exc).partition("): ")[2] or str(exc).partition("routes[1]: ")[2] or str(exc)
        key, colon, rest = text.partition(": ")
        is_key = colon and key.replace("_", "").replace(".", "").isalpha()
        errors = [(key, rest) if is_key else ("", text)]
        raise FieldErrors(f"routes.{name}"[:200], errors) from exc
    return route


def demand_room(kind: str, count: int) -> None:
    """Raise SettingsError where this many channels or routes, and one more, are too many."""
    most = MOST_ROUTES if kind == "route" else MOST_CHANNELS
    if count >= most:
        mend = "give one route a list of values instead" if kind == "route" else "remove one that is not used"
        raise SettingsError(f"{kind}s: there are {count} of them, allowed are at most {most}; {mend}")


def plain_settings(name: str, section: ChannelSettings, keys: Iterable[str]) -> dict[str, Any]:
    """Return these settings of a channel as JSON has them, secrets in clear; `read_channel` reads them again."""
    place = ("channels", ChannelName(name, type(section)))
    return {key: to_json((*place, key), getattr(section, key)) for key in keys}


def shown_section(name: str, section: ChannelSettings) -> dict[str, Any]:
    """Return what is set for a channel, as the configuration writes it; secrets are masked."""
    if isinstance(section, UnusableChannel):
        return {"type": section.type}
    place = ("channels", ChannelName(name, type(section)))
    defaults = {each.name: each.default for each in msgspec.structs.fields(section)}
    return {
        key: mask((*place, key), to_json((*place, key), value))
        for key, value in msgspec.structs.asdict(section).items()
        if value is not None and value != defaults[key] and value != {}
    }


def shown_settings(name: str, given: Mapping[str, Any], kind: type[ChannelSettings]) -> dict[str, Any]:
    """Return saved settings as they may be shown: secrets masked."""
    place = ("channels", ChannelName(name, kind))
    return {key: mask((*place, key), value) for key, value in given.items()}


def with_secrets(
    name: str, given: Mapping[str, Any], before: Mapping[str, Any], plugins: Collection[str]
) -> dict[str, Any]:
    """Put secrets in place of their masks: what was shown and comes back unchanged stays as it is.

    Raises FieldErrors where the channel leads to another host now: a secret for one host is not sent to another.
    """
    kind = load_type(str(before.get("type")), plugins).Settings if before.get("type") == given.get("type") else None
    if kind is None:
        return dict(given)
    shown, found, kept = shown_settings(name, before, kind), dict(given), []
    for key, value in given.items():
        if key not in shown or shown[key] == before[key]:
            continue
        if isinstance(value, dict) and isinstance(before[key], dict):
            found[key] = {
                each: before[key][each] if inner == shown[key].get(each) else inner for each, inner in value.items()
            }
            if found[key] != value:
                kept.append(key)
        elif value == shown[key]:
            found[key] = before[key]
            kept.append(key)
    if kept and _leads_to(name, found, plugins) != _leads_to(name, before, plugins):
        raise FieldErrors(
            f"channels.{name}", [(key, "the channel leads to another host now; type this secret again") for key in kept]
        )
    return found


def _leads_to(name: str, given: Mapping[str, Any], plugins: Collection[str]) -> str:
    return shown_address(read_channel(name, given, plugins, files=True))


class ChannelField(Struct, frozen=True):
    """A key of a type's settings, for a form.

    hint     what it means
    kind     "text", "secret", "truth", "choice", "list", "table" or "number"
    default  as people write it
    """

    key: str
    hint: str
    kind: str
    choices: tuple[str, ...] = ()
    default: str = ""


def fields_of(kind: type[ChannelSettings]) -> list[ChannelField]:
    """List the keys that a form has for a type; the names of files of this machine are left out."""
    made = msgspec.inspect.type_info(kind)
    assert isinstance(made, msgspec.inspect.StructType)  # noqa: S101 - settings are structs
    place = ("channels", ChannelName("x", kind))
    found = []
    for each in made.fields:
        traits = traits_at((*place, each.name))
        if each.name == "type" or traits.get("is_file"):
            continue
        default = "" if each.default in (msgspec.NODEFAULT, None) else _written(each.default)
        inner = each.type.type if isinstance(each.type, msgspec.inspect.Metadata) else each.type
        choices = (
            tuple(str(value) for value in inner.values if value)
            if isinstance(inner, msgspec.inspect.LiteralType)
            else ()
        )
        names = {"BoolType": "truth", "LiteralType": "choice", "DictType": "table", "VarTupleType": "list"}
        shape = "secret" if traits.get("shown") == "never" else names.get(type(inner).__name__, "text")
        found.append(ChannelField(each.name, described((*place, each.name)), shape, choices, default))
    # What many types have comes last.
    return sorted(found, key=lambda each: _LAST.index(each.key) if each.key in _LAST else -1)


def _written(value: object) -> str:
    if isinstance(value, timedelta):
        return show_span(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value or "")


def _bounded(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise NotAllowed(f"a text of at most {_LONGEST_TEXT:,} characters")
    if isinstance(value, str) and "\0" in value:
        raise NotAllowed("a text without control characters")
    return value


def _nearest(key: str, known: Collection[str]) -> str:
    close = get_close_matches(key.lower(), known, n=1)
    return f"the nearest known key is {close[0]}" if close else f"known are {', '.join(known)}"
