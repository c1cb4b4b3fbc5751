"""`tocsin demo`: the service at work beside a small site of its own."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tocsin.cli import output

if TYPE_CHECKING:
    from tocsin.demo.rows import DemoLine
    from tocsin.demo.show import Audience

INTERRUPTED = 130

_STYLES = {
    "major": "bold magenta",
    "minor": "yellow",
    "unreachable": "red",
    "failed": "red",
    "asked": "bold red",
    "opened": "red",
    "waiting": "red",
    "recovered": "green",
    "closed": "green",
    "first": "cyan",
    "accepted": "green",
    "unchanged": "dim",
}
_NARROWEST, _WIDEST = 40, 120
_INDENT = 23
# How often pages are checked: the pace of the story.
_FOR_PEOPLE_MS, _FOR_PROGRAMS_MS = 2000, 1300


@click.command("demo", epilog="Example: tocsin demo")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep store, configuration, log and alerts in this new folder.",
)
@output.json_option
def command(*, keep: Path | None) -> int:
    """See the service at work on a temporary store and a small demo site whose pages change.

    Each line shows a row of the store, with the rule of the awareness specification that decided. On a terminal the
    pages go on changing until Ctrl-C; otherwise the demo ends by itself, within two minutes.
    """
    audience: Audience = JsonAudience() if output.is_json() else PersonAudience()
    return asyncio.run(_play(audience, keep))


class JsonAudience:
    """A program: a line of JSON for each row."""

    def begin(self, *, folder: Path, pages: int, address: str) -> None:
        """Say it where it is not taken for a row."""
        output.note(f"tocsin demo: {pages} pages of the demo site; store, log and alerts in {folder}")
        output.note(f"tocsin demo: web pages at {address}")

    def head(self, title: str) -> None:
        """Each line carries its step."""

    def tell(self, line: DemoLine, step: str) -> None:
        """Print the row."""
        output.print_json(line.to_json(step))


class PersonAudience:
    """A person at a terminal: parts with headings, a paragraph for each row."""

    def __init__(self) -> None:
        self._parts = 0

    def begin(self, *, folder: Path, pages: int, address: str) -> None:
        """Say what is to be seen."""
        self._print(
            f"The real service watches {pages} pages of a small site of its own, which change by themselves. "
            f"Each line below is a row of its store: time, page, rule of the specification, and what happened."
        )
        self._print(f"Its web pages, on this machine: {address}")
        self._print(f"Store, configuration and log are in {folder}. Ctrl-C ends it.", style="dim")

    def head(self, title: str) -> None:
        """Begin a part."""
        self._parts += 1
        output.say()
        self._print(f"{self._parts}. {title}", style="bold")

    def tell(self, line: DemoLine, step: str) -> None:  # noqa: ARG002 - its heading stands above
        """Print the row, its paragraph hanging under its sentence."""
        at = datetime.fromtimestamp(line.at / 1_000_000, UTC).astimezone()
        start = f"{at:%H:%M:%S} {line.path:<9.9} {line.rule:<3} "
        self._print(start + line.sentence, style=_STYLES.get(line.outcome), indent=_INDENT)

    def _print(self, text: str, *, style: str | None = None, indent: int = 0) -> None:
        width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
        for row in textwrap.wrap(text, width - 1, subsequent_indent=" " * indent, break_on_hyphens=False):
            output.say(row, style=style)


async def _play(audience: Audience, keep: Path | None) -> int:
    """Play until the end, or until a signal: after Ctrl-C the status is 130, after the others 0."""
    from tocsin.demo.show import play  # noqa: PLC0415 - the help needs no service

    received: list[int] = []
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        # Clearing away is bounded, so a second signal need not hurry it.
        if not received and task is not None:
            task.cancel()
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        is_watched = sys.stdout.isatty()
        await play(audience, keep=keep, endless=is_watched, every_ms=_FOR_PEOPLE_MS if is_watched else _FOR_PROGRAMS_MS)
    except asyncio.CancelledError:
        if not received:
            raise
    return INTERRUPTED if received[:1] == [signal.SIGINT] else output.DONE
