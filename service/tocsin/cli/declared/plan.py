"""`tocsin plan`: what a declared list would change, its schema, and the store written as such a list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.declared.planning import file_options, make_plan, read_file, tell
from tocsin.cli.formatting import count
from tocsin.cli.progress import progress
from tocsin.cli.session import with_store
from tocsin.cli.target import opened_target
from tocsin.cli.watch.choosing import batches
from tocsin.errors import UsageError
from tocsin.lists.declared import DeclaredWriter, TomlWriter, YamlWriter, to_schema
from tocsin.lists.writing import PRIVATE
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from typing import IO

    from tocsin.ports import Store


@click.command("plan", epilog="Example: tocsin plan pages.toml")
@click.argument("file", metavar="[FILE]", required=False)
@file_options
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything would change.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of such files.")
@click.option("--from-store", is_flag=True, help="Write the store as such a file; planning with it changes nothing.")
@click.option("--output", "-o", "target", metavar="FILE", help="With --from-store: into this file.")
@click.option("--with-secrets", is_flag=True, help="With --from-store: with credentials, headers, cookies, proxies.")
@output.json_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str | None,
    kind: str | None,
    target: str | None,
    *,
    prune: bool | None,
    exit_code: bool,
    schema: bool,
    from_store: bool,
    with_secrets: bool,
) -> int:
    """Show what a declared list (TOML or YAML) would change; nothing is changed.

    The file is the whole word on what it names: all pages, groups, pages. What it does not name stays, unless it says
    prune = true. Carry it out with: tocsin apply FILE
    """
    if (file is not None) + schema + from_store != 1:
        raise UsageError("name a file, or give --schema, or --from-store; one of them")
    if (target is not None or with_secrets) and not from_store:
        raise UsageError("--output and --with-secrets belong to --from-store")
    if schema:
        click.echo(json.dumps(to_schema(), indent=2, ensure_ascii=False))
        return output.DONE
    if from_store:
        _write(ctx, kind or "toml", target, with_secrets=with_secrets)
        return output.DONE
    plan = make_plan(ctx, read_file(str(file), kind, prune=prune))
    tell(plan, applied=False)
    return output.NEEDS_USER if plan and exit_code else output.DONE


def _write(ctx: click.Context, kind: str, target: str | None, *, with_secrets: bool) -> None:
    writer: DeclaredWriter = YamlWriter(with_secrets=with_secrets)
    if kind == "toml":
        writer = TomlWriter(with_secrets=with_secrets)
    with opened_target(target) as stream:
        pages, kept_back = with_store(ctx, lambda store: _export(store, writer, stream))
    output.note(f"{count(pages, 'page')} written.")
    if kept_back and not with_secrets:
        output.note(
            f"Credentials, headers, cookies or proxies of {count(kept_back, 'page')} were left out, which changes "
            "nothing: what a file does not say of them stays. To write them, too: --with-secrets"
        )


async def _export(store: Store, writer: DeclaredWriter, stream: IO[bytes]) -> tuple[int, int]:
    for_all, groups = await store.overrides()
    stream.write(writer.head(for_all, dict(sorted(groups.values()))).encode())
    written = kept_back = 0
    with progress("Writing", total=await store.count_pages(PageFilter())) as advance:
        async for pages in batches(store, PageFilter()):
            stream.write(writer.pages(pages).encode())
            written += len(pages)
            kept_back += sum(page.has_secrets or not page.settings.keys().isdisjoint(PRIVATE) for page in pages)
            advance(len(pages))
    return written, kept_back
