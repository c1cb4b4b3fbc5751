"""A look at a page before it is watched: what it declares and holds. Nothing is stored."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from tocsin.configuration import resolve_page, show_span
from tocsin.engine.visiting.dry_run import PageInForce, look
from tocsin.errors import DamagedItems, TooComplex
from tocsin.model import PageItems, PageRow, Rendered, fit_title
from tocsin.model.records.pages import EventAhead, PageLook
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem
from tocsin.server.received import refusing
from tocsin.settings import PageSettings
from tocsin.spec.html.urls import watch_url
from tocsin.spec.microdata.reading.packing import unpack
from tocsin.spec.microdata.values import Item
from tocsin.spec.topper.state import PageState
from tocsin.wording.words import cut, visible

# Of the vocabularies of microformats and schema.org, where more special events end alike.
_EVENTS: Final = ("#vevent", "Event")
_NAMES: Final = ("summary", "name")
_STARTS: Final = ("dtstart", "startDate")
_LONGEST: Final = 120


async def look_at(parts: Parts, url: str, secrets: tuple[str, str] | None = None) -> PageLook:
    """Receive a page as a check would, by robots.txt, at its host's gate, within the same bounds, and read it.

    secrets  its user name and password
    Raises BadUrl; Problem where it cannot be received or read.
    """
    page = watch_url(url)
    known = await parts.store.page(page.url)
    for_all, groups = await parts.store.overrides()
    main = next((settings for name, settings in groups.values() if name == "main"), {})
    policy = resolve_page(parts.service.settings().pages, for_all, main, None)
    row = PageRow(
        0,
        page.url,
        page.given,
        page.host,
        "main",
        paused=False,
        text=None,
        settings={},
        secrets=secrets or page.credentials,
    )
    with refusing(parts.clock):
        received = await parts.service.receive(row)
    read = await asyncio.to_thread(_read, received, policy, parts.clock.now())
    return PageLook(**read, url=page.url, id=None if known is None else str(known.id))


def _read(received: Rendered, policy: PageSettings, now: int) -> dict[str, Any]:
    try:
        found = look(
            received.body, received.content_type, received.headers, received.final_url, PageInForce(policy), now
        )
    except TooComplex as exc:
        raise Problem(409, "too-complex", "The page is too complex to be read", str(exc)) from exc
    read = found.beheld.readings
    content = read.content if read is not None else None
    return {
        "final_url": received.final_url,
        "status": received.status,
        "title": fit_title(received.title),
        "elapsed_ms": (received.received_at - received.started_at) // 1000,
        "bytes": received.wire_bytes or len(received.body),
        "declares": list(found.latest.declares),
        "major": _latest(found.latest, "topper-major"),
        "minor": _latest(found.latest, "topper-minor") or _latest(found.latest, "topper"),
        "signals": sorted(read.values) if read is not None else [],
        "items": received.items.count if received.items is not None else 0,
        "event": _event_of(received.items),
        "lines": len(content.text.splitlines()) if content is not None else 0,
        "built_by_scripts": bool(found.beheld.is_shell),
        "suspect": found.beheld.suspicion,
        "every": show_span(policy.every),
        "problems": list(found.problems),
    }


def _latest(state: PageState, field: str) -> str | None:
    """Return the last of the dates that a field lists: the latest, as the specification wants them written."""
    value = state[field]
    return value.split()[-1] if value else None


def _event_of(items: PageItems | None) -> EventAhead | None:
    """Return the first event of a page that has a name."""
    if items is None or not items.packed:
        return None
    try:
        every = unpack(items.packed).all
    except DamagedItems:
        return None
    for item in every:
        if any(kind.endswith(_EVENTS) for kind in item.types) and (name := _text_of(item, _NAMES)):
            return EventAhead(name=name, start=_text_of(item, _STARTS))
    return None


def _text_of(item: Item, names: tuple[str, ...]) -> str | None:
    for name in names:
        for each in item.named(name):
            if each.text and each.text.strip():
                return visible(cut(each.text, _LONGEST))
    return None
