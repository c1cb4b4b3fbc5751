"""`tocsin stamp`: write a change's date into a page."""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from tocsin.cli import output
from tocsin.cli.files import XHTML, is_xhtml_name, read_file
from tocsin.errors import UsageError
from tocsin.spec.topper.stamp import stamp, stamped_granularity

# How a time is written at each rank of dates.granularity; a fraction is never needed.
_FORMATS = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%SZ")
_DAY = 2


@click.command("stamp", epilog="Example: tocsin stamp index.html --minor --at 2026-11-21")
@click.argument("file", metavar="FILE")
@click.option("--major", is_flag=True, help="The change is major.")
@click.option("--minor", is_flag=True, help="The change is minor.")
@click.option("--at", metavar="TIME", help="Time of the change: a date such as 2026-11-21; default: now.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and change nothing.")
@output.json_option
def command(*, file: str, major: bool, minor: bool, at: str | None, dry_run: bool) -> int:
    """Write the date of a change into FILE, and change nothing else.

    The default time is now, as precise as the dates already in the page, else to the day. With -, the page is read from
    standard input and written to standard output.
    """
    if major and minor:
        raise click.UsageError("--major and --minor exclude each other; give one of them")
    if not (major or minor):
        raise click.UsageError("give --major or --minor")
    kind = "major" if major else "minor"
    content_type = XHTML if is_xhtml_name(file) else None
    source = read_file(file)
    at = at or _now(stamped_granularity(source, major=major, content_type=content_type))
    stamped = stamp(source, major=major, at=at, content_type=content_type)
    if file == "-":
        sys.stdout.buffer.write(stamped)
        return output.DONE
    if stamped != source and not dry_run:
        _replace(Path(file), stamped)
    record = {"file": file, "field": f"topper-{kind}", "date": at, "changed": stamped != source}
    output.emit(record, lambda: _print(file, kind, at, is_changed=stamped != source, is_dry=dry_run))
    return output.DONE


def _now(rank: int | None) -> str:
    return datetime.now(UTC).strftime(_FORMATS[_DAY if rank is None else rank])


def _replace(path: Path, body: bytes) -> None:
    """Put new bytes in a file's place at once, keeping its mode: who reads it sees the old page or the new one."""
    target = path.resolve()
    try:
        mode = target.stat().st_mode
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as beside:
            beside.write(body)
        try:
            Path(beside.name).chmod(mode)
            Path(beside.name).replace(target)
        except OSError:
            Path(beside.name).unlink()
            raise
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror or exc}; the file is unchanged; make it writable") from exc


def _print(file: str, kind: str, at: str, *, is_changed: bool, is_dry: bool) -> None:
    if not is_changed:
        output.say(f"{file}: {at} is already there")
    elif is_dry:
        output.say(f"{file}: {at} would be written as a {kind} change")
    else:
        output.say(f"{file}: {at} written as a {kind} change", style="green")
