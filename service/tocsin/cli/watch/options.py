"""The options that stand for settings of pages."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tocsin.configuration import parse_page_settings
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.model import JsonObject

_Function = TypeVar("_Function", bound="Callable[..., object]")

_OPTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("every", "DURATION", "How often: 6h, 2d …"),
    ("cron", "EXPRESSION", 'When, instead of how often: "0 6 * * *".'),
    ("mode", "on|auto|off", "Check it; check it, but tell only if it asks for awareness; do not."),
    ("tell", "any|major", "Of any change, or of major ones only."),
    ("tries", "N", "Further tries when the page is not received."),
    ("durational_threshold", "DURATION", "An equal state after this long is a major change."),
    ("minor_threshold", "N", "As many minor changes are a major one."),
    ("min_gap", "DURATION", "Never again within this time."),
    ("refresh_cap", "DURATION", "The page's own refresh counts as at most this."),
    ("at_launch", "DURATION", "Due when the service starts if checked longer ago."),
    ("report", "LIST", "Tell also: unchanged,too-soon."),
    ("signals", "auto|all|none", "What else the page says of its changes."),
    ("signal_rules", "LIST", "Such as: json-ld.version: major, etag: ignore."),
    ("look_at", "SELECTORS", "What counts as its content, as CSS selectors."),
    ("ignore", "SELECTORS", "What does not count, as CSS selectors."),
    ("suspects", "hold|accept", "A login or error page in its place."),
    ("adaptive", "yes|no", "More often what changes more often."),
    ("every_min", "DURATION", "With --adaptive never more often."),
    ("every_max", "DURATION", "With --adaptive never less often."),
    ("retry_refused", "yes|no", "Try again what the server refused for good."),
    ("auth", "USER:PASSWORD", "Credentials."),
    ("proxy", "URL", "Through this proxy."),
)


def page_options(function: _Function) -> _Function:
    """Give a command an option for each setting of pages; it finds them checked, as `settings`.

    Raises SettingsError for values that cannot be.
    """

    @wraps(function)
    def collected(*args: Any, **kwargs: Any) -> object:
        given = {key: text for key, _, _ in _OPTIONS if (text := kwargs.pop(key)) is not None}
        settings = parse_page_settings(given)
        settings.update(_pairs("headers", kwargs.pop("header"), ":"))
        settings.update(_pairs("cookies", kwargs.pop("cookie"), "="))
        return function(*args, settings=settings, **kwargs)

    decorated: Any = collected
    decorated = click.option("--cookie", multiple=True, metavar="NAME=VALUE", help="Send this cookie.")(decorated)
    decorated = click.option("--header", multiple=True, metavar="NAME:VALUE", help="Send this header.")(decorated)
    for key, metavar, text in reversed(_OPTIONS):
        decorated = click.option(f"--{key.replace('_', '-')}", key, metavar=metavar, help=text)(decorated)
    found: _Function = decorated
    return found


def _pairs(key: str, texts: tuple[str, ...], separator: str) -> JsonObject:
    if not texts:
        return {}
    option = "--header" if separator == ":" else "--cookie"
    pairs: dict[str, str] = {}
    given: set[str] = set()
    for text in texts:
        name, found, value = text.partition(separator)
        if not found:
            raise UsageError(f"{option}: {text!r}: write NAME{separator}VALUE")
        name = name.strip()
        # Names of headers are the same in capitals.
        if (name.lower() if separator == ":" else name) in given:
            raise UsageError(f"{option}: {name} is given twice; leave one of them out")
        given.add(name.lower() if separator == ":" else name)
        pairs[name] = value.strip()
    table = ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in pairs.items())
    return parse_page_settings({key: f"{{{table}}}"}, source=option)


def _quoted(text: str) -> str:
    """As TOML's basic string; control characters are refused where the value is judged."""
    escaped = "".join(
        f"\\u{ord(letter):04x}" if letter in '"\\' or letter < " " or letter == "\x7f" else letter for letter in text
    )
    return f'"{escaped}"'
