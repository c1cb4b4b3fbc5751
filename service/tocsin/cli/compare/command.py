"""`tocsin compare`: the change between two versions of a page, judged by the twelve fields."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tocsin.cli import output
from tocsin.cli.files import read_source
from tocsin.configuration.convert import parse_span
from tocsin.errors import UsageError
from tocsin.settings import PageSettings
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.compare import DEFAULT_THRESHOLDS, Comparison, Tell, Thresholds, compare, is_awareness_due
from tocsin.spec.topper.state import read_state

if TYPE_CHECKING:
    from tocsin.spec.topper.state import PageState

EXAMPLE = "Example: tocsin compare old.html new.html --elapsed 86400"
_SECONDS = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?", re.ASCII)


class DurationType(click.ParamType[timedelta]):
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
            self.fail(f"{output.clean(value)!r} is not a duration; write seconds, or 10s, 5m, 24h, 80d", param, ctx)


@click.command("compare", epilog=EXAMPLE)
@click.argument("old", metavar="[OLD", required=False)
@click.argument("new", metavar="NEW]", required=False)
@click.option("--elapsed", type=DurationType(), default="24h", show_default=True, help="Time between the two versions.")
@click.option(
    "--durational-threshold",
    type=DurationType(),
    default="80d",
    show_default=True,
    help="After this time, two equal states are a major change.",
)
@click.option(
    "--minor-threshold",
    type=click.IntRange(min=1),
    default=DEFAULT_THRESHOLDS.minor,
    show_default=True,
    help="This number of new minor changes is a major change.",
)
@click.option(
    "--refresh-cap",
    type=DurationType(),
    default="7d",
    show_default=True,
    help="Upper limit for a page's refresh interval.",
)
@click.option(
    "--pairs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Judge each pair of a folder, including signals and content, and count correct results.",
)
@click.option(
    "--sequences",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Judge sequences of versions of pages, with all that checks learn from one to the next, and count alerts.",
)
@click.option("--look-at", default="", metavar="CSS", help="With --pairs: compare only these elements.")
@click.option("--ignore", default="", metavar="CSS", help="With --pairs: leave these elements out.")
@click.option(
    "--rule", "rules", multiple=True, help='With --pairs: a rule for signals, such as "content by 30 %: major".'
)
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
    sequences: Path | None,
    look_at: str,
    ignore: str,
    rules: tuple[str, ...],
) -> int:
    """Judge the change from OLD to NEW (files or URLs) by their twelve fields alone.

    The exit status is 0 for every outcome.

    With --pairs, each pair of a folder is judged as by a check that knows only the older version: twelve fields, other
    signals, content, suspects. A pair is a folder with old.html and new.html. Its label (edit, noise or block) comes
    from pairs.csv (name, label, kind, size, site, received_before, received), or from the name of the folder above.
    The exit status is 1 if more than 1 % of the noise is reported, or more than 1 % of the edits of a sentence or more
    is missed.

    With --sequences, the versions of each page are judged in their order, as by the checks of a running service that
    learns which places of a page are noise. FOLDER holds SITE/N/00.html, SITE/N/01.html, …, and sequences.csv (site,
    sequence, version, received, label), which says when each was received; without it, they are a day apart.
    """
    thresholds = Thresholds(durational_threshold, minor_threshold, refresh_cap)
    if pairs is not None:
        if old is not None or sequences is not None:
            raise UsageError("--pairs does not go with OLD and NEW; name a folder of pairs, or two pages")
        from tocsin.cli.compare.pairs import measure, to_ways  # noqa: PLC0415 - two pages need none of it

        return measure(pairs, to_ways(look_at, ignore, rules, elapsed, thresholds))
    if sequences is not None:
        if old is not None or look_at or ignore or rules:
            raise UsageError("--sequences does not go with OLD and NEW, --look-at, --ignore or --rule; name a folder")
        from tocsin.cli.compare.sequences import measure as measure_sequences  # noqa: PLC0415 - as above

        return measure_sequences(sequences, PageSettings())
    if old is None or new is None:
        raise UsageError("name two pages, OLD and NEW, or a folder of pairs with --pairs")
    if look_at or ignore or rules:
        raise UsageError("--look-at, --ignore and --rule need --pairs: two pages are compared by their twelve fields")
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
        told = "every reader"
    else:
        told = "readers of any change" if record["awareness"]["any"] else "no reader"
    rows = (
        ("outcome", found.outcome.value),
        ("reason", record["reason"]),
        ("rule", found.rule),
        ("changed", ", ".join(found.changed) or None),
        ("new minor changes", found.minor_count),
        ("alerted", told),
    )
    output.table(("comparison", "result"), rows)
    if not found.changed:
        output.say("Only the twelve fields were compared; for the text: tocsin diff OLD NEW")
