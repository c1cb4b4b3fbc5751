"""`tocsin lint`: the rules that a page breaks, as text, JSON or SARIF."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import click

from tocsin import __version__
from tocsin.cli import output
from tocsin.cli.files import Source, read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.html.page import why_no_page
from tocsin.spec.html.positions import FindingLevel, PageFinding
from tocsin.spec.lint.check import AREAS, NOT_CHECKED, RULES, lint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.spec.html.positions import PageFinding


SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

# What a URL may hold beside letters and digits; the rest of what a user typed is escaped.
_OF_URLS: Final = ":/?#[]@!$&'()*+,;=%"

_INDEX: Final = {rule: index for index, rule in enumerate(RULES)}


def to_sarif(judged: Iterable[tuple[str, Sequence[PageFinding]]], refused: Sequence[str]) -> dict[str, Any]:
    """Give one SARIF log with one run.

    judged   each source as the user named it, with its findings
    refused  why other sources could not be judged, in words
    Source   SARIF 2.1.0; columns are counted in code points
    """
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver()},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not refused,
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": reason}} for reason in refused
                        ],
                    }
                ],
                "results": [_sarif_result(_uri(name), finding) for name, findings in judged for finding in findings],
                "properties": {
                    "areas": list(AREAS),
                    "not_checked": NOT_CHECKED,
                    "scripted_check": "not performed",
                },
            }
        ],
    }


def _driver() -> dict[str, Any]:
    return {
        "name": "tocsin lint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": rule.promise},
                "fullDescription": {"text": f"{rule.promise} {rule.help}"},
                "help": {"text": rule.help},
                "defaultConfiguration": {"level": rule.level.value},
                "properties": {"source": rule.source},
            }
            for name, rule in RULES.items()
        ],
    }


def _sarif_result(uri: str, finding: PageFinding) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.level.value,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
    }


def _uri(name: str) -> str:
    """Name a source by a URI: a file by its path, relative to where the program runs if the user gave it so."""
    if name.lower().startswith(("http://", "https://")):
        return quote(name, safe=_OF_URLS)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(Path(name)))


_STYLES = {FindingLevel.ERROR: "red", FindingLevel.WARNING: "yellow"}
_TEXT, _JSON, _SARIF = _FORMATS = ("text", "json", "sarif")


@click.command("lint", epilog="Example: tocsin lint index.html about.html")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@click.option(
    "--format",
    "chosen",
    type=click.Choice(_FORMATS),
    help="Text, one JSON object per line, or one SARIF log. Default: text on a terminal, else JSON.",
)
@output.json_option
def command(sources: tuple[str, ...], chosen: str | None) -> int:
    """List every rule that a page breaks, with line, column and correction.

    Checked are topper elements, other meta elements, base, identifiers, links and their types, mset, dates and times,
    and microdata with its contacts, events and works. Scripts are not run. An error breaks a requirement on authors; a
    warning is about what is unwise, obsolete, or has no effect.

    The exit status is 1 if there is an error, 0 if there are only warnings, 2 if a source is not a page. - is standard
    input.
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
        output.note(f"Checked: {', '.join(AREAS)}. Not checked: {NOT_CHECKED}.")
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

    def __iter__(self) -> Iterator[tuple[str, tuple[PageFinding, ...]]]:
        """Yield each source that is a page, with its findings; the others are reported on stderr."""
        for name in self._sources:
            try:
                source = read_source(name)
                findings = _judge(source)
            except TocsinError as exc:
                self.refused.append(str(exc))
                self.status = max(self.status, output.fail(exc))
                continue
            if any(finding.level is FindingLevel.ERROR for finding in findings):
                self.status = max(self.status, output.NEEDS_USER)
            yield source.name, findings


def _judge(source: Source) -> tuple[PageFinding, ...]:
    reason = why_no_page(source.body, source.content_type)
    if reason is not None:
        raise UsageError(f"{source.name}: {reason}; only a page can be checked")
    return lint(source.body, source.content_type)


def _record(name: str, finding: PageFinding) -> dict[str, object]:
    return {
        "file": name,
        "line": finding.line,
        "column": finding.column,
        "rule": finding.rule,
        "level": finding.level.value,
        "message": finding.message,
    }


def _print(name: str, findings: Sequence[PageFinding]) -> None:
    for finding in findings:
        place = f"{name}:{finding.line}:{finding.column}"
        line = f"{place}: {finding.level.value} {finding.rule}: {finding.message}"
        output.say(line, style=_STYLES[finding.level])
    if not findings:
        output.say(f"{name}: nothing to correct", style="green")
