"""`tocsin extract`: what else a page says, and its data in the formats that other programs read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.files import read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.extract import Form, extract
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.html.page import DEFAULT, Kind, find_kind, is_undeclared_utf8
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.changes.words import short_type
from tocsin.spec.microdata.formats import ALL, FORMAT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from tocsin.cli.files import Source
    from tocsin.spec.extract import Extract, Record
    from tocsin.spec.microdata.formats.catalogue import Format


def tell_beside(source: Source, found: Extract) -> None:
    """Say on stderr what is wrong with a page, and what was left out at its wish."""
    name = source.name
    if _is_misread(source):
        output.note(
            f"{name}: no encoding is declared, so it was read as {DEFAULT}, although it looks like UTF-8; "
            'if so, begin its head with <meta charset="utf-8">, or let its Content-Type say "text/html; charset=utf-8"'
        )
    for problem in found.problems:
        output.note(f"{name}: {problem}")
    if found.no_text:
        output.note(f"{name}: noindex, so its texts are left out; if the page is yours, --own shows them")
    if found.no_links:
        output.note(f"{name}: nofollow, so its links are left out; if the page is yours, --own shows them")


def _is_misread(source: Source) -> bool:
    kind, _ = find_kind(source.body, source.content_type)
    return kind is Kind.HTML and is_undeclared_utf8(source.body, source.content_type)


if TYPE_CHECKING:
    Which = int | Literal["all"] | None
    """The number of an item, all of them, or the default of the format."""

MICRODATA: Final = "microdata"
_INDENT: Final = "  "


def give_documents(
    sources: Sequence[str], form: str, base: str | None, *, own: bool, profile: str | None, item: Which
) -> int:
    """Print each source's document of a format; returns the exit status.

    Raises UsageError for options that do not fit, before any page is read.
    """
    from tocsin.spec.microdata.formats.catalogue import FORMATS  # noqa: PLC0415 - links and meta need no writers

    written = FORMATS[form]
    # Before any page is fetched: a wrong call must not cost requests.
    _refuse_wrong_call(written, sources, profile, item)
    status = output.DONE
    for number, name in enumerate(sources, 1):
        try:
            source = read_source(name)
            address = _address_of(source, written, base)
            found = extract(
                source.body,
                source.content_type,
                form=form,
                url=address,
                # Of a file it is the address, which the page's own base element may be relative to.
                base=base if source.url is not None else None,
                headers=source.headers,
                own=own,
                profile=profile,
                item=item,
                now=datetime.now(UTC),
                # Blank nodes of several documents would else get the same names, and be one node where they are
                # joined.
                blank=f"p{number}" if len(sources) > 1 else "",
            )
            if not found.is_page:
                raise UsageError(f"{source.name}: {'; '.join(found.problems)}; only HTML and XHTML can be read")
            if found.document is None and isinstance(item, int) and found.found:
                raise UsageError(f"{source.name}: {'; '.join(found.problems)}")
        except TocsinError as exc:
            status = max(status, output.fail(exc))
            continue
        tell_beside(source, found)
        _print(source.name, written, found, item)
        if address is None and found.document is not None:
            output.note(f"{source.name}: its URL is not known, so relative URLs are left empty; give it with --base")
    return status


def _refuse_wrong_call(form: Format, sources: Sequence[str], profile: str | None, item: Which) -> None:
    form.profile(profile)
    if item is not None and form.counted is None:
        raise UsageError(f"--as {form.name} covers the whole page; leave --item out")
    if len(sources) > 1 and not form.joins and not output.is_json_asked():
        raise UsageError(
            f"--as {form.name} makes one document of one page; name one source, or give --json for one line per source"
        )


def _address_of(source: Source, form: Format, base: str | None) -> str | None:
    """Find a page's own address: of its answer, else as given, else that of its file.

    Raises UsageError where the format needs one and there is none.
    """
    # Of a URL its own, of a file what --base says, else where the file is; standard input has none.
    address = source.url or base or (None if source.name == "-" else Path(source.name).resolve().as_uri())
    if address is None and form.needs_address:
        raise UsageError(f"{source.name}: {form.name} needs the page's URL; give it with --base URL")
    return address


def _print(name: str, form: Format, found: Extract, item: Which) -> None:
    if found.document is None:
        if output.is_json():
            output.print_json(*({"source": name, **record} for record in found.records))
        if found.absence is not None:
            output.note(f"{name}: {found.absence}")
        return
    if form.name == MICRODATA and output.is_json():
        output.print_json(*({"source": name, **record} for record in found.records))
    elif form.name == MICRODATA:
        _print_items(name, found.records[0]["items"])
    # Asked, and not merely piped: a document goes into a pipe as it is.
    elif output.is_json_asked():
        told = {"format": form.name, "profile": found.profile, "media_type": found.media_type, "text": found.document}
        output.print_json({"source": name, **told})
    else:
        output.print_document(found.document)
    if item is None and form.counted and form.default != ALL and found.found > 1:
        several = f"{found.found} {form.counted[1]}"
        output.note(f"{name}: {several}, this is the first; --item 2 gives the second, --item all every one")


def _print_items(name: str, items: Sequence[dict[str, Any]]) -> None:
    output.say(f"{name}: {len(items)} {'item' if len(items) == 1 else 'items'}", whole=True)
    for indent, text, style in _lines(items):
        output.say(f"{_INDENT * indent}{text}", style=style)


def _lines(items: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str, str | None]]:
    """Give each line with how far it is set in, and its style; without recursion, however deep items lie in others."""
    # A list instead of recursion: items may be nested as deep as their page likes.
    waiting: list[tuple[int, str | None, object]] = [(0, None, item) for item in reversed(items)]
    while waiting:
        indent, name, value = waiting.pop()
        said = f"{name}: " if name is not None else ""
        if not isinstance(value, dict):
            yield indent, f"{said}{fold_space(str(value))}", None
            continue
        identity = f" <{value['id']}>" if "id" in value else ""
        yield indent, f"{said}{_short(value.get('type'))}{identity}", "bold" if name is None else None
        inner = [(indent + 1, each, one) for each, values in value["properties"].items() for one in values]
        waiting.extend(reversed(inner))


def _short(written: str | Sequence[str] | None) -> str:
    """Name an item's types as people do, by their last parts."""
    types = written.split() if isinstance(written, str) else written or ()
    return " ".join(map(short_type, types)) or short_type(None)


