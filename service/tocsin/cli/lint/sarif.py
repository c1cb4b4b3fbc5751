"""Findings as SARIF, which editors and code hosts show beside the text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from tocsin import __version__
from tocsin.spec.lint.rules import AREAS, NOT_CHECKED, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.spec.html.findings import Finding

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_OF_URLS: Final = ":/?#[]@!$&'()*+,;=%"
"""What a URL may hold beside letters and digits; the rest of what a user typed is escaped."""

_INDEX: Final = {rule: index for index, rule in enumerate(RULES)}


def to_sarif(judged: Iterable[tuple[str, Sequence[Finding]]], refused: Sequence[str]) -> dict[str, Any]:
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
                "results": [_result(_uri(name), finding) for name, findings in judged for finding in findings],
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


def _result(uri: str, finding: Finding) -> dict[str, Any]:
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
