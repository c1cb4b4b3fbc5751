"""What was given where: the settings of a file, of the environment and of a command line, each one by one."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tocsin.configuration.secrets import SECRETS
from tocsin.configuration.tree import Path, UnknownKey, dotted, is_named_table, is_section, pattern, type_at
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

PREFIX: Final = "TOCSIN_"
_PARTS: Final = "__"
FILE_SUFFIX: Final = "_file"
"""Behind the key of a secret: the value names a file that holds it."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that somebody gave.

    path     of the setting
    source   a file, a variable of the environment, or an option
    written  the value is text whatever the setting's type
    by_file  the value names a file that holds the secret
    """

    path: Path
    value: Any
    source: str
    written: bool = False
    by_file: bool = False


def from_tree(tree: Mapping[str, Any], source: str, *, path: Path = ()) -> Iterator[Given]:
    """List the settings of a TOML tree.

    Raises SettingsError for a key that is not known, or a section that is none.
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
    """List the settings that variables named `TOCSIN_SECTION__KEY` give; an empty variable gives nothing.

    channels  names of channels that are known already; a variable can only spell them in capitals, with `_`
    Raises SettingsError for a key that is not known.
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
    """Whether a variable of the environment is meant to be a setting.

    Without a double underscore it is not: orchestrators set variables such as TOCSIN_PORT for a service of this name.
    """
    return variable.startswith(PREFIX) and _PARTS in variable


def unknown_key(error: UnknownKey, source: str) -> SettingsError:
    """Say which key is not known, where it stands, and which one may be meant."""
    if error.path[-1] == "certificate":
        mend = 'a certificate is accepted for one host, never for all; write it under [hosts.rules."host.example"]'
    elif error.nearest:
        mend = f"the nearest known key is {error.nearest}"
    elif error.known:
        mend = f"known here are {', '.join(error.known)}"
    else:
        mend = "nothing can stand below this key"
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
