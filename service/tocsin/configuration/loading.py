"""Reading the configuration: the file, the environment and the command line into the settings in force."""

from __future__ import annotations

import pathlib
import re
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec.inspect import StructType

from tocsin.configuration import limits
from tocsin.configuration.channels import load_type
from tocsin.configuration.convert import (
    ROOT,
    ChannelName,
    NotAllowed,
    Path,
    UnknownKey,
    dotted,
    flatten,
    is_named_table,
    is_secret,
    is_section,
    is_table_list,
    pattern,
    required_keys,
    show_span,
    to_setting,
    traits_at,
    type_at,
    walk,
)
from tocsin.configuration.routes import TABLE_LISTS, check_page_route, check_routes
from tocsin.errors import SettingsError
from tocsin.settings import BrowserDeadlines, ChannelSettings, PageSettings, Settings, unread, why_unread

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping


# Secret settings: which they are, how they are masked, and how they are read from files.


_MASK: Final = "***"
# In their addresses a path names a database or a virtual host; elsewhere it may be a secret.
_BROKERS: Final = frozenset({"amqp", "amqps", "mqtt", "mqtts", "nats", "redis", "rediss", "tls"})
UNREAD_SHOWN: Final = "(its file cannot be read)"
_OF_CHANNEL: Final = re.compile(r"channels\.([A-Za-z0-9_-]+)\.secret_file")
_LONGEST_BYTES: Final = 65_536


def mask(path: Path, value: Any) -> Any:
    """Return the value as it may be shown: of an address the scheme and host, of a table of headers the names."""
    # A value of the wrong type or of an unknown setting is hidden whole: an older version may have kept a secret there.
    try:
        shown = traits_at(path).get("shown")
    except UnknownKey:
        return _MASK
    if isinstance(value, str) and why_unread(value) is not None:
        return UNREAD_SHOWN
    if shown == "names":
        return dict.fromkeys(value, _MASK) if isinstance(value, dict) else _MASK
    if shown == "host" and value:
        return mask_address(value)
    if shown == "scheme" and value:
        return mask_scheme(value)
    return _MASK if shown and value else value


def mask_address(value: Any) -> str:
    """Return what may be shown of an address: the scheme, the host, and of a broker the place on it."""
    if isinstance(value, str) and why_unread(value) is not None:
        return UNREAD_SHOWN
    try:
        parts = urlsplit(value)
    except (ValueError, TypeError, AttributeError):
        return _MASK
    # The last @: a password may contain one.
    host = parts.netloc.rpartition("@")[2]
    has_secret = parts.query or (parts.path.strip("/") and parts.scheme not in _BROKERS)
    rest = _MASK if has_secret else parts.path
    return f"{parts.scheme}://{_MASK + '@' if '@' in parts.netloc else ''}{host}{'/' if rest == _MASK else ''}{rest}"


def mask_scheme(value: Any) -> str:
    """Return the scheme of an address of Apprise, in which the host is a secret, too."""
    scheme, _, rest = value.partition("://") if isinstance(value, str) else ("", "", "")
    return f"{scheme}://{_MASK}" if rest and scheme.isalnum() else _MASK


def shown_address(channel: ChannelSettings) -> str:
    """Say where a channel leads, as it may be shown."""
    address = channel.address()
    return mask_address(address) if "://" in address or why_unread(address) is not None else address


