"""`tocsin compare`: what a reader of two versions of a page would be told."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tocsin.cli import output
from tocsin.cli.files import read_source
from tocsin.configuration.spans import parse_span
from tocsin.errors import UsageError
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.compare import DEFAULT_THRESHOLDS, Comparison, Tell, Thresholds, compare, is_awareness_due
from tocsin.spec.topper.state import read_state

if TYPE_CHECKING:
    from tocsin.spec.topper.state import PageState

EXAMPLE = "Example: tocsin compare old.html new.html --elapsed 86400"
_SECONDS = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?", re.ASCII)


class Span(click.ParamType[timedelta]):
    """Seconds, or a duration such as 24h or 80d."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read the value; click reports what it cannot read."""
        if isinstance(value, timedelta):
            return value
        if _SECONDS.fullmatch(value):
            return timedelta(seconds=float(value))
        try:
            return parse_span(value)
        except ValueError:
            self.fail(f"{output.clean(value)!r} is no duration; write seconds, or 10s, 5m, 24h, 80d", param, ctx)


@click.command("compare", epilog=EXAMPLE)
@click.argument("old", metavar="[OLD", required=False)
@click.argument("new", metavar="NEW]", required=False)
@click.option("--elapsed", type=Span(), default="24h", show_default=True, help="Time between the two storings.")
@click.option(
    "--durational-threshold",
    type=Span(),
    default="80d",
    show_default=True,
    help="From this time on, two equal states are a major change.",
)
@click.option(
    "--minor-threshold",
    type=click.IntRange(min=1),
    default=DEFAULT_THRESHOLDS.minor,
    show_default=True,
    help="From this number of new minor changes on, one more is major.",
)
@click.option("--refresh-cap", type=Span(), default="7d", show_default=True, help="No refresh counts for longer.")
@click.option(
    "--pairs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Judge each pair of a folder, signals and content too, and count the right ones.",
)
@click.option("--look-at", default="", metavar="CSS", help="Of pairs: the content is what these elements hold.")
@click.option("--ignore", default="", metavar="CSS", help="Of pairs: but for what these elements hold.")
@click.option("--rule", "rules", multiple=True, help='Of pairs: a rule for signals, such as "content by 30 %: major".')
@output.json_option
def command(
    *,
    old: str | None,
    new: str | None,
    elapsed: timedelta,
    durational_threshold: timedelta,
    minor_threshold: int,
    refresh_cap: timedelta,
    pairs: Path | None,
    look_at: str,
    ignore: str,
    rules: tuple[str, ...],
) -> int:
    """Say what a reader would be told of the change from OLD to NEW, files or URLs, by their twelve fields alone.

    The status is 0 whatever the outcome is.

    With --pairs, each pair of a folder is judged as a check would that knows nothing of the page but its older version:
    the twelve fields, the other signals, the content. A pair is a folder with old.html and new.html; whether it is an
    edit or noise says pairs.csv (name, label, kind, size), or the folder above, called edit or noise. The status is 1
    where more than 1 % of the noise is told, or more than 1 % of the edits of a sentence or more is not.
    """
    thresholds = Thresholds(durational_threshold, minor_threshold, refresh_cap)
    if pairs is not None:
        if old is not None:
            raise UsageError("--pairs takes no OLD and NEW: name a folder of pairs, or two pages")
        from tocsin.cli.compare.pairs import measure, to_ways  # noqa: PLC0415 - two pages need none of it

        return measure(pairs, to_ways(look_at, ignore, rules, elapsed, thresholds))
    if old is None or new is None:
        raise UsageError("name two pages, OLD and NEW, or a folder of pairs with --pairs")
    if look_at or ignore or rules:
        raise UsageError(
            "--look-at, --ignore and --rule are for --pairs: two pages are compared by their twelve fields"
        )
    found = compare(_state_of(old), _state_of(new), elapsed, thresholds)
    record = {
        "outcome": found.outcome.value,
        "changed": list(found.changed),
        "reason": None if found.reason is None else found.reason.value,
        "minor_count": found.minor_count,
        "awareness": {tell.value: is_awareness_due(found.outcome, tell) for tell in (Tell.ANY, Tell.MAJOR)},
    }
    output.emit(record, lambda: _print(found, record))
    return output.DONE


def _state_of(name: str) -> PageState:
    source = read_source(name)
    reading = read_page(source.body, source.content_type)
    for problem in reading.problems:
        output.note(f"{name}: {problem}")
    return read_state(reading.metas)


def _print(found: Comparison, record: dict[str, Any]) -> None:
    if record["awareness"]["major"]:
        told = "everyone"
    else:
        told = "who wants to know of any change" if record["awareness"]["any"] else "nobody"
    rows = (
        ("outcome", found.outcome.value),
        ("reason", record["reason"]),
        ("rule", found.rule),
        ("changed", ", ".join(found.changed) or None),
        ("new minor changes", found.minor_count),
        ("told", told),
    )
    output.table(("", ""), rows)
    if not found.changed:
        output.say("By the twelve fields alone; what differs in their text, shows: tocsin diff OLD NEW")
