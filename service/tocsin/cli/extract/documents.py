"""What `tocsin extract` gives of a page's items: a document of a format, or the items as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tocsin.cli import output
from tocsin.cli.extract.notes import tell_beside
from tocsin.cli.sources import read_source
from tocsin.errors import TocsinError, UsageError
from tocsin.spec.extract import extract
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.microdata.changes.words import short_type
from tocsin.spec.microdata.formats import ALL
from tocsin.spec.microdata.formats.catalogue import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from tocsin.cli.sources import Source
    from tocsin.spec.extract import Extract

    Which = int | Literal["all"] | None
    """The number of an item, all of them, or what the format gives where nobody says."""

MICRODATA: Final = "microdata"
_INDENT: Final = "  "


def give_documents(
    sources: Sequence[str], form: str, base: str | None, *, own: bool, profile: str | None, item: Which
) -> int:
    """Print each source's document of a format; returns the exit status.

    Raises UsageError for what cannot be had, before a page is asked for.
    """
    _refuse_wrong_call(form, sources, profile, item)
    status = output.DONE
    for number, name in enumerate(sources, 1):
        try:
            source = read_source(name)
            address = _address_of(source, form, base)
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
        _print(source.name, form, found, item)
        if address is None and found.document is not None:
            output.note(f"{source.name}: its address is not known, so relative URLs are left empty; --base gives it")
    return status


def _refuse_wrong_call(form: str, sources: Sequence[str], profile: str | None, item: Which) -> None:
    way = FORMATS[form]
    way.profile(profile)
    if item is not None and way.counted is None:
        raise UsageError(f"--as {form} gives the whole page; leave --item out")
    if len(sources) > 1 and not way.joins and not output.is_json_asked():
        raise UsageError(
            f"--as {form} makes one document of one page; name one source, or --json for a line of JSON for each"
        )


def _address_of(source: Source, form: str, base: str | None) -> str | None:
    """Find a page's own address: of its answer, else as given, else that of its file.

    Raises UsageError where the format needs one and there is none.
    """
    address = source.url or base or (None if source.name == "-" else Path(source.name).resolve().as_uri())
    if address is None and FORMATS[form].needs_address:
        raise UsageError(f"{source.name}: {form} needs the page's own address; give it with --base URL")
    return address


def _print(name: str, form: str, found: Extract, item: Which) -> None:
    way = FORMATS[form]
    if found.document is None:
        if output.is_json():
            output.print_json(*({"source": name, **record} for record in found.records))
        if found.absence is not None:
            output.note(f"{name}: {found.absence}")
        return
    if form == MICRODATA and output.is_json():
        output.print_json(*({"source": name, **record} for record in found.records))
    elif form == MICRODATA:
        _print_items(name, found.records[0]["items"])
    elif output.is_json_asked():
        told = {"format": form, "profile": found.profile, "media_type": found.media_type, "text": found.document}
        output.print_json({"source": name, **told})
    else:
        output.print_document(found.document)
    if item is None and way.counted and way.default != ALL and found.found > 1:
        several = f"{found.found} {way.counted[1]}"
        output.note(f"{name}: {several}, this is the first; --item 2 gives another, --item all every one")


def _print_items(name: str, items: Sequence[dict[str, Any]]) -> None:
    output.say(f"{name}: {len(items)} {'item' if len(items) == 1 else 'items'}", whole=True)
    for indent, text, style in _lines(items):
        output.say(f"{_INDENT * indent}{text}", style=style)


def _lines(items: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str, str | None]]:
    """Give each line with how far it is set in, and its style; without recursion, however deep items lie in others."""
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
