"""`tocsin diff`: what differs between two texts of a page, or between two files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from tocsin.cli import output
from tocsin.cli.arguments import parse_moment
from tocsin.cli.diff.version import Version
from tocsin.cli.formatting import json_time, show_time
from tocsin.cli.session import configuration, now, with_store
from tocsin.cli.sources import XHTML, is_xhtml_name, read_file
from tocsin.cli.watch.choosing import pages_named
from tocsin.errors import TooComplex, UsageError
from tocsin.spec.differences.compare import compare_texts, whole_lines
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import PageRow, SnapshotRow
    from tocsin.ports import Store
    from tocsin.spec.differences.compare import Difference

_MOST: Final = 10_000
"""So many texts are kept of a page at most."""
_NUMBER: Final = re.compile(r"[0-9]{1,5}")


class Kept(NamedTuple):
    """What is kept of a page: its texts, newest first, and those of them that are wanted, read."""

    page: PageRow
    rows: Sequence[SnapshotRow]
    versions: Sequence[Version]


@click.command("diff", epilog="Example: tocsin diff https://example.org/news --from 7d")
@click.argument("sources", nargs=-1, required=True, metavar="URL | OLD NEW")
@click.option("--from", "from_", metavar="TIME|N", help="The older text: a number of --list, or the one in force then.")
@click.option("--to", metavar="TIME|N", help="The newer text, named alike; by default the latest.")
@click.option("--words", "by", flag_value="words", default="words", help="Within lines, too: the default.")
@click.option("--lines", "by", flag_value="lines", help="Whole lines only.")
@click.option("--html", metavar="FILE", help="Write a page for a browser; - stands for standard output.")
@click.option("--list", "lists", is_flag=True, help="Instead, the texts that are kept of the page.")
@output.json_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    *,
    from_: str | None,
    to: str | None,
    by: Any,
    html: str | None,
    lists: bool,
) -> int:
    """Show what differs between the last two texts of a watched page, or between two HTML files.

    The main text is compared, a block a line. TIME is a date and time, or a duration ago such as 7d. The status is 1
    where there are no two texts to compare, with the reason on stderr.
    """
    if len(sources) > 2:  # noqa: PLR2004 - OLD and NEW
        raise UsageError("diff takes the URL of one watched page, or two files, OLD and NEW")
    if len(sources) == 2:  # noqa: PLR2004 - the same
        if from_ or to or lists:
            raise UsageError("--from, --to and --list are for watched pages: of two files both are named")
        versions: Sequence[Version] = [_read_file(name) for name in sources]
    else:
        found = with_store(ctx, lambda store: _read_kept(store, sources[0], (from_, to), lists=lists))
        if not found.versions:
            output.note(f"{found.page.url}: {_why_none(ctx, found)}")
            return output.DONE if lists else output.NEEDS_USER
        if lists:
            _tell_list(found.versions)
            return output.DONE
        versions = found.versions
    before, latest = versions
    difference = compare_texts(whole_lines(before.text), whole_lines(latest.text), by=by)
    _tell(before, latest, difference, html)
    return output.DONE


def _read_file(name: str) -> Version:
    from tocsin.spec.html.whole import parse_whole  # noqa: PLC0415 - kept texts need no parser
    from tocsin.spec.signals.content import read_content  # noqa: PLC0415 - the same

    if name.lower().startswith(("http://", "https://")):
        raise UsageError(f"{name}: of two sources both are files; name one watched URL, or save the page to a file")
    try:
        whole = parse_whole(read_file(name), XHTML if is_xhtml_name(name) else None)
    except TooComplex as exc:
        raise UsageError(f"{name}: {exc}") from exc
    if whole is None:
        raise UsageError(f"{name}: no HTML; name two pages that were saved")
    return Version(name, read_content(whole, "", "").text)


async def _read_kept(store: Store, url: str, wanted: tuple[str | None, str | None], *, lists: bool) -> Kept:
    (page,) = await pages_named(store, [url])
    rows = await store.snapshots(page.url, limit=_MOST)
    if not rows or (len(rows) == 1 and not lists):
        return Kept(page, rows, ())
    places = range(len(rows)) if lists else _choose(rows, *wanted)
    return Kept(page, rows, tuple([await _read_text(store, page.url, rows[place], place) for place in places]))


async def _read_text(store: Store, url: str, row: SnapshotRow, place: int) -> Version:
    packed = await store.snapshot_text(row.id)
    if packed is None:
        raise UsageError(f"{url}: its text {place + 1} was forgotten just now; call again")
    return Version(url, unpack_text(packed), place + 1, row.at, row.digest.hex())


def _choose(rows: Sequence[SnapshotRow], from_: str | None, to: str | None) -> tuple[int, int]:
    """Choose the older and the newer text by what the user says of them: places, 0 the latest."""
    latest = _place_of(rows, to, "--to") if to is not None else 0
    if from_ is not None:
        return _place_of(rows, from_, "--from"), latest
    if latest + 1 >= len(rows):
        raise UsageError(f"--to: {to!r} is the oldest text that is kept; name a later one, see --list")
    return latest + 1, latest


def _place_of(rows: Sequence[SnapshotRow], said: str, option: str) -> int:
    if _NUMBER.fullmatch(said):
        number = int(said)
        if not 1 <= number <= len(rows):
            raise UsageError(
                f"{option}: there is no text {number}; they are numbered from 1 to {len(rows)}, see --list"
            )
        return number - 1
    # Times are shown to the millisecond.
    at = parse_moment(said, now=now(), option=option) + 999
    for place, row in enumerate(rows):
        if row.at <= at:
            return place
    raise UsageError(
        f"{option}: {said!r} is before the oldest text that is kept, of {show_time(rows[-1].at)}: "
        f"name that with {option} {len(rows)}, see --list"
    )


def _why_none(ctx: click.Context, found: Kept) -> str:
    """Say why there are no two texts of a page."""
    page, rows, _ = found
    per_page = configuration(ctx).settings.snapshots.per_page
    if page.noindex:
        return "none of its text is kept: the page asks not to be indexed (noindex)"
    if per_page == 0 and not rows:
        return "none of its text is kept: snapshots.per_page is 0; set it to 2 or more"
    if rows and per_page == 1:
        return "only its latest text is kept: snapshots.per_page is 1; set it to 2 or more"
    if rows:
        return f"there is only one text of it, of {show_time(rows[0].at)}: it has not changed since; see --list"
    if page.stored_at is None:
        return "nothing of it is stored yet; check it with: tocsin check URL"
    return (
        "none of its text is kept yet: that begins when it is next read whole "
        '(never where it says noarchive, has mode "auto" or signals "none", or is no HTML)'
    )


def _tell(before: Version, latest: Version, difference: Difference, html: str | None) -> None:
    if html is not None:
        from tocsin.cli.diff.page import to_page  # noqa: PLC0415 - most want none

        _write(html, to_page(before, latest, difference))
    elif output.is_json():
        output.print_json(_to_record(before, latest, difference))
    else:
        from tocsin.cli.diff.lines import print_difference  # noqa: PLC0415 - JSON needs none of it

        print_difference(before, latest, difference)


def _write(name: str, page: str) -> None:
    try:
        with click.open_file(name, "wb") as file:
            file.write(page.encode())
    except OSError as exc:
        raise UsageError(f"{name}: {exc.strerror or exc}; name a file that can be written") from exc
    if name != "-":
        output.note(f"Written to {name}")


def _to_record(before: Version, latest: Version, difference: Difference) -> dict[str, Any]:
    return {
        "from": _version_record(before),
        "to": _version_record(latest),
        "by": difference.by,
        "changed": not difference.is_none,
        "runs": [{"kind": run.kind, "text": run.text} for run in difference.runs],
    }


def _version_record(version: Version) -> dict[str, Any]:
    return {
        "url" if version.number is not None else "file": version.name,
        "number": version.number,
        "at": json_time(version.at),
        "letters": len(version.text),
        "digest": version.digest,
    }


def _tell_list(versions: Sequence[Version]) -> None:
    if output.is_json():
        output.print_json(*map(_version_record, versions))
        return
    rows = [(version.number, show_time(version.at), len(version.text), version.digest) for version in versions]
    output.table(("number", "when", "letters", "digest"), rows, whole=("digest",))
