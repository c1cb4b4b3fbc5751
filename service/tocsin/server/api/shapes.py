"""Rows of the store as the API shows them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tocsin.model.records.pages import is_subject
from tocsin.server.actions import shown
from tocsin.server.api.schemas.common import Attempt, time_of, time_or_none
from tocsin.server.api.schemas.pages import Copy, ItemsHint, Page, WholePage
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.model import Attempt as Tried
    from tocsin.model import CheckReport, FieldValues, JsonObject, KnownCopy, PageItems, PageRow
    from tocsin.model.records.pages import Modes


def page_of(row: PageRow, modes: Modes) -> Page:
    """Show a page."""
    mode, mode_from = modes.of(row)
    report = row.last_report or {}
    return Page.model_construct(
        id=str(row.id),
        url=row.url,
        host=row.host,
        group=row.group,
        text=row.text,
        mode=mode,
        mode_from=mode_from,
        subject=is_subject(row, mode),
        paused=row.paused,
        settings=shown(row.settings),
        credentials=row.has_secrets,
        fields=None if row.fields is None else fields_of(row.fields),
        outcome=report.get("outcome"),
        basis=report.get("basis"),
        last_check=report_of(report) if report else None,
        stored_at=time_or_none(row.stored_at),
        checked_at=time_or_none(row.last_checked_at),
        received_at=time_or_none(row.last_received_at),
        changed_at=time_or_none(row.last_changed_at),
        next_at=time_or_none(row.next_at),
        next_why=row.next_why,
        question=None if row.question_id is None else str(row.question_id),
        noindex=row.noindex,
        nofollow=row.nofollow,
        saved_bytes=row.saved_bytes,
    )


def whole_page(row: PageRow, modes: Modes, items: PageItems | None) -> WholePage:
    """Show a page by itself."""
    hint = None if items is None else ItemsHint(count=items.count, at=time_of(items.at))
    return WholePage.model_construct(**dict(page_of(row, modes)), items=hint)


def fields_of(values: FieldValues) -> dict[str, str | None]:
    """Show the twelve fields of a state by name."""
    return dict(zip(FIELDS, values, strict=True))


def copies_of(copies: Sequence[KnownCopy]) -> list[Copy]:
    """Show copies, numbered as they are offered."""
    return [
        Copy.model_validate(
            {
                "number": place,
                "url": copy.url,
                "datetime": copy.datetime,
                "rel": copy.rel,
                "kind": copy.kind,
                "of": copy.of,
                "from": copy.seen_on,
            }
        )
        for place, copy in enumerate(copies, 1)
    ]


def attempts_of(attempts: Iterable[Tried]) -> list[Attempt]:
    """Show tries."""
    return [
        Attempt(
            at=time_of(tried.at),
            kind=tried.kind,
            status=tried.status,
            message=tried.message,
            elapsed_ms=tried.elapsed_ms,
        )
        for tried in attempts
    ]


def report_of(report: JsonObject | CheckReport) -> JsonObject:
    """Show a check as `tocsin check --json` tells it."""
    record = report if isinstance(report, dict) else msgspec.to_builtins(report)
    error = record.get("error")
    return {
        **record,
        "next_try": time_or_none(record.get("next_try")),
        "error": {"kind": error[0], "message": error[1]} if error else None,
    }
