"""What a command says: JSON lines to programs, tables to people, everything else to stderr.

The one place where text that a page or a server supplied reaches a terminal, so the one that makes it harmless.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import textwrap
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar

import click

from tocsin.errors import StoreError, TocsinError, UsageError
from tocsin.spec.infrastructure.unsafe import safe_line, safe_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence

    from tocsin.model.records.fields import Record


DONE, NEEDS_USER, WRONG_CALL, NO_STORE = 0, 1, 2, 3

_JSON = "tocsin.json"
BAR = "tocsin.bar"
# From this width on a terminal has room for tables, whose cells are then broken where they must be.
_ROOMY = 100

_Function = TypeVar("_Function", bound="Callable[..., object]")


def json_option(function: _Function) -> _Function:
    """Give a command `--json`; what it emits is then JSON on a terminal too."""

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
        ctx.meta[_JSON] = value

    option = click.option(
        "--json",
        is_flag=True,
        expose_value=False,
        callback=remember,
        help="Print one JSON object per line, also on a terminal.",
    )
    return option(function)


def is_json() -> bool:
    """Whether this command prints for a program: its output is piped, or `--json` was given."""
    # A pipe gets what a program can read without an option, so that `tocsin watch list | jq` just works.
    return is_json_asked() or not sys.stdout.isatty()


def is_json_asked() -> bool:
    """Say whether `--json` was given, for a command that has something else to give to a program."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(_JSON))


def emit(record: Record | Mapping[str, Any], human: Callable[[], None]) -> None:
    """Say one thing: as a line of JSON to a program; to a person, by calling `human`, which prints it."""
    if is_json():
        print_json(record)
    else:
        human()


def print_json(*records: Record | Mapping[str, Any]) -> None:
    """Print records as lines of JSON, always in UTF-8."""
    from tocsin.model.records.fields import to_json  # noqa: PLC0415 - the help needs no records

    with _bar_aside(sys.stdout):
        click.echo(b"".join(b"%b\n" % to_json(record) for record in records), nl=False)


def print_document(text: str) -> None:
    """Print a document as it is, in UTF-8, with its own line ends and no other; to a terminal, made harmless."""
    # A file gets the bytes as they are: it may be valid, and nothing in it controls a disk.
    shown = safe_text(text) if sys.stdout.isatty() else text
    with _bar_aside(sys.stdout):
        click.echo(shown.encode("utf-8", "replace"), nl=False)


def clean(text: str) -> str:
    """Make text from outside safe to print: characters that control a terminal become U+FFFD."""
    return safe_line(text)


def say(text: str = "", *, style: str | None = None, whole: bool = False) -> None:
    """Print a line for a person on stdout, made harmless; a terminal gets it broken between words.

    whole  the line stays one, because it is to be copied
    """
    from rich.text import Text  # noqa: PLC0415 - costs 50 ms; JSON needs none of it

    # Cleaned first: what a page wrote must not decide where lines end.
    shown = clean(text) if whole or not sys.stdout.isatty() else _broken(clean(text))
    with _bar_aside(sys.stdout):
        _console().print(Text(shown, style=style or ""), soft_wrap=True)


def say_pieces(mark: tuple[str, str], pieces: Iterable[tuple[str, str]]) -> None:
    """Print a line for a person on stdout, made of texts with a style each, made harmless.

    mark  is printed before it; where a terminal breaks the line, the rest is indented by its width
    """
    from rich.text import Text  # noqa: PLC0415 - costs 50 ms; JSON needs none of it

    console = _console()
    line = Text.assemble(*((clean(text), style) for text, style in pieces))
    # A terminal may say that it is narrower than the mark.
    broken = line.wrap(console, max(console.width - len(mark[0]), 1), overflow="fold")
    shown = Text("\n").join(
        Text.assemble(mark if not place else " " * len(mark[0]), part) for place, part in enumerate(broken)
    )
    with _bar_aside(sys.stdout):
        console.print(shown, soft_wrap=True)


def note(text: str) -> None:
    """Print a line on stderr that is not the result, made harmless; a terminal gets it broken between words."""
    shown = _broken(clean(text)) if sys.stderr.isatty() else clean(text)
    with _bar_aside(sys.stderr):
        click.echo(shown, err=True)


