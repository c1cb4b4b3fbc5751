"""What a verdict leads to: a place in the render queue, and alerts with their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_names, row_digest, to_json
from tocsin.events import OUTAGE_BEGAN, OUTAGE_ENDED, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import AlertDraft, Instant, JsonObject


ALERTS = queries("alerts")
RENDERS = queries("renders")


def publish(db: SqlSession, drafts: Sequence[AlertDraft]) -> None:
    """Write alerts in this order, each with a delivery to every channel that is set."""
    if not drafts:
        return
    last, names = db.execute(ALERTS["reserve"], {"count": len(drafts)}).fetchone()
    placed = list(enumerate(drafts, last - len(drafts) + 1))
    db.executemany(
        ALERTS["insert_alert"],
        [(*row, row_digest(*row)) for row in (_alert_row(position, draft) for position, draft in placed)],
    )
    db.executemany(
        ALERTS["insert_mark"],
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
        ALERTS["insert_delivery"],
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


def want_render(
    db: SqlSession,
    page_id: int,
    *,
    since: Instant,
    major: bool = False,
    owed: bool = False,
    copy_url: str | None = None,
) -> None:
    """Put a page into the queue, or add to what it waits for there; a slot that it holds it keeps."""
    row = {"page": page_id, "major": major, "since": since, "owed": owed, "copy_url": copy_url}
    db.execute(RENDERS["want"], row)


def forgive(db: SqlSession, page_id: int) -> None:
    """Forget that a rendering is owed: the user wants no more of it."""
    db.execute(RENDERS["forgive"], {"page": page_id})
    db.execute(RENDERS["forgive_job"], {"page": page_id})
    db.execute(RENDERS["drop_forgiven"], {"page": page_id})
