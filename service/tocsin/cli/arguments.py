"""What users type that several commands read: numbers, times, and the answer before what cannot be undone."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tocsin.cli import output
from tocsin.cli.formatting import count
from tocsin.configuration import parse_page_settings, parse_span
from tocsin.errors import UsageError
from tocsin.model import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.model import Instant, JsonObject
    from tocsin.settings import MatchSettings

_Function = TypeVar("_Function", bound="Callable[..., object]")

# The largest number that a store can keep.
_LARGEST: Final = 2**63 - 1
_MICROSECOND: Final = timedelta(microseconds=1)
# A time further away is a typing error.
_FURTHEST: Final = timedelta(days=3650)


def parse_steps(texts: Sequence[str]) -> JsonObject:
    """Read the steps of a page, an option each; raises SettingsError."""
    return parse_page_settings({"steps": json.dumps(texts, ensure_ascii=False)}, source="--step")


def careful(function: _Function) -> _Function:
    """Give a command `--yes` and `--dry-run`."""
    dry = click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
    yes = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
    return yes(dry(function))


def confirm(act: str, *, yes: bool) -> None:
    """Ask before doing this; returns if it is to be done.

    act  in words, such as "remove 3 pages with all that is stored of them"
    Raises UsageError without a terminal to ask on; ends the program with 1 if the answer is no.
    """
    if yes:
        return
    # A script must not hang on a question, nor take silence for yes.
    if not sys.stdin.isatty():
        raise UsageError(
            f"this would {act}, and there is no terminal to confirm on; give --yes, or --dry-run to try it"
        )
    # On stderr, so that it is seen where the output goes into a file.
    if not click.confirm(output.clean(f"This will {act}. Continue?"), err=True):
        output.note("Nothing was changed.")
        raise click.exceptions.Exit(output.NEEDS_USER)


_MATCH_OPTIONS: Final = {
    "kind": ("KIND", "Of the event: changed, unreachable, storm …"),
    "outcome": ("OUTCOME", "Of a change: major or minor."),
    "basis": ("BASIS", "Of a change: declared, inferred or contradicted."),
    "group": ("NAME", "Of the page."),
    "host": ("HOST", 'Of the page; "*.example.org" for all below it.'),
    "url": ("URL", 'Of the page; "*" is any text.'),
    "rule": ("RULE", "That decided, such as T44."),
    "field": ("NAME", "That changed, such as topper-major."),
    "words": ("WORDS", "In the title, the added lines or your text."),
}


def match_options(function: _Function) -> _Function:
    """Give a command an option for each key of matchers, any number of times; it finds those given as `match`."""

    @wraps(function)
    def collected(*args: Any, **kwargs: Any) -> object:
        given = {key: list(kwargs.pop(key)) for key in _MATCH_OPTIONS}
        return function(*args, match={key: values for key, values in given.items() if values}, **kwargs)

    decorated: Any = collected
    # Decorators are applied from the inside out: reversed, the help has them in this order.
    for key, (metavar, text) in reversed(_MATCH_OPTIONS.items()):
        decorated = click.option(f"--{key}", multiple=True, metavar=metavar, help=text)(decorated)
    found: _Function = decorated
    return found


def match_in_words(match: MatchSettings) -> str:
    """Write a match in a line."""
    given = {key: values for key in match.__struct_fields__ if (values := getattr(match, key))}
    return ", ".join(f"{key} {' or '.join(values)}" for key, values in given.items()) or "all"


def removal(pages: int) -> str:
    """Say what taking pages off the list does."""
    return f"remove {count(pages, 'page')} with everything stored about {'it' if pages == 1 else 'them'}"


class Number(click.IntRange):
    """The number of something that is listed.

    what   it names, such as "a question"
    where  the command that lists it
    """

    name = "number"

    def __init__(self, what: str, where: str) -> None:
        super().__init__(min=1, max=_LARGEST)
        self._what, self._where = what, where

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number; anything else is an error that names the command which lists them."""
        text = str(value)
        # Looked at as text first: `int` takes digits of any script, signs and underscores.
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(_LARGEST)) else 0
        if not 1 <= number <= _LARGEST:
            self.fail(f"{text[:40]!r} is not the number of {self._what}; see: {self._where}", param, ctx)
        return number


def parse_time(text: str, *, now: Instant, option: str) -> Instant:
    """Read a time in the future: an ISO date and time (local without an offset), or a duration from now.

    Raises UsageError, also for a time that has passed, or that is too far.
    """
    # A span first: no date reads like "6h".
    at = _from_span(text, now) or _from_date(text)
    if at is None:
        mend = 'write a time such as "2026-01-31 18:00", "2026-01-31T17:00:00Z", or "6h" from now'
        raise UsageError(f"{option}: {text!r} is not a time; {mend}")
    if at < now:
        raise UsageError(f"{option}: {text!r} is in the past; give a time in the future")
    if at > now + _FURTHEST // _MICROSECOND:
        raise UsageError(f"{option}: {text!r} is too far away; give a time within {_FURTHEST.days} days")
    return at


def parse_past(text: str, *, option: str) -> timedelta:
    """Read how long ago something was, as a duration.

    Raises UsageError, also for one that reaches too far back.
    """
    try:
        span = parse_span(text)
    except ValueError as exc:
        raise UsageError(f'{option}: {text!r} is not a duration; write one such as "90d"') from exc
    if span > _FURTHEST:
        raise UsageError(f"{option}: {text!r} is too long; the maximum is {_FURTHEST.days}d")
    return span


def parse_moment(text: str, *, now: Instant, option: str) -> Instant:
    """Read a time in the past: an ISO date with or without a time (local without an offset), or a duration ago.

    Raises UsageError for what is none.
    """
    at = _from_date(text)
    if at is None:
        try:
            return now - parse_past(text, option=option) // _MICROSECOND
        except UsageError as exc:
            mend = 'write one such as "2026-01-31", "2026-01-31T17:00:00Z", or "7d" for a week ago'
            raise UsageError(f"{option}: {text!r} is not a time; {mend}") from exc
    return at


def _from_span(text: str, now: Instant) -> Instant | None:
    try:
        return now + parse_span(text) // _MICROSECOND
    except ValueError:
        return None


def _from_date(text: str) -> Instant | None:
    try:
        # Without an offset this takes the machine's time zone, as a person at a terminal means it.
        return (datetime.fromisoformat(text).astimezone(UTC) - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
