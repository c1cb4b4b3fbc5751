"""From what was given where to settings in force, each with its origin; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec.inspect import StructType

from tocsin.configuration import limits
from tocsin.configuration.convert import NotAllowed, to_setting
from tocsin.configuration.layers import FILE_SUFFIX
from tocsin.configuration.secrets import HIDDEN_TABLES, SECRETS
from tocsin.configuration.spans import show_span
from tocsin.configuration.tree import Path, dotted, flatten, is_named_table, pattern, required_keys, type_at
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings, Settings, unread

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Iterable

    from tocsin.configuration.layers import Given

    ReadSecret: TypeAlias = Callable[[str, str, str], str]

DEFAULT: Final = "default"
_EVERY: Final = ("pages", "every")
_CRON: Final = ("pages", "cron")
_SHOWN: Final = 80
_PATHS: Final = frozenset({"store.url", "channels.*.path"})


@dataclass(frozen=True, slots=True)
class Layer:
    """All that one place gave; later layers win.

    folder  relative file names are meant from here; None: from the working folder, as they stand
    """

    given: tuple[Given, ...]
    folder: pathlib.PurePath | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """Settings in force, and where each value came from: a file, a variable, an option, or "default"."""

    settings: Settings
    origins: dict[str, str]


@dataclass(slots=True)
class _Gathered:
    values: dict[Path, Any] = field(default_factory=dict)
    origins: dict[Path, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def parse(layers: Iterable[Layer], *, read_secret: ReadSecret) -> Parsed:
    """Put layers on top of each other and check the whole.

    read_secret  given a file's name, the key and its source, returns what the file holds
    Raises SettingsError that names every value that cannot be used, a line each.
    """
    gathered = _Gathered()
    for layer in layers:
        _lay(layer, gathered, read_secret)
    _check_names(gathered)
    _check_required(gathered)
    if gathered.complaints:
        raise SettingsError("\n".join(gathered.complaints))
    settings = msgspec.convert(_to_tree(gathered.values), Settings)
    _check_whole(settings, gathered)
    origins = dict.fromkeys(flatten(settings), DEFAULT)
    origins.update({dotted(path): source for path, source in gathered.origins.items()})
    return Parsed(settings, origins)


def complaint(path: Path, source: str, value: object, allowed: str) -> str:
    """Say what was found where, and what is allowed; what may hold a secret is not repeated."""
    found = "" if pattern(path) in SECRETS | HIDDEN_TABLES else f"found {_shown(value)}, "
    return f"{source}: {dotted(path)}: {found}allowed is {allowed}"


def _lay(layer: Layer, gathered: _Gathered, read_secret: ReadSecret) -> None:
    here: dict[Path, Given] = {}
    for given in layer.given:
        if given.path in here:
            mend = "give the secret or the file that holds it, not both" if given.by_file else "give it once"
            gathered.complaints.append(f"{given.source}: {dotted(given.path)}: given twice; {mend}")
        here[given.path] = given
    for path, given in here.items():
        try:
            value = _value_of(given, layer, read_secret)
        except NotAllowed as exc:
            gathered.complaints.append(complaint(path, given.source, given.value, str(exc)))
        except SettingsError as exc:
            gathered.complaints.append(str(exc))
        else:
            gathered.values[path], gathered.origins[path] = value, given.source
    _choose_schedule(here, gathered)


def _value_of(given: Given, layer: Layer, read_secret: ReadSecret) -> Any:
    if given.by_file:
        return _value_in_file(given, layer, read_secret)
    setting = to_setting(given.path, given.value, written=given.written)
    if layer.folder is not None and setting and pattern(given.path) in _PATHS:
        kind, colon, name = setting.rpartition(":") if given.path[0] == "store" else ("", "", setting)
        return f"{kind}{colon}{layer.folder / name}"
    return setting


def _value_in_file(given: Given, layer: Layer, read_secret: ReadSecret) -> Any:
    """Read a secret from its file; what fails there is said by what needs the secret, and stops nothing else."""
    if not isinstance(given.value, str) or "\0" in given.value:
        raise NotAllowed("the name of a file")
    name = str(layer.folder / given.value) if layer.folder is not None else given.value
    key = f"{dotted(given.path)}{FILE_SUFFIX}"
    try:
        return to_setting(given.path, read_secret(name, key, given.source), written=True)
    except SettingsError as exc:
        return unread(str(exc))
    except NotAllowed as exc:
        return unread(f"{given.source}: {key}: {name}: allowed is {exc}; write it into this file, or mend the name")


def _choose_schedule(here: dict[Path, Given], gathered: _Gathered) -> None:
    """An interval and a cron expression exclude each other; the one that was set nearer wins."""
    every, cron = here.get(_EVERY), here.get(_CRON)
    if every and cron and cron.value:
        where = cron.source if cron.source == every.source else f"{every.source} and {cron.source}"
        gathered.complaints.append(f"{where}: pages.every and pages.cron exclude each other; leave one of them out")
    elif every and gathered.values.get(_CRON):
        gathered.values[_CRON], gathered.origins[_CRON] = "", every.source


def _check_names(gathered: _Gathered) -> None:
    """Judge names of the user's own once, wherever they were given."""
    seen: set[Path] = set()
    for path, source in gathered.origins.items():
        for depth in range(1, len(path)):
            table, name = path[:depth], path[depth]
            check = limits.NAMES.get(pattern(table))
            if check and path[: depth + 1] not in seen:
                seen.add(path[: depth + 1])
                allowed = check(name)
                if allowed:
                    gathered.complaints.append(f"{source}: {dotted(table)}: found {_shown(name)}, allowed is {allowed}")


