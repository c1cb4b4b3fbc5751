"""`tocsin diff`: what differs between two texts of a page, or between two files."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.arguments import parse_moment
from tocsin.cli.files import XHTML, is_xhtml_name, read_file
from tocsin.cli.formatting import json_time, show_time
from tocsin.cli.selection import pages_named
from tocsin.cli.session import configuration, now, with_store
from tocsin.errors import TooComplex, UsageError
from tocsin.model.records.history import FileDifference, SavedText, TextDifference, text_of
from tocsin.spec.differences.compare import DiffGap, compare_texts, folded, to_rows, whole_lines
from tocsin.spec.infrastructure.unsafe import safe_text
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.model import Instant, PageRow, SnapshotRow
    from tocsin.ports import Store
    from tocsin.spec.differences.compare import Difference, DiffRow, Kind


class TextVersion(Struct, frozen=True):
    """One of two texts that are compared.

    name    the page's URL, or the file
    number  of the stored text, 1 the latest
    row     as it is stored; None for a file
    """

    name: str
    text: str
    number: int = 0
    row: SnapshotRow | None = None

    @property
    def at(self) -> Instant | None:
        """When the page had this text; None for a file."""
        return None if self.row is None else self.row.at


# Types of saved files that are not HTML, by the end of their names.
_TYPES: Final = {".json": "application/json", ".txt": "text/plain", ".csv": "text/csv", ".md": "text/markdown"}
_STYLES: Final[Mapping[Kind, str]] = {"same": "", "removed": "red", "added": "green"}
_MARKS: Final[Mapping[Kind | None, str]] = {"same": "  ", "removed": "- ", "added": "+ ", None: "~ "}
_WITHIN: Final[Mapping[Kind, str]] = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def print_difference(before: TextVersion, latest: TextVersion, difference: Difference) -> None:
    """Print what differs: lines with -, + or, where they changed within, ~ and [-removed-]{+added+}."""
    output.say(f"--- {name_of(before)}", style="red", whole=True)
    output.say(f"+++ {name_of(latest)}", style="green", whole=True)
    if difference.is_none:
        output.say("No difference")
        return
    for item in folded(to_rows(difference)):
        if isinstance(item, DiffGap):
            output.say(f"… {len(item.rows)} lines unchanged", style="dim")
        else:
            output.say_pieces(_mark_of(item), _pieces(item))


def name_of(version: TextVersion) -> str:
    """Name a text: what it is of, and when it was so."""
    when = show_time(version.at)
    # As `diff -u` writes it, so that tools that read its output find the name.
    return version.name if when is None else f"{version.name}  {when}"


def _mark_of(row: DiffRow) -> tuple[str, str]:
    return _MARKS[row.kind], _STYLES[row.kind] if row.kind is not None else ""


def _pieces(row: DiffRow) -> Iterator[tuple[str, str]]:
    for kind, text in row.pieces:
        # Marks within a line only: a whole line has its sign, and colours may be switched off.
        yield (_WITHIN[kind].format(text) if row.kind is None else text), _STYLES[kind]


_ELEMENTS: Final[Mapping[Kind, str]] = {"removed": "del", "added": "ins"}

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d1d1f; --quiet: #5f6368; --rule: #d8dadd;
  --gone: #fbe0dd; --gone-ink: #8c1d18; --come: #d9f2df; --come-ink: #0d5626; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #e6e6e6; --quiet: #a0a4a9; --rule: #3a3e43;
    --gone: #4a1d1b; --gone-ink: #ffb4ab; --come: #123a20; --come-ink: #9be6b0; } }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.15rem; margin: 0 0 .5rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .8rem; margin: 0 0 1.5rem; color: var(--quiet); }
dd { margin: 0; }
p { margin: 0; padding: .2rem .6rem; white-space: pre-wrap; min-height: 1.55em;
  border-inline-start: 3px solid transparent; }
p.removed { border-color: var(--gone-ink); background: var(--gone); }
p.added { border-color: var(--come-ink); background: var(--come); }
p.removed::before { content: "\\2212\\a0"; } p.added::before { content: "+\\a0"; }
p.within { border-color: var(--quiet); }
del { background: var(--gone); color: var(--gone-ink); text-decoration: line-through; }
ins { background: var(--come); color: var(--come-ink); text-decoration: underline; }
p.removed del, p.added ins { text-decoration: none; }
summary { padding: .2rem .6rem; color: var(--quiet); cursor: pointer; }
details { border-block: 1px solid var(--rule); margin: .4rem 0; }
""".strip()

