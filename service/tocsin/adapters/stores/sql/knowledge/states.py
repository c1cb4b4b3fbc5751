"""Storing states and taking them out of the table, inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import pack_digest, row_digest, write_fields

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import FieldValues, Instant, JsonObject, NewState

SQL = queries("states")


def declares(fields: FieldValues) -> bool:
    """Tell whether a state has a topper element (T53): the last three of the twelve fields."""
    _, _, _, _, _, _, _, _, _, topper, major, minor = fields
    return topper is not None or major is not None or minor is not None


def store_state(db: SqlSession, page_id: int, state: NewState, *, stored_at: Instant | None) -> int:
    """Begin a new run of equal states with this one; returns its id.

    stored_at  the page's last storing so far: time never goes back for one page
    """
    at = max(state.stored_at, stored_at or state.stored_at)
    db.execute(SQL["close_run"], {"page": page_id})
    fields = write_fields(state.fields)
    row = {"page": page_id, "at": at, "fields": fields, "digest": row_digest(page_id, at, fields)}
    state_id: int = db.execute(SQL["open_run"], row).fetchone()[0]
    db.execute(
        SQL["show_run"],
        {"page": page_id, "state": state_id, "at": at, "declares": declares(state.fields), **origin(state)},
    )
    return state_id


def store_equal(db: SqlSession, page_id: int, state: NewState) -> None:
    """Store the page's latest state once more."""
    db.execute(SQL["run_on"], {"page": page_id, "at": state.stored_at, **origin(state)})


def origin(state: NewState) -> JsonObject:
    """Give the columns that belong to the answer that a state came with."""
    validators = state.validators
    return {
        "etag": validators.etag if validators else None,
        "last_modified": validators.last_modified if validators else None,
        "hop": validators.hop_url if validators else None,
        "digest": pack_digest(state.body_digest),
        "body_bytes": state.body_bytes,
    }


def retire_records(db: SqlSession, page_id: int, *, history: bool) -> None:
    """Take every record of a page but the most recent out of the table (T70).

    history  keep them beside it; else they are deleted
    """
    db.execute(SQL["retire_older" if history else "delete_older"], {"page": page_id})
    db.execute(SQL["retire_storings"], {"page": page_id})
