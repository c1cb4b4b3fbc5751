"""Settings that files, the environment and a command line give, and the settings in force that they make; pure."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec.inspect import StructType

from tocsin.configuration import limits
from tocsin.configuration.convert import NotAllowed, to_setting
from tocsin.configuration.secrets import HIDDEN_TABLES, SECRETS
from tocsin.configuration.spans import show_span
from tocsin.configuration.tree import (
    Path,
    UnknownKey,
    dotted,
    flatten,
    is_named_table,
    is_section,
    pattern,
    required_keys,
    type_at,
)
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings, Settings, unread

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping


# Settings as they were given, one by one, with their source.


PREFIX: Final = "TOCSIN_"
_PARTS: Final = "__"
# Behind the key of a secret: the value names a file that holds it.
FILE_SUFFIX: Final = "_file"


@dataclass(frozen=True, slots=True)
class Given:
    """A value that was given.

    path     of the setting
    source   a file, a variable of the environment, or an option
    written  the value is text, though the setting may have another type
    by_file  the value names a file that holds the secret
    """

    path: Path
    value: Any
    source: str
    written: bool = False
    by_file: bool = False


def from_tree(tree: Mapping[str, Any], source: str, *, path: Path = ()) -> Iterator[Given]:
    """List the settings of a TOML tree.

    Raises SettingsError for an unknown key, and for a value in place of a section.
    """
    for name, value in tree.items():
        below = (*path, name)
        if _names_a_file(below):
            yield Given(_without_file(below), value, source, by_file=True)
            continue
        try:
            kind = type_at(below)
        except UnknownKey as exc:
            raise unknown_key(exc, source) from exc
        if not is_section(kind):
            yield Given(below, value, source)
        elif isinstance(value, dict):
            yield from from_tree(value, source, path=below)
        else:
            raise SettingsError(f"{source}: {dotted(below)}: this is a section; write its keys below [{dotted(below)}]")


def from_environ(environ: Mapping[str, str], *, channels: Collection[str] = ()) -> Iterator[Given]:
    """List the settings of variables named `TOCSIN_SECTION__KEY`; an empty variable gives nothing.

    channels  names of known channels; a variable spells them in capitals, with `_`
    Raises SettingsError for an unknown key.
    """
    spelled = {re.sub(r"[^A-Z0-9]", "_", name.upper()): name for name in channels}
    for variable in sorted(environ):
        if not is_ours(variable) or not environ[variable]:
            continue
        path = tuple(part.lower() for part in variable.removeprefix(PREFIX).split(_PARTS))
        if path[0] == "channels" and len(path) > 1:
            path = ("channels", spelled.get(path[1].upper(), path[1]), *path[2:])
        if _names_a_file(path):
            yield Given(_without_file(path), environ[variable], variable, written=True, by_file=True)
            continue
        try:
            kind = type_at(path)
        except UnknownKey as exc:
            raise unknown_key(exc, variable) from exc
        if is_section(kind):
            yield from from_tree(_section_from_text(environ[variable], variable), variable, path=path)
        else:
            yield Given(path, environ[variable], variable, written=True)


def is_ours(variable: str) -> bool:
    """Tell whether a variable of the environment is a setting."""
    # Orchestrators set variables such as TOCSIN_PORT for a service of this name: they have no double underscore.
    return variable.startswith(PREFIX) and _PARTS in variable


def unknown_key(error: UnknownKey, source: str) -> SettingsError:
    """Name the unknown key, its source, and the nearest known one."""
    if error.path[-1] == "certificate":
        mend = 'a certificate is accepted for one host, never for all; write it under [hosts.rules."host.example"]'
    elif error.nearest:
        mend = f"the nearest known key is {error.nearest}"
    elif error.known:
        mend = f"known here are {', '.join(error.known)}"
    else:
        mend = "this key has no keys below it"
    return SettingsError(f"{source}: {dotted(error.path)}: unknown key; {mend}")


def _names_a_file(path: Path) -> bool:
    if not path[-1].endswith(FILE_SUFFIX) or len(path[-1]) == len(FILE_SUFFIX):
        return False
    try:
        return pattern(_without_file(path)) in SECRETS and not is_named_table(type_at(path[:-1]))
    except (UnknownKey, StopIteration):
        return False


def _without_file(path: Path) -> Path:
    return (*path[:-1], path[-1].removesuffix(FILE_SUFFIX))


def _section_from_text(text: str, source: str) -> dict[str, Any]:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{source}: this is a section; name a key of it, or give a TOML table ({exc})") from exc
    if not isinstance(value, dict):
        raise SettingsError(f"{source}: this is a section; name a key of it, as in {source}__KEY")
    return value


if TYPE_CHECKING:
    ReadSecret: TypeAlias = Callable[[str, str, str], str]

DEFAULT: Final = "default"
_EVERY: Final = ("pages", "every")
_CRON: Final = ("pages", "cron")
_SHOWN: Final = 80
_PATHS: Final = frozenset({"store.url", "channels.*.path"})


@dataclass(frozen=True, slots=True)
class Layer:
    """The values of one source; later layers win.

    folder  that relative file names start from; None: the working folder
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
    """Merge the layers, the last one on top, and check the result.

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
    """Say where a value is wrong and what is allowed; a value that may be a secret is not repeated."""
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
    """Read a secret from its file; a failure becomes the value, so that only what needs the secret fails."""
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
    """Choose between an interval and a cron expression, which exclude each other: the nearer one wins."""
    every, cron = here.get(_EVERY), here.get(_CRON)
    if every and cron and cron.value:
        where = cron.source if cron.source == every.source else f"{every.source} and {cron.source}"
        gathered.complaints.append(f"{where}: pages.every and pages.cron exclude each other; leave one of them out")
    elif every and gathered.values.get(_CRON):
        gathered.values[_CRON], gathered.origins[_CRON] = "", every.source


def _check_names(gathered: _Gathered) -> None:
    """Check names that the user chose, each once."""
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
    """Check values that depend on each other."""
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
    """Give a value for a message: without control characters, and cut."""
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    text = str(value).lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
