"""Alerts as entries of a feed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from tocsin.events import page_link, question_link
from tocsin.server.streams.atom import Entry, Link, escape
from tocsin.server.web.telling import BASES, tell
from tocsin.spec.infrastructure.uri import write_iri

if TYPE_CHECKING:
    from tocsin.model import AlertRow
    from tocsin.server.web.telling import Differing, Told

_LONGEST: Final = 2000
_MOST_LINES: Final = 50
_CROCKFORD: Final = {letter: place for place, letter in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
_ULID_LENGTH: Final = 26
_WEB: Final = ("http://", "https://")


def entry_of(alert: AlertRow, public_url: str) -> Entry:
    """Make an entry of an alert.

    public_url  under which people reach our own pages; empty: entries link to the watched page itself
    """
    told = tell(alert)
    return Entry(
        id=urn_of(alert.id),
        title=_cut(f"{told.label}: {told.name}" if told.name else told.label),
        updated=alert.created_at,
        links=_links(told, public_url),
        categories=tuple(term for term in (told.label, told.group) if term),
        summary=_cut(" ".join(_sentences(told)) or told.label),
        content="\n".join(_content(told)),
    )


def urn_of(alert_id: str) -> str:
    """Give an alert's id as a URN, the same for ever: an ULID is the 128 bits of a UUID, written otherwise."""
    number = 0
    for letter in alert_id:
        number = number * 32 + _CROCKFORD.get(letter, 32 * 2**128)
    if len(alert_id) == _ULID_LENGTH and number < 2**128:
        return UUID(int=number).urn
    return uuid5(NAMESPACE_URL, f"tocsin-alert:{alert_id}").urn


def _links(told: Told, public_url: str) -> tuple[Link, ...]:
    address = told.address if told.address and told.address.startswith(_WEB) else None
    ours = page_link(public_url, told.page_id) if told.page_id is not None else None
    if told.question_id is not None:
        ours = question_link(public_url, told.question_id) or ours
    found = []
    if ours:
        found.append(Link("alternate", ours, "text/html"))
    if address:
        found.append(Link("related" if ours else "alternate", address))
    return tuple(found)


def _sentences(told: Told) -> list[str]:
    said = []
    if told.why and told.rule:
        said.append(f"{told.why} ({told.rule}).")
    if told.basis in BASES:
        said.append(f"{BASES[told.basis].capitalize()}.")
    return [*said, *(note if note.endswith(".") else f"{note}." for note in told.notes)]


def _content(told: Told) -> list[str]:
    name = escape(_cut(told.name or told.label))
    is_web = told.address is not None and told.address.startswith(_WEB)
    subject = f'<a href="{escape(write_iri(told.address or ""))}">{name}</a>' if is_web else name
    parts = [f"<p><strong>{escape(told.label)}</strong>: {subject}</p>"]
    parts += [f"<p>{escape(_cut(sentence))}</p>" for sentence in _sentences(told)]
    if told.fields or told.signals:
        rows = "".join(_row(each) for each in (*told.fields, *told.signals))
        parts.append(f"<table><tr><th>What</th><th>Before</th><th>Now</th></tr>{rows}</table>")
    if told.held:
        items = "".join(f"<li>{escape(_cut(line))}</li>" for line in told.held[:_MOST_LINES])
        parts.append(f"<ul>{items}</ul>")
    if len(told.held) > _MOST_LINES:
        parts.append("<p>More of its items changed.</p>")
    for tag, lines in (("ins", told.added), ("del", told.removed)):
        if lines:
            items = "".join(f"<li><{tag}>{escape(_cut(line))}</{tag}></li>" for line in lines[:_MOST_LINES])
            parts.append(f"<ul>{items}</ul>")
    if told.is_cut or max(len(told.added), len(told.removed)) > _MOST_LINES:
        parts.append("<p>There is more of the difference.</p>")
    return parts


def _row(each: Differing) -> str:
    cells = (each.name, each.previous or "none", each.latest or "none")
    return f"<tr>{''.join(f'<td>{escape(_cut(cell))}</td>' for cell in cells)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