def mask_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of pages as they may be shown."""
    return {key: mask(("pages", key), value) for key, value in settings.items()}


def _made_by(key: str) -> str:
    """Say how to make the file of this key."""
    if channel := _OF_CHANNEL.fullmatch(key):
        return f"`tocsin channel secret {channel[1]}` makes a secret"
    return "`openssl rand -hex 32` makes a token for it" if key == "http.tokens_file" else "write the secret into it"


def read_secret(file: pathlib.Path, *, key: str, source: str) -> str:
    """Read a secret from its file, without a line end at its end.

    Raises SettingsError, which names the key, its source, the file and the mend, never the content of the file.
    """
    where = f"{source}: {key}: {file}"
    try:
        with file.open("rb") as stream:
            body = stream.read(_LONGEST_BYTES + 1)
    except FileNotFoundError as exc:
        raise SettingsError(f"{where}: there is no such file; {_made_by(key)}, or mend the name") from exc
    except IsADirectoryError as exc:
        raise SettingsError(f"{where}: this is a folder; name the file in it that holds the secret") from exc
    except OSError as exc:
        raise SettingsError(f"{where}: cannot be read ({exc.strerror}); let this user read it") from exc
    if len(body) > _LONGEST_BYTES:
        raise SettingsError(f"{where}: longer than {_LONGEST_BYTES} bytes; this is no secret, mend the name")
    try:
        secret = body.decode()
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{where}: not UTF-8; write the secret as text") from exc
    # Editors end a file with a line feed; a secret may begin or end with a space, so that nothing else is taken off.
    secret = secret.removesuffix("\n").removesuffix("\r")
    if not secret:
        raise SettingsError(f"{where}: the file is empty; write the secret into it")
    return secret


# Settings as they were given, one by one, with their source.


PREFIX: Final = "TOCSIN_"
_PARTS: Final = "__"
# Behind the key of a secret: the value names a file that holds it.
FILE_SUFFIX: Final = "_file"
_CHANNEL_DEPTH: Final = 2


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
    """List the settings of a TOML tree; those of channels as they are, until `typed_channels` knows their types.

    Raises SettingsError for an unknown key, and for a value in place of a section.
    """
    for name, value in tree.items():
        below = (*path, name)
        # Which keys a channel has is known with its type, which another layer may give.
        if _is_of_channel(below):
            yield Given(below, value, source)
            continue
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
        # An empty variable is how compose files say "not set".
        if not is_ours(variable) or not environ[variable]:
            continue
        path = tuple(part.lower() for part in variable.removeprefix(PREFIX).split(_PARTS))
        if path[0] == "channels" and len(path) > 1:
            path = ("channels", spelled.get(path[1].upper(), path[1]), *path[2:])
        if _is_of_channel(path):
            yield Given(path, environ[variable], variable, written=True)
            continue
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


def typed_channels(
    layers: Iterable[Layer], plugins: Collection[str], complain: Callable[[str], None]
) -> Iterator[Layer]:
    """Give the settings of channels in each layer, with the classes of their types in their paths.

    A channel without a type that can be used, and a key that its type does not know, are complained of and left out.
    """
    layers = list(layers)
    given = [item for layer in layers for item in layer.given if _is_of_channel(item.path)]
    names = {
        item.path[1]: ChannelName(item.path[1], kind)
        for item in {each.path[1]: each for each in given if each.path[2:] == ("type",)}.values()
        if (kind := _kind_of(item, plugins, complain)) is not None
    }
    for name in {item.path[1]: None for item in given}:
        if not any(item.path[1:] == (name, "type") for item in given):
            source = next(item.source for item in given if item.path[1] == name)
            complain(f'{source}: {dotted(("channels", name))}: type is missing; give it, as in type = "webhook"')
    for layer in layers:
        found = []
        for item in layer.given:
            if not _is_of_channel(item.path) or item.path[1] not in names:
                continue
            path = ("channels", names[item.path[1]], *item.path[2:])
            try:
                if by_file := _names_a_file(path):
                    path = _without_file(path)
                type_at(path)
            except UnknownKey as exc:
                complain(str(unknown_key(exc, item.source)))
                continue
            found.append(Given(path, item.value, item.source, item.written, by_file))
        yield Layer(tuple(found), layer.folder)


def _kind_of(item: Given, plugins: Collection[str], complain: Callable[[str], None]) -> type[ChannelSettings] | None:
    if not isinstance(item.value, str):
        complain(f"{item.source}: {dotted(item.path)}: found {_shown(item.value)}, allowed is text in quotes")
        return None
    try:
        return load_type(item.value, plugins).Settings
    except SettingsError as exc:
        complain(f"{item.source}: {dotted(item.path)}: {exc}")
        return None


def _is_of_channel(path: Path) -> bool:
    return path[0] == "channels" and len(path) > _CHANNEL_DEPTH


def _names_a_file(path: Path) -> bool:
    if not path[-1].endswith(FILE_SUFFIX) or len(path[-1]) == len(FILE_SUFFIX):
        return False
    try:
        return is_secret(_without_file(path)) and not is_named_table(type_at(path[:-1]))
    except UnknownKey:
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
    gathered, layers = _Gathered(), list(layers)
    for layer in layers:
        others = tuple(item for item in layer.given if not _is_of_channel(item.path))
        _lay(Layer(others, layer.folder), gathered, read_secret)
    plugins = gathered.values.get(("delivery", "plugins"), ())
    # Only now: which plug-ins may be loaded is itself a setting.
    for layer in typed_channels(layers, plugins, gathered.complaints.append):
        _lay(layer, gathered, read_secret)
    _check_names(gathered)
    _check_required(gathered)
    # All at once: a user who mends a file wants to start the service once more, and not once for each error.
    if gathered.complaints:
        raise SettingsError("\n".join(gathered.complaints))
    tree = _to_tree(gathered.values)
    channels = tree.pop("channels", {})
    settings = msgspec.structs.replace(
        msgspec.convert(tree, Settings),
        channels={str(name): msgspec.convert(section, name.kind) for name, section in channels.items()},
    )
    _check_whole(settings, gathered)
    origins = dict.fromkeys(flatten(settings), DEFAULT)
    origins.update({dotted(path): source for path, source in gathered.origins.items()})
    return Parsed(settings, origins)


def complaint(path: Path, source: str, value: object, allowed: str) -> str:
    """Say where a value is wrong and what is allowed; a value that may be a secret is not repeated."""
    # The value of a secret is not repeated, in an error neither.
    found = "" if traits_at(path).get("shown") else f"found {_shown(value)}, "
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
    if is_table_list(type_at(given.path)):
        return TABLE_LISTS[given.path[0]](given.value, given.source)
    setting = to_setting(given.path, given.value, written=given.written)
    # Names in variables and options start from the working folder, as for any command.
    if layer.folder is None or not setting:
        return setting
    if given.path == ("store", "url"):
        kind, colon, name = setting.partition(":")
        return f"{kind}{colon}{layer.folder / name}" if kind == "sqlite" else setting
    return str(layer.folder / setting) if traits_at(given.path).get("is_file") else setting


def _value_in_file(given: Given, layer: Layer, read_secret: ReadSecret) -> Any:
    """Read a secret from its file; a failure becomes the value, so that only what needs the secret fails."""
    if not isinstance(given.value, str) or "\0" in given.value:
        raise NotAllowed("the name of a file")
    name = str(layer.folder / given.value) if layer.folder is not None else given.value
    key = f"{dotted(given.path)}{FILE_SUFFIX}"
    try:
        return to_setting(given.path, read_secret(name, key, given.source), written=True)
    except SettingsError as exc:
        # No error of the start: a secret that cannot be read stops what needs it, and nothing else.
        return unread(str(exc))
    except NotAllowed as exc:
        return unread(f"{given.source}: {key}: {name}: allowed is {exc}; write it into this file, or mend the name")


def _choose_schedule(here: dict[Path, Given], gathered: _Gathered) -> None:
    """Choose between an interval and a cron expression, which exclude each other: the nearer one wins."""
    every, cron = here.get(_EVERY), here.get(_CRON)
    if every and cron and cron.value:
        where = cron.source if cron.source == every.source else f"{every.source} and {cron.source}"
        gathered.complaints.append(f"{where}: pages.every and pages.cron exclude each other; leave one of them out")
    # A later layer with an interval takes the place of a cron expression of an earlier one.
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
            f"{source}: {dotted(section)}: {key} is missing; give it"
            for key in required_keys(kind)
            if (*section, key) not in gathered.values
        )


def _check_deadlines(deadlines: BrowserDeadlines, gathered: _Gathered) -> None:
    if deadlines.ready > deadlines.total:
        source = gathered.origins.get(("browser", "deadlines", "ready"), DEFAULT)
        most = show_span(deadlines.total)
        raise SettingsError(
            f"{source}: browser.deadlines.ready: found {show_span(deadlines.ready)}, allowed is at most "
            f"browser.deadlines.total, which is {most}; lower it, or raise the other"
        )


def _check_pictures(settings: Settings, gathered: _Gathered) -> None:
    if settings.store.pictures or not settings.store.url.startswith("postgres"):
        return
    wanted = {
        ("render", "screenshot"): settings.render.screenshot,
        ("pages", "signal_rules"): limits.asks_for_pictures(settings.pages.signal_rules),
    }
    for path in (path for path, takes_pictures in wanted.items() if takes_pictures):
        raise SettingsError(
            f"{gathered.origins.get(path, DEFAULT)}: {dotted(path)}: a store on PostgreSQL has no folder for pictures; "
            "set store.pictures to one that all nodes share"
        )


def _check_whole(settings: Settings, gathered: _Gathered) -> None:
    """Check values that depend on each other."""
    limit, resume_at = settings.render.limit, settings.render.resume_at
    if resume_at > limit:
        source = gathered.origins.get(("render", "resume_at")) or gathered.origins.get(("render", "limit"), DEFAULT)
        raise SettingsError(
            f"{source}: render.resume_at: found {resume_at}, allowed is at most render.limit, which is {limit}"
        )
    _check_deadlines(settings.browser.deadlines, gathered)
    _check_pictures(settings, gathered)
    _check_adaptive(settings.pages, gathered)
    if settings.routes:
        check_routes(settings.routes, settings.channels, gathered.origins.get(("routes",), DEFAULT))
    if settings.pages.route:
        source = gathered.origins.get(("pages", "route"), DEFAULT)
        check_page_route(settings.pages.route, settings.routes, f"{source}: pages.route")
    for host, rule in settings.hosts.rules.items():
        # Accepted for many, a certificate that no authority signed would open all of them at once.
        if rule.certificate is not None and "*" in host:
            path = ("hosts", "rules", host, "certificate")
            raise SettingsError(
                f"{gathered.origins.get(path, DEFAULT)}: {dotted(path)}: a certificate is accepted for one host, never "
                f'for many; name the host, as in [hosts.rules."www{host[1:]}"]'
            )


def _check_adaptive(pages: PageSettings, gathered: _Gathered) -> None:
    given = {path[1]: source for path, source in gathered.origins.items() if path[0] == "pages"}
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
    # A value may control the terminal that the error is printed on.
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    text = str(value).lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


FILE_NAME: Final = "tocsin.toml"
VARIABLE: Final = "TOCSIN_CONFIG"
_LARGEST_BYTES: Final = 4 * 2**20


# Finding the file, and reading all layers.


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration in force.

    origins  where each value came from, by dotted key: a file, a variable, an option, or "default"
    file     the file that was read, or None
    doubts   probable mistakes that are no errors, a sentence each
    files    those that hold secrets, by the dotted key of the secret
    """

    settings: Settings
    origins: dict[str, str]
    file: pathlib.Path | None
    doubts: tuple[str, ...] = ()
    files: Mapping[str, pathlib.Path] = field(default_factory=dict)


