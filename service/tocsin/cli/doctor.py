"""`tocsin doctor`: what is wrong with this installation, and the mend; and which settings are in force."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tocsin.cli import output
from tocsin.cli.asking import count
from tocsin.cli.examination import Finding, examine
from tocsin.cli.session import configuration, now
from tocsin.configuration import Loaded, mask
from tocsin.configuration.convert import to_json
from tocsin.configuration.tree import dotted, walk


@click.command("doctor", epilog="Example: tocsin doctor")
@click.option("--settings/--no-settings", "with_settings", default=True, help="Show the settings in force.")
@output.json_option
@click.pass_context
def command(ctx: click.Context, *, with_settings: bool) -> int:
    """Say what is wrong with this installation, and the mend; and show the settings in force with their origins.

    Secrets are masked. Exit status 1 if anything is wrong.
    """
    loaded = configuration(ctx)
    if with_settings:
        print_settings(loaded)
    findings = examine(loaded, now())
    wrong = [finding for finding in findings if finding.is_wrong]
    for finding in findings:
        record = {"finding": finding.what, "mend": finding.mend, "wrong": finding.is_wrong}
        output.emit(record, partial(_print, finding))
    if not wrong and not output.is_json():
        output.say("Nothing is wrong.", style="green")
    if wrong:
        output.note(f"{count(len(wrong), 'finding')}.")
    return output.NEEDS_USER if wrong else output.DONE


def print_settings(loaded: Loaded) -> None:
    """Show every setting in force with where it came from; secrets are masked."""
    rows = [(dotted(path), to_json(path, mask(path, value))) for path, value in walk(loaded.settings)]
    if output.is_json():
        for key, value in rows:
            output.print_json({"setting": key, "value": value, "origin": loaded.origins.get(key, "default")})
        return
    shown = [(key, _shown(value), loaded.origins.get(key, "default")) for key, value in rows]
    output.table(("setting", "value", "from"), shown, title=f"Configuration: {loaded.file or 'no file'}")


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print(finding: Finding) -> None:
    output.say(finding.what, style="bold red" if finding.is_wrong else None)
    if finding.mend:
        output.say(f"    {finding.mend}")