_FACTS: Final = ("title", "language", "profile", "base", "keywords", "description", "expires", "feed", "icons", "tags")

_DIGITS: Final = 9


def _absolute(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_absolute_url(value):
        raise click.BadParameter(f"{value}: not an absolute URL; write one such as https://example.org/a/")
    return value


def _number(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Which:
    if value is None or value == ALL:
        return None if value is None else "all"
    # Looked at as text first: `int` takes digits of any script, and thousands of them.
    if not (value.isascii() and value.isdecimal()) or len(value) > _DIGITS or int(value) == 0:
        raise click.BadParameter(f"{value}: not a number from 1, nor {ALL}")
    return int(value)


@click.command("extract", epilog="Example: tocsin extract --as ical --base https://example.org/concerts concerts.html")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|URL...")
@click.option(
    "--as",
    "form",
    type=click.Choice([*(each.value for each in Form), *FORMAT_NAMES]),
    required=True,
    help="What to extract.",
)
@click.option(
    "--profile",
    metavar="NAME",
    help="Variant of a format: export (default) for today's programs; text follows its definition to the letter; "
    "microdata also has living, as HTML defines it today.",
)
@click.option(
    "--item",
    metavar="N|all",
    callback=_number,
    help="Number of an item, event or contact, from 1. Default: all; of contacts, the first.",
)
@click.option(
    "--base",
    metavar="URL",
    callback=_absolute,
    help="Base for relative URLs. Default: the page's base element, else its URL. Without one, a relative URL of a "
    "file stays as written, and `url` is null. For a document: the web address of the file; default: its file: URL.",
)
@click.option("--own", is_flag=True, help="The page is yours: ignore what it asks of robots.")
@output.json_option
def command(
    *, sources: tuple[str, ...], form: str, profile: str | None, item: Which, base: str | None, own: bool
) -> int:
    """Extract a page's metadata, or its data in other formats.

    \b
    meta       title, language, profile, meta elements, and links about the page itself
    links      each link with its types; known types under their canonical name
    robots     instructions to robots in meta elements and X-Robots-Tag headers (not robots.txt)
    copies     copies of the page and of pages it links to, with their dates
    microdata  its items
    vcard      its contacts        ical  its events        atom  its articles as a feed
    turtle, ntriples, jsonld       everything it says, as RDF

    Nothing else is fetched, and no store is changed. Texts of a noindex page and links of a nofollow page are left out,
    unless the page is yours (--own). - is standard input.
    """  # noqa: D301 - \b keeps click from filling the lines
    if form in FORMAT_NAMES:
        return give_documents(sources, form, base, own=own, profile=profile, item=item)
    for option, value in (("--profile", profile), ("--item", item)):
        if value is not None:
            raise UsageError(f"{option} is for the formats {', '.join(FORMAT_NAMES)}; leave it out for {form}")
    status = output.DONE
    for name in sources:
        try:
            source = read_source(name)
            found = extract(
                source.body, source.content_type, form=form, url=source.url, base=base, headers=source.headers, own=own
            )
            # X-Robots-Tag speaks for what is no page, too.
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
    # Otherwise the note above says why there is none.
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
    """Name the types of a link, its reverse types, and the hosts that it pings (LK-11)."""
    types = [word for made in record["links"] for word in made["types"]]
    types += record["annotations"] + record["unknown"] + [f"rev {word}" for word in record["rev"]]
    types += dict.fromkeys(f"ping {host_and_origin(url)[0] or url}" for url in record["pings"])
    return " ".join(types) or None


def _print_robots(name: str, records: Iterable[Record]) -> None:
    for record in records:
        index = "may" if record["index"] else "may not"
        follow = "may" if record["follow"] else "may not"
        said = f"it declares: {', '.join(record['terms'])}" if record["terms"] else "it has no directives for robots"
        output.say(f"{name}: its text {index} be indexed, its links {follow} be followed; {said}")


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
