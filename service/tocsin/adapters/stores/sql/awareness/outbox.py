"""Publishing alerts, inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.codec import read_names, to_json
from tocsin.adapters.stores.sql.packing import row_digest
from tocsin.adapters.stores.sql.statements import queries
from tocsin.events import OUTAGE_BEGAN, OUTAGE_ENDED, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import AlertDraft, JsonObject

SQL = queries("alerts")


def publish(db: Session, drafts: Sequence[AlertDraft]) -> None:
    """Write alerts in this order, each with a delivery to every channel that is set."""
    if not drafts:
        return
    last, names = db.execute(SQL["reserve"], {"count": len(drafts)}).fetchone()
    placed = list(enumerate(drafts, last - len(drafts) + 1))
    db.executemany(
        SQL["insert_alert"],
        [(*row, row_digest(*row)) for row in (_alert_row(position, draft) for position, draft in placed)],
    )
    db.executemany(
        SQL["insert_mark"],
        [
            {
                "position": position,
                "kind": kind_of(draft.type),
                "outcome": draft.event.get("data", {}).get("outcome"),
                "group": group_of(draft.event.get("data", {})),
            }
            for position, draft in placed
        ],
    )
    db.executemany(
        SQL["insert_delivery"],
        [
            {"channel": channel, "position": position, "alert": draft.id, "page": _order_of(draft), "at": draft.at}
            for position, draft in placed
            for channel in read_names(names)
        ],
    )


def _alert_row(position: int, draft: AlertDraft) -> tuple[str, int, int | None, str, int, str]:
    return draft.id, position, draft.page_id, draft.type, draft.at, to_json(draft.event)


def _order_of(draft: AlertDraft) -> int | None:
    """Name the alerts among which this one keeps its place: those of its page, or of our own connection."""
    # No page has the number 0.
    return 0 if draft.type in {OUTAGE_BEGAN, OUTAGE_ENDED} else draft.page_id


def group_of(data: JsonObject) -> str | None:
    """Name the group of the page that an event is about; None for one that is about none."""
    page = data.get("page")
    return page.get("group") if isinstance(page, dict) else None
