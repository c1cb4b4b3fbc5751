"""`tocsin extract`: what else a page says, and its data in the formats that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.extract.notes import tell_beside
from tocsin.cli.sources import read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.extract import Form, extract
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.formats import ALL, FORMAT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tocsin.cli.extract.documents import Which
    from tocsin.spec.extract import Extract, Record

_FACTS: Final = ("title", "language", "profile", "base", "keywords", "description", "expires", "feed", "icons", "tags")

_DIGITS: Final = 9


def _absolute(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_absolute_url(value):
        raise click.BadParameter(f"{value}: not an absolute URL; write one such as https://example.org/a/")
    return value


def _number(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Which:
    if value is None or value == ALL:
        return None if value is None else "all"
    if not (value.isascii() and value.isdecimal()) or len(value) > _DIGITS or int(value) == 0:
        raise click.BadParameter(f"{value}: neither a number from 1 nor {ALL}")
    return int(value)


@click.command("extract", epilog="Example: tocsin extract --as ical --base https://example.org/concerts concerts.html")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@click.option(
    "--as",
    "form",
    type=click.Choice([*(each.value for each in Form), *FORMAT_NAMES]),
    required=True,
    help="What is to be extracted.",
)
@click.option(
    "--profile",
    metavar="NAME",
    help="How a format is written: export, for today's readers, is the default; text is its definition to the letter; "
    "microdata also has living, as HTML defines it today.",
)
@click.option(
    "--item",
    metavar="N|all",
    callback=_number,
    help="Which item, event or contact, from 1. By default all of them; of contacts the first.",
)
@click.option(
    "--base",
    metavar="URL",
    callback=_absolute,
    help="What relative URLs are resolved against. By default the page's base element, else its own URL; where a file "
    "has none, a relative URL stays as written, and `url` is null. For a format, the address that a file has on the "
    "web; without it, its file: URL.",
)
@click.option("--own", is_flag=True, help="The page is yours: what it asks of robots keeps nothing back.")
@output.json_option
def command(
    *, sources: tuple[str, ...], form: str, profile: str | None, item: Which, base: str | None, own: bool
) -> int:
    """Show what else a page says, or take its data away.

    meta is its title, language and profile, each meta element, and what its links say of it as a whole; links is each
    link with its types, known ones under their canonical name; robots is what it asks of robots, in its meta elements
    and X-Robots-Tag headers, robots.txt apart; copies is where copies of the pages that it links to are, and copies of
    itself, with their dates.

    microdata is its items. The other formats are documents, written to standard output as they are: vcard its contacts,
    ical its events, turtle, ntriples and jsonld all that it says as RDF, atom its articles as a feed.

    Nothing else is fetched, no store is touched. A page that robots are not to index keeps its texts back, one whose
    links they are not to follow its links, unless it is your own. - stands for standard input.
    """
    if form in FORMAT_NAMES:
        from tocsin.cli.extract.documents import give_documents  # noqa: PLC0415 - the others need none of it

        return give_documents(sources, form, base, own=own, profile=profile, item=item)
    for option, value in (("--profile", profile), ("--item", item)):
        if value is not None:
            raise UsageError(f"{option} belongs to the formats {', '.join(FORMAT_NAMES)}; leave it out for {form}")
    status = output.DONE
    for name in sources:
        try:
            source = read_source(name)
            found = extract(
                source.body, source.content_type, form=form, url=source.url, base=base, headers=source.headers, own=own
            )
            if not found.is_page and Form(form) is not Form.ROBOTS:
                raise UsageError(f"{source.name}: {'; '.join(found.problems)}; only HTML and XHTML can be read")
        except TocsinError as exc:
            status = max(status, output.fail(exc))
            continue
        tell_beside(source, found)
        _print_records(source.name, Form(form), found)
    return status


def _print_records(name: str, form: Form, found: Extract) -> None:
    records = [{"source": name, **record} for record in found.records]
    if output.is_json():
        for record in records:
            output.print_json(record)
    elif records:
        _PRINT[form](name, records)
    elif not found.no_links:
        output.say(f"{name}: no {form.value}")


def _print_meta(name: str, records: Iterable[Record]) -> None:
    for record in records:
        facts = [(fact, _listed(record[fact])) for fact in _FACTS if record[fact]]
        facts += [(f"version in {language}", url) for language, url in record["translations"].items()]
        facts += [("depth", str(depth)) for depth in record["depths"]]
        if record["refresh"]:
            facts.append(("refresh", f"{record['refresh']['seconds']} s, {record['refresh']['url'] or 'nowhere'}"))
        output.table(("of the page", "value"), facts, title=f"{name} ({record['encoding']})")
        metas = [
            (meta["name"] or meta["property"] or meta["http_equiv"], meta["content"], meta["lang"], meta["scheme"])
            for meta in record["metas"]
            if meta["charset"] is None
        ]
        if metas:
            output.table(("name", "content", "language", "scheme"), metas)


def _print_links(name: str, records: Iterable[Record]) -> None:
    output.table(
        ("types", "label", "leads to"),
        [(_types(record), record["label"] or record["title"], record["url"] or record["href"]) for record in records],
        title=name,
        head="leads to",
    )


def _types(record: Mapping[str, Any]) -> str | None:
    """Name the types of a link, whatever they make of it, those that it has backwards, and whom it pings (LK-11)."""
    types = [word for made in record["links"] for word in made["types"]]
    types += record["annotations"] + record["unknown"] + [f"rev {word}" for word in record["rev"]]
    types += dict.fromkeys(f"ping {host_and_origin(url)[0] or url}" for url in record["pings"])
    return " ".join(types) or None


def _print_robots(name: str, records: Iterable[Record]) -> None:
    for record in records:
        index = "may" if record["index"] else "may not"
        follow = "may" if record["follow"] else "may not"
        said = ", ".join(record["terms"]) or "nothing"
        output.say(f"{name}: its text {index} be indexed, its links {follow} be followed; it says: {said}")


def _print_copies(name: str, records: Iterable[Record]) -> None:
    output.table(
        ("of", "kind", "copy", "date", "type"),
        [
            (record["of"] or record["href"], record["kind"], record["url"], record["datetime"], record["rel"])
            for record in records
        ],
        title=name,
        head="of",
    )


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_PRINT: Final[Mapping[Form, Callable[[str, Iterable[Record]], None]]] = {
    Form.META: _print_meta,
    Form.LINKS: _print_links,
    Form.ROBOTS: _print_robots,
    Form.COPIES: _print_copies,
}
