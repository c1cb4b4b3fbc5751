"""Finding and reading the files of the configuration."""

from __future__ import annotations

import pathlib
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from tocsin.configuration.parsing import PREFIX, Given, Layer, from_environ, from_tree, is_ours, parse
from tocsin.configuration.secrets import read_secret
from tocsin.configuration.tree import ROOT, dotted, walk
from tocsin.errors import SettingsError
from tocsin.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE_NAME: Final = "tocsin.toml"
VARIABLE: Final = "TOCSIN_CONFIG"
_LARGEST_BYTES: Final = 4 * 2**20


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
    return Loaded(parsed.settings, parsed.origins, file, _doubts(environ), _secret_files(layers, cwd))


def _secret_files(layers: Iterable[Layer], cwd: pathlib.Path) -> dict[str, pathlib.Path]:
    found: dict[str, pathlib.Path] = {}
    for layer in layers:
        for given in layer.given:
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
