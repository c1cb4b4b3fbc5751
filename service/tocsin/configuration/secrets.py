"""Secret settings: which they are, how they are masked, and how they are read from files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tocsin.configuration.tree import Path, UnknownKey, pattern, type_at
from tocsin.errors import SettingsError
from tocsin.settings import why_unread

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

# Each may also be given as the name of a file, with `_file` behind its key.
SECRETS: Final = frozenset({"channels.*.secret", "channels.*.url", "pages.auth", "pages.proxy", "http.tokens"})

# Only their names are shown.
HIDDEN_TABLES: Final = frozenset({"pages.headers", "pages.cookies", "channels.*.headers"})
_ADDRESSES: Final = frozenset({"channels.*.url", "pages.proxy"})
_MASK: Final = "***"
UNREAD_SHOWN: Final = "(its file cannot be read)"
_OF_CHANNEL: Final = re.compile(r"channels\.([A-Za-z0-9_-]+)\.secret_file")
_LONGEST_BYTES: Final = 65_536


def mask(path: Path, value: Any) -> Any:
    """Return the value as it may be shown: of an address the scheme and host, of a table of headers the names."""
    # A value of the wrong type or of an unknown setting is hidden whole: an older version may have kept a secret there.
    try:
        type_at(path)
    except UnknownKey:
        return _MASK
    if isinstance(value, str) and why_unread(value) is not None:
        return UNREAD_SHOWN
    key = pattern(path)
    if key in HIDDEN_TABLES:
        return dict.fromkeys(value, _MASK) if isinstance(value, dict) else _MASK
    if key in _ADDRESSES and value:
        try:
            parts = urlsplit(value)
        except (ValueError, TypeError, AttributeError):
            return _MASK
        host = parts.netloc.rpartition("@")[2]
        rest = _MASK if parts.path.strip("/") or parts.query else parts.path
        return (
            f"{parts.scheme}://{_MASK + '@' if '@' in parts.netloc else ''}{host}{'/' if rest == _MASK else ''}{rest}"
        )
    return _MASK if key in SECRETS and value else value


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
    secret = secret.removesuffix("\n").removesuffix("\r")
    if not secret:
        raise SettingsError(f"{where}: the file is empty; write the secret into it")
    return secret