def load(
    *,
    environ: Mapping[str, str],
    cwd: pathlib.Path,
    config: str | None = None,
    overrides: Mapping[str, tuple[str, str]] | None = None,
) -> Loaded:
    """Read the configuration: default < file < environment < command line.

    config     the file that the command line names; else TOCSIN_CONFIG, ./tocsin.toml and the user's
               configuration folder are tried in this order
    overrides  what the command line sets: dotted key to (text, option)
    Raises SettingsError, whose text names each source, key and mend.
    """
    file = _find(config, environ, cwd)
    tree = _read(file) if file else {}
    layers = []
    if file:
        layers.append(Layer(tuple(from_tree(tree, str(file))), folder=file.parent))
    channels = tree.get("channels", {})
    layers.append(Layer(tuple(from_environ(environ, channels=channels if isinstance(channels, dict) else ()))))
    layers.append(
        Layer(tuple(_override(key, text, option) for key, (text, option) in (overrides or {}).items())),
    )

    def secret(name: str, key: str, source: str) -> str:
        return read_secret(cwd / name, key=key, source=source)

    parsed = parse(layers, read_secret=secret)
    return Loaded(
        parsed.settings,
        parsed.origins,
        file,
        _doubts(environ),
        _secret_files(layers, parsed.settings.delivery.plugins, cwd),
    )


