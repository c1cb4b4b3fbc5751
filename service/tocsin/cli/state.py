"""`tocsin state`: what a page's state would be."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tocsin.cli import output
from tocsin.cli.files import Source, read_source
from tocsin.errors import TocsinError
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import read_dates, read_state

EXAMPLE = "Example: tocsin state index.html https://example.org/"


@click.command("state", epilog=EXAMPLE)
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@output.json_option
def command(sources: tuple[str, ...]) -> int:
    """Show a page's state: the twelve fields, its dates, and whether topper elements ask to alert readers.

    No store is changed. - is standard input.
    """
    status = output.DONE
    for name in sources:
        try:
            record = describe(read_source(name))
        except TocsinError as exc:
            status = max(status, output.fail(exc))
        else:
            output.emit(record, partial(_print, record))
    return status


def describe(source: Source) -> dict[str, Any]:
    """Return a page's state as `tocsin state --json` prints it.

    Raises TooComplex for a page that no parser may be given.
    """
    reading = read_page(source.body, source.content_type)
    state = read_state(reading.metas)
    dates = read_dates(state)
    return {
        "url": source.name,
        "encoding": reading.encoding,
        "fields": state.to_dict(),
        "subject": state.is_subject,
        "dates": {"major": list(dates.major), "minor": list(dates.minor)},
        "problems": list(reading.problems),
    }


def _print(record: dict[str, Any]) -> None:
    title = f"{record['url']} ({record['encoding'] or 'not parsed'})"
    output.table(("field", "value"), record["fields"].items(), title=title)
    declares = "It declares" if record["subject"] else "It does not declare"
    output.say(f"{declares} that its readers are to be alerted of changes (topper elements).")
    for problem in record["problems"]:
        output.say(f"Problem: {problem}", style="yellow")
