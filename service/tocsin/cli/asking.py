"""Questions before what cannot be undone, and the options that answer them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import click

from tocsin.cli import output
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., object]")


def careful(function: _Function) -> _Function:
    """Give a command `--yes` and `--dry-run`."""
    dry = click.option("--dry-run", is_flag=True, help="Only say what would be done.")
    yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
    return yes(dry(function))


def confirm(act: str, *, yes: bool) -> None:
    """Ask before doing this; returns if it is to be done.

    act  in words, such as "remove 3 pages with all that is stored of them"
    Raises UsageError where nobody can be asked; leaves the program with 1 if the answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"this would {act}, and there is no terminal to ask on; give --yes, or --dry-run to only look")
    if not click.confirm(output.clean(f"This will {act}. Go on?"), err=True):
        output.note("Nothing was done.")
        raise click.exceptions.Exit(output.NEEDS_USER)


def removal(pages: int) -> str:
    """Say what taking pages off the list does."""
    return f"remove {count(pages, 'page')} with all that is stored of {'it' if pages == 1 else 'them'}"


def count(number: int, noun: str) -> str:
    """Write a number with its noun: "1 page", "3 pages"."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"