_POLICY: Final = (
    # The file is opened from a disk, where no server sends a policy: it brings its own, which allows this style
    # alone.
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow, noarchive">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1 dir="auto">{title}</h1>
<dl><dt>from</dt><dd dir="auto">{before}</dd><dt>to</dt><dd dir="auto">{latest}</dd><dt>found</dt><dd>{found}</dd></dl>
<main lang="">
{rows}
</main>
</body>
</html>
"""


def to_page(before: TextVersion, latest: TextVersion, difference: Difference) -> str:
    """Write a difference as a whole HTML page, every text of it escaped."""
    rows = to_rows(difference)
    return _PAGE.format(
        policy=_POLICY,
        title=f"What changed: {_safe(latest.name)}",
        style=_STYLE,
        before=_name_of(before),
        latest=_name_of(latest),
        found=_count(rows),
        rows="\n".join(_gap(item) if isinstance(item, DiffGap) else _line(item) for item in folded(rows)),
    )


def _name_of(version: TextVersion) -> str:
    if version.at is None:
        return _safe(version.name)
    return f'<time datetime="{json_time(version.at)}">{show_time(version.at)}</time>'


def _count(rows: Sequence[DiffRow]) -> str:
    kinds = [row.kind for row in rows]
    if all(kind == "same" for kind in kinds):
        return "no difference"
    said = ((kinds.count("removed"), "removed"), (kinds.count("added"), "added"), (kinds.count(None), "changed within"))
    return ", ".join(f"{number} {'line' if number == 1 else 'lines'} {what}" for number, what in said if number)


def _gap(gap: DiffGap) -> str:
    lines = "\n".join(map(_line, gap.rows))
    return f"<details><summary lang=en>{len(gap.rows)} lines unchanged</summary>\n{lines}\n</details>"


def _line(row: DiffRow) -> str:
    pieces = "".join(
        f"<{_ELEMENTS[kind]}>{_safe(text)}</{_ELEMENTS[kind]}>" if kind in _ELEMENTS else _safe(text)
        for kind, text in row.pieces
    )
    return f'<p dir="auto" class="{row.kind or "within"}">{pieces}</p>'


def _safe(text: str) -> str:
    # Escaped against markup, cleaned against letters that turn the direction of a line.
    return escape(safe_text(text))


# Upper limit of stored texts of a page.
_MOST: Final = 10_000
_NUMBER: Final = re.compile(r"[0-9]{1,5}")


class Kept(NamedTuple):
    """What is kept of a page: its texts, newest first, and those of them that are wanted, read.

    is_short  there is no room for first texts of pages
    """

    page: PageRow
    rows: Sequence[SnapshotRow]
    versions: Sequence[TextVersion]
    is_short: bool = False


@click.command("diff", epilog="Example: tocsin diff https://example.org/news --from 7d")
@click.argument("sources", nargs=-1, required=True, metavar="URL | OLD NEW")
@click.option(
    "--from", "from_", metavar="TIME|N", help="The older text: a number from --list, or the text at that time."
)
@click.option("--to", metavar="TIME|N", help="The newer text, in the same way; default: the latest.")
@click.option("--words", "by", flag_value="words", default="words", help="Compare words within lines (the default).")
@click.option("--lines", "by", flag_value="lines", help="Compare whole lines only.")
@click.option("--html", metavar="FILE", help="Write an HTML page; - is standard output.")
@click.option("--list", "lists", is_flag=True, help="List the stored texts of the page instead.")
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
    """Show the difference between the last two texts of a watched page, or between two files (HTML, JSON, text).

    The main text is compared, one block per line. TIME is a date and time, or a duration ago such as 7d. If there are
    no two texts to compare, the exit status is 1 and the reason is on stderr.
    """
    if len(sources) > 2:  # noqa: PLR2004 - OLD and NEW
        raise UsageError("give the URL of one watched page, or two files, OLD and NEW")
    if len(sources) == 2:  # noqa: PLR2004 - the same
        if from_ or to or lists:
            raise UsageError("--from, --to and --list are for watched pages, not for two files")
        versions: Sequence[TextVersion] = [_read_file(name) for name in sources]
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


def _read_file(name: str) -> TextVersion:
    from tocsin.spec.html.whole import parse_whole  # noqa: PLC0415 - kept texts need no parser
    from tocsin.spec.signals.content import content_of_plain, read_content  # noqa: PLC0415 - the same
    from tocsin.spec.signals.plain import read_plain  # noqa: PLC0415 - the same

    if name.lower().startswith(("http://", "https://")):
        raise UsageError(f"{name}: two sources must both be files; give one watched URL, or save the page to a file")
    body, content_type = read_file(name), XHTML if is_xhtml_name(name) else _TYPES.get(Path(name).suffix.lower())
    try:
        whole = parse_whole(body, content_type)
    except TooComplex as exc:
        raise UsageError(f"{name}: {exc}") from exc
    if whole is not None:
        return TextVersion(name, read_content(whole, "", "").text)
    plain = read_plain(body, content_type)
    if plain is None:
        raise UsageError(f"{name}: neither HTML nor text; name two saved pages")
    return TextVersion(name, content_of_plain(plain.blocks).text)


async def _read_kept(store: Store, url: str, wanted: tuple[str | None, str | None], *, lists: bool) -> Kept:
    (page,) = await pages_named(store, [url])
    rows = await store.snapshots(page.url, limit=_MOST)
    # A list of one is of use, a difference needs two.
    if not rows or (len(rows) == 1 and not lists):
        return Kept(page, rows, (), await store.texts_are_short())
    places = range(len(rows)) if lists else _choose(rows, *wanted)
    return Kept(page, rows, tuple([await _read_text(store, page.url, rows[place], place) for place in places]))


async def _read_text(store: Store, url: str, row: SnapshotRow, place: int) -> TextVersion:
    packed = await store.snapshot_text(row.id)
    # A service that runs beside us prunes.
    if packed is None:
        raise UsageError(f"{url}: its text {place + 1} was just deleted; run the command again")
    return TextVersion(url, unpack_text(packed), place + 1, row)


def _choose(rows: Sequence[SnapshotRow], from_: str | None, to: str | None) -> tuple[int, int]:
    """Choose the older and the newer text by what the user says of them: places, 0 the latest."""
    latest = _place_of(rows, to, "--to") if to is not None else 0
    if from_ is not None:
        return _place_of(rows, from_, "--from"), latest
    if latest + 1 >= len(rows):
        # It has no text before it to be compared with.
        raise UsageError(f"--to: {to!r} is the oldest stored text; give a later one, see --list")
    return latest + 1, latest


def _place_of(rows: Sequence[SnapshotRow], said: str, option: str) -> int:
    # Before times: no time is a number of five digits at most.
    if _NUMBER.fullmatch(said):
        number = int(said)
        if not 1 <= number <= len(rows):
            raise UsageError(f"{option}: no text has the number {number}; numbers are 1 to {len(rows)}, see --list")
        return number - 1
    # Times are shown to the millisecond.
    at = parse_moment(said, now=now(), option=option) + 999
    for place, row in enumerate(rows):
        if row.at <= at:
            return place
    raise UsageError(
        f"{option}: {said!r} is before the oldest stored text, of {show_time(rows[-1].at)}: "
        f"give {option} {len(rows)} for that text, see --list"
    )


def _why_none(ctx: click.Context, found: Kept) -> str:
    """Say why there are no two texts of a page."""
    page, rows, _, is_short = found
    per_page = configuration(ctx).settings.snapshots.per_page
    # The reason that a setting cannot change first, then the settings, then what time will mend.
    if page.flags.noindex:
        return "its texts are not stored: the page asks not to be indexed (noindex)"
    if per_page == 0 and not rows:
        return "its texts are not stored: snapshots.per_page is 0; set it to 2 or more"
    if rows and per_page == 1:
        return "only its latest text is stored: snapshots.per_page is 1; set it to 2 or more"
    if rows:
        return f"one text is stored, of {show_time(rows[0].at)}; a second is stored when the text changes"
    if page.state.stored_at is None:
        return "no state of it is stored yet; check it with: tocsin check URL"
    why = (
        "its first is not stored while the texts of all pages fill nine tenths of snapshots.total; set that to more"
        if is_short
        else "the first is stored when the page is next read whole "
        '(never with noarchive, mode "auto" or signals "none", nor of binary files)'
    )
    return f"no text is stored yet; {why}"


def _tell(before: TextVersion, latest: TextVersion, difference: Difference, html: str | None) -> None:
    if html is not None:
        _write(html, to_page(before, latest, difference))
    elif output.is_json():
        output.print_json(_to_record(before, latest, difference))
    else:
        print_difference(before, latest, difference)


def _write(name: str, page: str) -> None:
    try:
        with click.open_file(name, "wb") as file:
            file.write(page.encode())
    except OSError as exc:
        raise UsageError(f"{name}: {exc.strerror or exc}; name a file that can be written") from exc
    if name != "-":
        output.note(f"Written to {name}")


def _to_record(before: TextVersion, latest: TextVersion, difference: Difference) -> TextDifference | FileDifference:
    by, changed, runs = difference.by, not difference.is_none, list(difference.runs)
    if before.row is None or latest.row is None:
        older, newer = (SavedText(file=each.name, letters=len(each.text)) for each in (before, latest))
        return FileDifference(from_=older, to=newer, by=by, changed=changed, runs=runs)
    return TextDifference(
        from_=text_of(before.row, before.number),
        to=text_of(latest.row, latest.number),
        by=by,
        changed=changed,
        runs=runs,
    )


def _tell_list(versions: Sequence[TextVersion]) -> None:
    if output.is_json():
        output.print_json(*(text_of(each.row, each.number) for each in versions if each.row is not None))
        return
    rows = [
        (each.number, show_time(each.at), len(each.text), each.row.digest.hex() if each.row is not None else None)
        for each in versions
    ]
    output.table(("number", "when", "characters", "digest"), rows, whole=("digest",))