def _secret_files(layers: Iterable[Layer], plugins: Collection[str], cwd: pathlib.Path) -> dict[str, pathlib.Path]:
    found: dict[str, pathlib.Path] = {}
    typed = typed_channels(layers, plugins, lambda _: None)
    for layer in (*layers, *typed):
        for given in layer.given:
            # A later layer replaces the secret, and with it the file that an earlier one named.
            found.pop(dotted(given.path), None)
            if given.by_file and isinstance(given.value, str):
                found[dotted(given.path)] = cwd / (layer.folder or "") / given.value
    return found


def _override(key: str, text: str, option: str) -> Given:
    return Given(tuple(key.split(".")), text, option, written=True)


def _find(config: str | None, environ: Mapping[str, str], cwd: pathlib.Path) -> pathlib.Path | None:
    """Find the file; a named one must exist, a default one need not."""
    for name, source in ((config, "--config"), (environ.get(VARIABLE), VARIABLE)):
        if name:
            file = cwd / name
            # Not is_file: a pipe is allowed.
            if not file.exists() or file.is_dir():
                what = "a folder" if file.is_dir() else "there is no such file"
                raise SettingsError(f"{source}: {file}: {what}; mend the name, or leave it out")
            return file
    candidates = [cwd / FILE_NAME]
    folder = environ.get("XDG_CONFIG_HOME") or ""
    home = environ.get("HOME") or ""
    # Source: XDG Base Directory Specification: relative values are ignored.
    if folder.startswith("/"):
        candidates.append(pathlib.Path(folder, "tocsin", FILE_NAME))
    elif home:
        candidates.append(pathlib.Path(home, ".config", "tocsin", FILE_NAME))
    return next((file for file in candidates if file.is_file()), None)


