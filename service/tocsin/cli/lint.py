"""`tocsin lint`: the rules of the awareness specification that a page breaks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.sources import read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.html.findings import Finding, Level
from tocsin.spec.lint.check import lint
from tocsin.spec.topper.authored import why_no_page

if TYPE_CHECKING:
    from collections.abc import Mapping

_STYLES = {Level.ERROR: "red", Level.WARNING: "yellow"}


@click.command("lint", epilog="Example: tocsin lint index.html about.html")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@output.json_option
def command(sources: tuple[str, ...]) -> int:
    """Find every rule that a page's topper elements break, with line and column.

    The status is 1 if there is an error, 0 if there are at most warnings, 2 if a source is no page. - stands for
    standard input.
    """
    status = output.DONE
    for name in sources:
        try:
            source = read_source(name)
            reason = why_no_page(source.body, source.content_type)
            if reason is not None:
                raise UsageError(f"{name}: {reason}; only a page can be judged")
            findings = lint(source.body, source.content_type)
        except TocsinError as exc:
            status = max(status, output.fail(exc))
            continue
        for finding in findings:
            record = _record(name, finding)
            output.emit(record, partial(_print, record, _STYLES[finding.level]))
        if not findings and not output.is_json():
            output.say(f"{name}: nothing to mend", style="green")
        if any(finding.level is Level.ERROR for finding in findings):
            status = max(status, output.NEEDS_USER)
    return status


def _record(name: str, finding: Finding) -> dict[str, object]:
    return {
        "file": name,
        "line": finding.line,
        "column": finding.column,
        "rule": finding.rule,
        "level": finding.level.value,
        "message": finding.message,
    }


def _print(record: Mapping[str, object], style: str) -> None:
    place = f"{record['file']}:{record['line']}:{record['column']}"
    output.say(f"{place}: {record['level']} {record['rule']}: {record['message']}", style=style)
