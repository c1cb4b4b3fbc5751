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
    Command(
        WATCH, "watch", "tocsin.cli.watch.command", "the list of pages: add, remove, list, set, import, export, clear"
    ),
    Command(WATCH, "plan", "tocsin.cli.declared.plan", "what a declared list of pages (TOML, YAML) would change"),
    Command(WATCH, "apply", "tocsin.cli.declared.apply", "make the list of pages what such a file says"),
    Command(WATCH, "check", "tocsin.cli.check.command", "check pages once, now"),
    Command(WATCH, "run", "tocsin.cli.run", "the service: check pages when due, deliver alerts, serve web pages"),
    Command(WATCH, "demo", "tocsin.cli.demo", "the service at work on a small site of its own"),
    Command(HEAR, "history", "tocsin.cli.history", "what was stored of a page, and what comparing it found"),
    Command(HEAR, "signals", "tocsin.cli.signals.command", "what a page says of its changes, and what is muted there"),
    Command(HEAR, "diff", "tocsin.cli.diff.command", "what differs between texts of a page, or between two files"),
    Command(HEAR, "attention", "tocsin.cli.attention.command", "pages that could not be received, and your answers"),
    Command(HEAR, "alerts", "tocsin.cli.alerts.command", "what was told, and to whom"),
    Command(HEAR, "channel", "tocsin.cli.channel.command", "who is told: list, test, secret"),
    Command(CARE, "doctor", "tocsin.cli.doctor.command", "what is wrong with this installation, and the mend"),
    Command(CARE, "token", "tocsin.cli.token", "who may use the service over HTTP: add, list, revoke"),
    Command(CARE, "healthcheck", "tocsin.cli.healthcheck", "whether the service does its work, for containers"),
    Command(CARE, "store", "tocsin.cli.store.command", "migrate, back up, restore, check, prune the store"),
    Command(CARE, "table", "tocsin.cli.table.command", "the spec's plain-text table of states"),
    Command(CARE, "completion", "tocsin.cli.completion", "let a shell complete commands and options"),
    Command(WRITE, "state", "tocsin.cli.state", "what a page's state would be"),
    Command(WRITE, "compare", "tocsin.cli.compare.command", "what a reader of two versions would be told"),
    Command(WRITE, "lint", "tocsin.cli.lint.command", "the rules that a page breaks, with line and column"),
    Command(WRITE, "extract", "tocsin.cli.extract.command", "what else a page says; its events and contacts as files"),
    Command(WRITE, "stamp", "tocsin.cli.stamp", "write a change's date into a page"),
)
"""In the order of the help, within each section."""
