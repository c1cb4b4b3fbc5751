"""Rows of the query `task` as what a visit is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sqlite.codec import (
    read_attempts,
    read_fields,
    read_instruction,
    read_object,
    read_pair,
)
from tocsin.adapters.stores.sqlite.knowledge import beside_of
from tocsin.adapters.stores.sqlite.packing import unpack_digest
from tocsin.errors import StoreError
from tocsin.model import PageTask, StoredState, Validators

if TYPE_CHECKING:
    from collections.abc import Sequence

DISALLOWED, NOT_HTML, OWED, NOINDEX, NOFOLLOW, SUSPECTED = 1, 2, 4, 8, 16, 32
"""Bits of pages.flags."""


def to_task(row: Sequence[Any]) -> PageTask:
    """Make a task of a row; columns in the order of the query `task`."""
    (
        page_id, host_id, host, url, group_id, group, settings, secrets, text,
        state_id, fields, first_at, stored_at, storings,
        etag, last_modified, hop, last_set_at, last_checked_at, conditional_run,
        digest, attempts, flags, question_id, rule, request_id, body_bytes,
        known, listed, heard, noise,
    ) = row  # fmt: skip
    state = None
    if state_id is not None:
        if fields is None:
            raise StoreError(
                f"{url}: what was stored of this page is gone, the store is damaged; `tocsin store check` shows how "
                "far it goes: restore a backup"
            )
        state = StoredState(state_id, read_fields(fields), first_at, stored_at, storings)
    return PageTask(
        page_id=page_id,
        host_id=host_id,
        host=host,
        url=url,
        group_id=group_id,
        settings=read_object(settings) if settings else None,
        state=state,
        validators=None if etag is None and last_modified is None else Validators(etag, last_modified, hop or url),
        last_set_at=last_set_at,
        last_checked_at=last_checked_at,
        conditional_run=conditional_run,
        body_digest=unpack_digest(digest),
        attempts=read_attempts(attempts) if attempts else (),
        owed=flags & OWED != 0,
        disallowed=flags & DISALLOWED != 0,
        not_html=flags & NOT_HTML != 0,
        question_id=question_id,
        instruction=read_instruction(rule) if rule else None,
        request_id=request_id,
        secrets=read_pair(secrets) if secrets else None,
        group=group,
        text=text,
        noindex=flags & NOINDEX != 0,
        nofollow=flags & NOFOLLOW != 0,
        body_bytes=body_bytes,
        suspected=flags & SUSPECTED != 0,
        beside=beside_of(known, listed, heard, noise),
    )
