"""Values for tests: what matters to a test is said there, the rest is filled in here."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tests.fakes import START
from tocsin.engine.judging.assess import assess
from tocsin.model import HopResponse, PageKnowledge, PageTask, ReceivedPage, SignalContext, StoredState
from tocsin.spec.signals.reading import ContentSelectors, read_as
from tocsin.spec.topper.state import PageState

T = TypeVar("T", bound=Struct)
URL = "http://site.example/page"
SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
READ = SignalContext(known=PageKnowledge(read_as(ContentSelectors()), {}))
"""What is known of a page that was read, and has no signals."""


def html(**fields: str) -> bytes:
    """A page with a meta element for each field; `topper_major="2026"` gives the name `topper-major`."""
    metas = "".join(f'<meta name="{name.replace("_", "-")}" content="{value}">' for name, value in fields.items())
    return f"<!doctype html><meta charset=utf-8><title>A page</title>{metas}<p>Text".encode()


def fields(**values: str) -> tuple[str | None, ...]:
    """The twelve values of a state."""
    return PageState.from_dict({name.replace("_", "-"): value for name, value in values.items()}).values


def stored(at: int = START - DAY, **values: str) -> StoredState:
    """A state that was stored once."""
    return StoredState(id=1, fields=fields(**values), first_at=at, last_at=at, storings=1)


def digest_of(body: bytes, content_type: str = "text/html") -> str:
    """The digest that a check of this body left."""
    return assess(URL, body, content_type, None, None).digest


def task(**changes: Any) -> PageTask:
    """A page that is due; nothing is known of it yet, or, where it has a state, that it has no signals."""
    known: dict[str, Any] = {
        "page_id": 1,
        "host_id": 1,
        "host": "site.example",
        "url": URL,
        "group_id": 1,
        "settings": None,
        "state": None,
    }
    if changes.get("state") is not None:
        known["beside"] = READ
    return with_changes(PageTask(**known), **changes)


_OF_DUE_TIMES = {"next_at": "at", "next_why": "why"}


def with_changes(value: T, **changes: Any) -> T:
    """The same with other fields; those of a part of it are named as if they were its own."""
    changes = {_OF_DUE_TIMES.get(name, name): changes[name] for name in changes}
    whole = {field for field in changes if field in value.__struct_fields__}
    found = {field: changes[field] for field in whole}
    for name in value.__struct_fields__:
        part = getattr(value, name)
        if isinstance(part, Struct) and (its := (changes.keys() - whole) & set(part.__struct_fields__)):
            found[name] = replace(found.get(name, part), **{field: changes[field] for field in its})
            whole |= its
    if unknown := changes.keys() - whole:
        raise TypeError(f"{type(value).__name__} has no {', '.join(sorted(unknown))}")
    return replace(value, **found)


def received(
    body: bytes = b"",
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    url: str = URL,
    moved_to: str | None = None,
) -> ReceivedPage:
    """An answer that was received, of type text/html unless the headers say otherwise."""
    named = {"content-type": "text/html"} | (headers or {})
    response = HopResponse(
        url=url, status=status, headers=tuple(named.items()), body=body, wire_bytes=len(body), elapsed_ms=12
    )
    return ReceivedPage(
        started_at=START,
        response=response,
        final_url=url,
        moved_to=moved_to,
        not_modified=status == 304,
        wire_bytes=len(body),
        elapsed_ms=12,
    )