def _read(file: pathlib.Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            body = stream.read(_LARGEST_BYTES + 1)
    except OSError as exc:
        raise SettingsError(f"{file}: cannot be read ({exc.strerror}); let this user read it") from exc
    if len(body) > _LARGEST_BYTES:
        raise SettingsError(f"{file}: larger than {_LARGEST_BYTES} bytes; this is no configuration, mend the name")
    try:
        return tomllib.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{file}: not UTF-8 at byte {exc.start}; save it as UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsError(f"{file}: not TOML: {exc}; mend the line") from exc
    except RecursionError as exc:
        raise SettingsError(f"{file}: nested too deep; this is no configuration, mend the name") from exc


def _doubts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name variables that are probably mistyped settings: TOCSIN_STORE_URL for TOCSIN_STORE__URL."""
    sections = [field.name for field in ROOT.fields]
    variables = {f"{PREFIX}{'__'.join(path).upper()}" for path, _ in walk(Settings())}
    found: list[str] = []
    for variable in sorted(environ):
        if is_ours(variable) or not variable.startswith(PREFIX) or variable == VARIABLE:
            continue
        # Orchestrators set TOCSIN_PORT and TOCSIN_SERVICE_HOST for a service of this name: they resemble no setting.
        if any(variable.startswith(f"{PREFIX}{section.upper()}_") for section in sections):
            close = get_close_matches(variable, variables, n=1, cutoff=0.9)
            found.extend(f"{variable} is not read; write {name} if you mean that setting" for name in close)
    return tuple(found)
