"""Rows of the query `task` as what a visit is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from tocsin.adapters.stores.sql.knowledge.kept import are_texts_short
from tocsin.adapters.stores.sql.knowledge.knowledge import beside_of
from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    DISALLOWED,
    LEARNT,
    OWED,
    SUSPECTED,
    read_attempts,
    read_fields,
    read_flags,
    read_instruction,
    read_pair,
    read_settings,
    to_json,
    unpack_digest,
)
from tocsin.errors import StoreError
from tocsin.model import CheckOrder, LastAnswer, PageTask, StoredState, Validators
from tocsin.settings import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import SignalContext

SQL = queries("learnt")

# Columns of the query `task`.
_PAGE, _HOST, _GROUP, _FLAGS = 0, 1, 4, 21
_SETTINGS, _SECRETS, _STATE, _ATTEMPTS, _RULE = 5, 6, 8, 20, 23
_HELD: Final = to_json({DAMAGED: True})

_NOTHING: Final = (None, None, None)


class TaskRows(NamedTuple):
    """Pages as the statement `task` reads them, with what else is known of some.

    learnt  known, listed and heard, by page
    noise   by host
    groups  their names: few, so that joining them to each page would cost more
    short   there is no room for first texts
    """

    rows: list[tuple[Any, ...]]
    learnt: dict[int, tuple[Any, ...]]
    noise: dict[int, bytes]
    groups: dict[int, str]
    short: bool = False

    def tasks(self) -> list[PageTask]:
        """Make tasks of them.

        A row that is damaged makes one that is held: it must neither be asked for, nor keep others from being checked.
        """
        tasks, groups, short, is_plain = [], self.groups, self.short, not self.learnt and not self.noise
        for row in self.rows:
            beside = None if is_plain else self._beside(row)
            try:
                tasks.append(_to_task(row, groups, beside, short))
            except (msgspec.DecodeError, StoreError):
                tasks.append(_to_task(_without_damage(row), groups, beside, short))
        return tasks

    def _beside(self, row: Sequence[Any]) -> SignalContext | None:
        known, listed, heard = self.learnt.get(row[_PAGE], _NOTHING)
        return beside_of(known, listed, heard, self.noise.get(row[_HOST]))


def read_tasks(db: SqlSession, query: str, place: dict[str, Any]) -> TaskRows:
    """Read pages by a query of `task`, at one instant: in a transaction."""
    rows = db.execute(query, place).fetchall()
    learnt = [row[_PAGE] for row in rows if row[_FLAGS] & LEARNT]
    return TaskRows(
        rows,
        {row[0]: row[1:] for row in db.execute(SQL["learnt_of_pages"], {"ids": ids(learnt)})} if learnt else {},
        dict(db.execute(SQL["noise_of_hosts"], {"hosts": ids({row[_HOST] for row in rows})}).fetchall()),
        dict(db.execute(SQL["names_of_groups"], {"groups": ids({row[_GROUP] for row in rows})}).fetchall()),
        are_texts_short(db),
    )


def _without_damage(row: Sequence[Any]) -> list[Any]:
    """Leave out of a row what may be damaged, and hold its page."""
    sound = list(row)
    for column in (_SECRETS, _STATE, _ATTEMPTS, _RULE):
        sound[column] = None
    sound[_SETTINGS] = _HELD
    return sound


def _to_task(
    row: Sequence[Any],
    groups: dict[int, str],
    beside: SignalContext | None,
    is_short: bool,  # noqa: FBT001 - by its place, as columns are: a name costs time for each page
) -> PageTask:
    """Make a task of a row; columns in the order of the query `task`."""
    (
        page_id, host_id, host, url, group_id, settings, secrets, text,
        state_id, fields, first_at, stored_at, storings,
        etag, last_modified, hop, last_set_at, last_checked_at, conditional_run,
        digest, attempts, flags, question_id, rule, request_id, body_bytes, next_at, part, epoch,
    ) = row  # fmt: skip
    state = None
    if state_id is not None:
        if fields is None:
            raise StoreError(f"{url}: what was stored of this page is gone")
        state = StoredState(state_id, read_fields(fields), first_at, stored_at, storings)
    validators = None if etag is None and last_modified is None else Validators(etag, last_modified, hop or url)
    # By their places: of more than fifteen names Python makes a dict first.
    return PageTask(
        page_id,
        host_id,
        host,
        url,
        group_id,
        read_settings(settings) if settings else None,
        state,
        LastAnswer(validators, unpack_digest(digest), last_set_at, last_checked_at, conditional_run, body_bytes),
        CheckOrder(
            next_at,
            request_id,
            read_attempts(attempts) if attempts else (),
            read_instruction(rule) if rule else None,
            question_id,
            part,
            epoch,
        ),
        read_flags(flags),
        flags & DISALLOWED != 0,
        flags & SUSPECTED != 0,
        flags & OWED != 0,
        read_pair(secrets) if secrets else None,
        groups[group_id],
        text,
        beside,
        is_short,
    )
