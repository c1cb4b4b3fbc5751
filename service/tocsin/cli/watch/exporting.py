"""`tocsin watch export`: the list of pages, to be kept or taken elsewhere."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.formatting import count
from tocsin.cli.progress import progress
from tocsin.cli.session import with_store
from tocsin.cli.target import opened_target
from tocsin.cli.watch.choosing import batches
from tocsin.errors import UsageError
from tocsin.lists.writing import ListWriter, OutlineWriter, PlainWriter, SeparatedWriter
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.ports import Store


@click.command("export", epilog="Example: tocsin watch export --format csv --output pages.csv")
@click.option("--format", "kind", type=click.Choice(("list", "csv", "opml")), default="list", show_default=True)
@click.option("--group", metavar="NAME", help="Only this group.")
@click.option("--output", "-o", "target", metavar="FILE", help="Into this file, instead of standard output.")
@click.option("--with-secrets", is_flag=True, help="With credentials, headers, cookies and proxies (CSV only).")
@click.pass_context
def export(ctx: click.Context, kind: str, group: str | None, target: str | None, *, with_secrets: bool) -> None:
    """Write the list of pages: URLs, CSV with all that is set for each, or OPML with the groups."""
    if with_secrets and kind != "csv":
        raise UsageError("--with-secrets: only CSV can hold them; give --format csv")
    writer: ListWriter = OutlineWriter() if kind == "opml" else PlainWriter()
    if kind == "csv":
        writer = SeparatedWriter(with_secrets=with_secrets)
    with opened_target(target) as stream:
        pages = with_store(ctx, lambda store: _export(store, writer, stream, group=group, by_group=kind == "opml"))
    output.note(f"{count(pages, 'page')} written.")


async def _export(store: Store, writer: ListWriter, stream: IO[bytes], *, group: str | None, by_group: bool) -> int:
    total = await store.count_pages(PageFilter(group=group))
    groups = [name for name, _, _ in await store.groups() if group in (None, name)] if by_group else [group]
    stream.write(writer.begin().encode())
    written = 0
    with progress("Exporting", total=total) as advance:
        for name in groups:
            stream.write(writer.open_group(name or "").encode())
            written += await _export_group(store, writer, stream, name, advance)
            stream.write(writer.close_group().encode())
    stream.write(writer.end().encode())
    return written


async def _export_group(
    store: Store, writer: ListWriter, stream: IO[bytes], group: str | None, advance: Callable[[int], None]
) -> int:
    written = 0
    async for pages in batches(store, PageFilter(group=group)):
        stream.write(writer.pages(pages).encode())
        written += len(pages)
        advance(len(pages))
    return written
