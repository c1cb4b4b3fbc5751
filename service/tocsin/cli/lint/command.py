"""`tocsin lint`: what the author of a page should mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.lint.sarif import to_sarif
from tocsin.cli.sources import Source, read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.html.findings import Finding, Level
from tocsin.spec.lint.check import lint
from tocsin.spec.lint.rules import AREAS, NOT_CHECKED
from tocsin.spec.topper.authored import why_no_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_STYLES = {Level.ERROR: "red", Level.WARNING: "yellow"}
_TEXT, _JSON, _SARIF = _FORMATS = ("text", "json", "sarif")


@click.command("lint", epilog="Example: tocsin lint index.html about.html")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@click.option(
    "--format",
    "chosen",
    type=click.Choice(_FORMATS),
    help="Text for people, a JSON object a line, or one SARIF log. By default text on a terminal, else JSON.",
)
@output.json_option
def command(sources: tuple[str, ...], chosen: str | None) -> int:
    """Find every rule that a page breaks, with line and column, and the mend.

    Looked at are topper elements, other meta elements, base, identifiers, links and their types, mset, dates and
    times, and microdata with its contacts, events and works; not how the page would be once scripts have run. An
    error breaks what a text demands of authors, a warning names what is unwise, obsolete, or has no effect.

    The status is 1 if there is an error, 0 if there are at most warnings, 2 if a source is no page. - stands for
    standard input.
    """
    form = chosen or (_JSON if output.is_json() else _TEXT)
    judging = _Judging(sources)
    if form == _SARIF:
        judged = list(judging)
        output.print_json(to_sarif(judged, judging.refused))
        return judging.status
    for name, findings in judging:
        if form == _JSON:
            for finding in findings:
                output.print_json(_record(name, finding))
        else:
            _print(name, findings)
    if form == _TEXT and len(judging.refused) < len(sources):
        output.note(f"Looked at: {', '.join(AREAS)}. Not looked at: {NOT_CHECKED}.")
    return judging.status


class _Judging:
    """Judges sources one by one, and remembers what became of them.

    status   the exit status so far
    refused  why some of them could not be judged
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources
        self.status = output.DONE
        self.refused: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, tuple[Finding, ...]]]:
        """Give each source that is a page, with its findings; the others are told on stderr."""
        for name in self._sources:
            try:
                source = read_source(name)
                findings = _judge(source)
            except TocsinError as exc:
                self.refused.append(str(exc))
                self.status = max(self.status, output.fail(exc))
                continue
            if any(finding.level is Level.ERROR for finding in findings):
                self.status = max(self.status, output.NEEDS_USER)
            yield source.name, findings


def _judge(source: Source) -> tuple[Finding, ...]:
    reason = why_no_page(source.body, source.content_type)
    if reason is not None:
        raise UsageError(f"{source.name}: {reason}; only a page can be judged")
    return lint(source.body, source.content_type)


def _record(name: str, finding: Finding) -> dict[str, object]:
    return {
        "file": name,
        "line": finding.line,
        "column": finding.column,
        "rule": finding.rule,
        "level": finding.level.value,
        "message": finding.message,
    }


def _print(name: str, findings: Sequence[Finding]) -> None:
    for finding in findings:
        place = f"{name}:{finding.line}:{finding.column}"
        line = f"{place}: {finding.level.value} {finding.rule}: {finding.message}"
        output.say(line, style=_STYLES[finding.level])
    if not findings:
        output.say(f"{name}: nothing to mend", style="green")
