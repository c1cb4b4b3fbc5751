"""Every command there is: its name, where it lives, and what it does, in one line."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command as the help shows it; its module is imported only when it is called.

    module  holds the click command as `command`
    """

    section: str
    name: str
    module: str
    help: str


WATCH, HEAR, WRITE, CARE = SECTIONS = ("Watch pages", "Hear of changes", "Write pages", "Care for the installation")

COMMANDS: tuple[Command, ...] = (
    Command(CARE, "table", "tocsin.cli.table", "the spec's plain-text table of states"),
    Command(WRITE, "state", "tocsin.cli.state", "what a page's state would be"),
    Command(WRITE, "compare", "tocsin.cli.compare", "what a reader of two versions would be told"),
    Command(WRITE, "lint", "tocsin.cli.lint", "the rules that a page breaks, with line and column"),
    Command(WRITE, "stamp", "tocsin.cli.stamp", "write a change's date into a page"),
)
"""In the order of the help, within each section."""
