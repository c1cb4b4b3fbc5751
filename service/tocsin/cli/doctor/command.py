"""`tocsin doctor`: what is wrong with this installation, and the mend; and which settings are in force."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
import msgspec

from tocsin.cli import output
from tocsin.cli.doctor.examination import Examination, examine
from tocsin.cli.formatting import count
from tocsin.cli.session import configuration, now
from tocsin.configuration import Loaded, mask, resolve_page_origins, resolve_readable
from tocsin.configuration.convert import to_json
from tocsin.configuration.tree import dotted, walk
from tocsin.model.records.service import Setting

if TYPE_CHECKING:
    from tocsin.cli.doctor import Diagnosis


@click.command("doctor", epilog="Example: tocsin doctor")
@click.option("--settings/--no-settings", "with_settings", default=True, help="Show the settings in force.")
@click.option("--thorough", is_flag=True, help="Check a large store for damage too, as tocsin store check does.")
@output.json_option
@click.pass_context
def command(ctx: click.Context, *, with_settings: bool, thorough: bool) -> int:
    """Find problems of this installation and say how to fix them; show the settings in force and their origin.

    A store of up to 64 MB is also checked for damage; a larger one only with --thorough.

    Secrets are masked. Exit status 1 if anything is wrong.
    """
    loaded = configuration(ctx)
    examination = examine(loaded, now(), thorough=thorough)
    if with_settings:
        _print_settings(loaded, examination)
    wrong = [finding for finding in examination.findings if finding.is_wrong]
    for finding in examination.findings:
        record = {"finding": finding.what, "mend": finding.mend, "wrong": finding.is_wrong}
        output.emit(record, partial(_print, finding))
    if not wrong and not output.is_json():
        output.say("Nothing is wrong.", style="green")
    if wrong:
        output.note(f"{count(len(wrong), 'finding')}.")
    return output.NEEDS_USER if wrong else output.DONE


def _print_settings(loaded: Loaded, examination: Examination) -> None:
    """Show every setting in force with where it came from; what is set at run time wins, and secrets are masked."""
    pages = resolve_readable(loaded.settings.pages, examination.for_all, {}, None).settings
    page_origins = resolve_page_origins(loaded.origins, examination.for_all, {}, None)
    origins = {**loaded.origins, **{f"pages.{key}": origin for key, origin in page_origins.items()}}
    settings = msgspec.structs.replace(loaded.settings, pages=pages)
    rows = [
        (dotted(path), to_json(path, mask(path, value)), origins.get(dotted(path), "default"))
        for path, value in walk(settings)
    ]
    for group, given in examination.groups.items():
        rows += [(f"pages.{key}", mask(("pages", key), value), f"group {group}") for key, value in given.items()]
    if output.is_json():
        for key, value, origin in rows:
            output.print_json(Setting(key=key, value=value, origin=origin))
        return
    shown = [(key, _shown(value), origin) for key, value, origin in rows]
    output.table(("setting", "value", "from"), shown, title=f"Configuration: {loaded.file or 'no file'}")


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print(finding: Diagnosis) -> None:
    output.say(finding.what, style="bold red" if finding.is_wrong else None)
    if finding.mend:
        output.say(f"    {finding.mend}")