def _broken(line: str) -> str:
    """Break a line between words, where the terminal would break it anywhere; a URL stays whole."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    width = shutil.get_terminal_size().columns
    pieces = textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )
    return "\n".join(pieces)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    whole: Sequence[str] = (),
    head: str | None = None,
) -> None:
    """Print rows as a table on stdout; None is shown as a dash, and every cell is made harmless.

    whole  columns whose cells stay on one line, because they are to be copied
    head   where a terminal is too narrow for the table, each row is a paragraph below its cell of this column
    """
    from rich import box  # noqa: PLC0415 - costs 50 ms; JSON needs none of it
    from rich.table import Table  # noqa: PLC0415 - the same
    from rich.text import Text  # noqa: PLC0415 - the same

    cells = [[None if cell is None else str(cell) for cell in row] for row in rows]
    # On a narrow terminal the cells would be broken into columns of some letters.
    if head is not None and _width_of(columns, cells) > min(_console().width, _ROOMY - 1):
        if title:
            say(title, whole=True)
        _paragraphs(columns, cells, head)
        return
    drawn = Table(
        title=Text(clean(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD, header_style="bold"
    )
    for column in columns:
        drawn.add_column(Text(clean(column)), overflow="fold", no_wrap=column in whole)
    for row in cells:
        lines = ("\n".join(map(clean, cell.split("\n"))) if cell is not None else None for cell in row)
        drawn.add_row(*(Text("-", "dim") if cell is None else Text(cell) for cell in lines))
    with _bar_aside(sys.stdout):
        _console().print(drawn)


def _width_of(columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> int:
    """Say how wide a terminal must be for a table that breaks no cell."""
    widths = [len(column) for column in columns]
    for row in rows:
        longest = (max(map(len, (cell or "-").split("\n"))) for cell in row)
        widths = [max(pair) for pair in zip(widths, longest, strict=True)]
    # The drawn table puts three columns of space around each cell.
    return sum(widths) + 3 * len(widths)


def _paragraphs(columns: Sequence[str], rows: Iterable[Sequence[str | None]], head: str) -> None:
    """Print each row as a line and, below it, what else is known, broken between cells."""
    place = list(columns).index(head)
    for row in rows:
        say(row[place] or "-", style="bold", whole=True)
        line = ""
        for column, cell in zip(columns, row, strict=True):
            # What a row does not have would only be noise in a paragraph.
            if column == head or cell is None:
                continue
            if "\n" in cell:
                say(f"    {column}:")
                for part in cell.split("\n"):
                    say(f"      {part}")
                continue
            told = f"{column}: {cell}"
            if line and len(line) + len(told) + 3 > _console().width:
                say(line)
                line = ""
            line = f"{line} · {told}" if line else f"    {told}"
        if line:
            say(line)


@contextmanager
def _bar_aside(target: TextIO) -> Iterator[None]:
    """Take the progress bar away while something is printed to a terminal: both are on the same one."""
    context = click.get_current_context(silent=True)
    bar = None if context is None else context.meta.get(BAR)
    if bar is None or not target.isatty():
        yield
        return
    # It would be overwritten in the middle, and leave parts of itself on the screen.
    bar.stop()
    try:
        yield
    finally:
        bar.start()


def fail(error: TocsinError) -> int:
    """Print an error on stderr; returns its exit status."""
    for line in f"tocsin: {error}".split("\n"):
        note(line)
    # Before StoreError, and 2 as click gives it: the call is wrong with any store.
    if isinstance(error, UsageError):
        return WRONG_CALL
    return NO_STORE if isinstance(error, StoreError) else NEEDS_USER


def _console() -> Any:
    from rich.console import Console  # noqa: PLC0415 - costs 50 ms; JSON needs none of it

    # All three would read a page's text as markup of ours.
    return Console(markup=False, highlight=False, emoji=False)


# The progress bar, and what is said of work that the user interrupts.


@contextmanager
def progress(
    description: str, total: int | None = None, *, into: IO[bytes] | None = None
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr while the block runs, if that is a terminal and stdout is no pipe.

    into  the file that the work writes; there is no bar if it is a terminal, where it would stand in the output
    Yields a function that adds to what is done.
    """
    is_shown = sys.stderr.isatty() and (into is None or not into.isatty())
    # The program at the other end of a pipe may write to the same terminal.
    if not is_shown or stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
        yield lambda _: None
        return
    from rich import progress as bars  # noqa: PLC0415 - the same
    from rich.console import Console  # noqa: PLC0415 - costs 50 ms; JSON needs none of it

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    context = click.get_current_context(silent=True)
    meta = {} if context is None else context.meta
    # Transient: a finished bar says nothing that the result does not.
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        meta[BAR] = bar
        task = bar.add_task(clean(description), total=total)
        try:
            yield lambda done: bar.advance(task, done)
        finally:
            meta.pop(BAR, None)


@contextmanager
def steps(doing: str, done: str, *, total: int | None = None, what: str = "page") -> Iterator[Callable[[int], None]]:
    """Show the progress of work on pages (or `what`); if the user interrupts it, say how far it got.

    doing, done  the work in words, such as "Removing" and "removed"
    Yields a function that adds to the pages done.
    """
    import asyncio  # noqa: PLC0415 - the help needs none of this

    from tocsin.cli.formatting import count  # noqa: PLC0415 - as above

    so_far = 0
    with progress(doing, total=total) as advance:

        def on_step(pages: int) -> None:
            nonlocal so_far
            so_far += pages
            advance(pages)

        try:
            yield on_step
        except asyncio.CancelledError:
            of = "" if total is None else f" of {total:,}"
            note(f"Interrupted: {count(so_far, what)}{of} {done}; run the same command again to continue.")
            # The program ends with the status of an interruption all the same.
            raise


async def follow(description: str, work: AsyncIterator[tuple[int, int]]) -> int:
    """Show the store's own steps (done, total) as a progress bar; returns how many there were."""
    with ExitStack() as stack:
        advance, before, total = None, 0, 0
        async for done, total in work:
            # The number of steps is known from the first one.
            advance = advance or stack.enter_context(progress(description, total=total))
            advance(done - before)
            before = done
    return total