def _check_required(gathered: _Gathered) -> None:
    sections = {path[:depth]: source for path, source in gathered.origins.items() for depth in range(2, len(path))}
    for section, source in sections.items():
        kind = type_at(section)
        if not is_named_table(type_at(section[:-1])) or not isinstance(kind, StructType):
            continue
        gathered.complaints.extend(
            f'{source}: {dotted(section)}: {key} is missing; give it, as in {key} = "webhook"'
            for key in required_keys(kind)
            if (*section, key) not in gathered.values
        )


def _check_whole(settings: Settings, gathered: _Gathered) -> None:
    """What only several values together can get wrong."""
    limit, resume_at = settings.render.limit, settings.render.resume_at
    if resume_at > limit:
        source = gathered.origins.get(("render", "resume_at")) or gathered.origins.get(("render", "limit"), DEFAULT)
        raise SettingsError(
            f"{source}: render.resume_at: found {resume_at}, allowed is at most render.limit, which is {limit}"
        )
    _check_adaptive(settings.pages, gathered)
    for host, rule in settings.hosts.rules.items():
        if rule.certificate is not None and "*" in host:
            path = ("hosts", "rules", host, "certificate")
            raise SettingsError(
                f"{gathered.origins.get(path, DEFAULT)}: {dotted(path)}: a certificate is accepted for one host, never "
                f'for many; name the host, as in [hosts.rules."www{host[1:]}"]'
            )


def _check_adaptive(pages: PageSettings, gathered: _Gathered) -> None:
    given = {key: source for (section, key, *_), source in gathered.origins.items() if section == "pages"}
    if pages.every_min > pages.every_max:
        source = given.get("every_min") or given.get("every_max", DEFAULT)
        raise SettingsError(
            f"{source}: pages.every_min: found {show_span(pages.every_min)}, allowed is at most pages.every_max, "
            f"which is {show_span(pages.every_max)}"
        )
    if pages.adaptive and pages.cron:
        raise SettingsError(
            f"{given.get('cron', DEFAULT)}: pages.adaptive and pages.cron exclude each other; leave one of them out"
        )


def _to_tree(values: dict[Path, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        here = tree
        for part in path[:-1]:
            here = here.setdefault(part, {})
        here[path[-1]] = value
    return tree


def _shown(value: object) -> str:
    """A value as a message may carry it: no control characters, not endless."""
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    text = str(value).lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
