"""What must hold in every store at any time, each with the sentence that says what is wrong where it does not."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tocsin.adapters.stores.sql.knowledge.kept import declares
from tocsin.adapters.stores.sql.knowledge.knowledge import is_readable
from tocsin.adapters.stores.sql.pages.words import misplaced
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    read_fields,
    row_digest,
    row_digest_of_bytes,
    unless_damaged,
    unpack_report,
)
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession

SQL = queries("invariants")
_SHOWN = 5
_KEPT, _BACK = "savepoint checked", "rollback to checked"

SENTENCES = {
    "latest_state": "page {0}: its latest state is not {1}",
    "open_runs": "state {0} of page {1}: it has no end, and is not the page's latest",
    "states_as_written": "state {0} of page {1}: is not what was written, a fault of disk or memory changed it",
    "verdicts_as_written": "verdict {0} of page {1}: is not what was written, a fault of disk or memory changed it",
    "alerts_as_written": "alert {0}: is not what was written, a fault of disk or memory changed it",
    "renderings_as_written": "rendering {0} of page {1}: is not what was written, a fault of disk or memory changed it",
    "reports_readable": "page {0}: the report of its last check cannot be read, and is shown as none",
    "states_of_pages": "state {0}: its page {1} is gone",
    "keys_of_urls": "page {0}: it cannot be found by its URL {1}",
    "urls_once": "page {1}: its URL {0} is there before",
    "twelve_fields": "state {0} of page {1}: its fields are not twelve canonical values",
    "canonical_space": "state {0} of page {1}: a field has white space that no canonical value has",
    "latest_in_table": "page {0}: its latest state {1} is not in the table",
    "stored_in_order": "page {0}: its latest state {1} was stored last before it was stored first",
    "runs_in_order": "state {0} of page {1}: it was stored last before it was stored first",
    "one_verdict_one_alert": "alert {0}: it was given for {1} verdicts",
    "verdicts_served": "verdict {0} of page {1}: awareness is due, and nothing will give it",
    "unwanted_alerts": "verdict {0} of page {1}: an alert was given that was not due",
    "positions_whole": "alerts: the last position is not {1}",
    "positions_without_gaps": "alert at position {0}: there is none at {1} before it",
    "deliveries_of_alerts": "alert {0}: its delivery to {1} belongs to another alert",
    "deliveries_in_order": "alert {0}: {1} was given it before an older one of the same page",
    "one_place_for_each_channel": "alert at position {0}: {1} is to get it twice",
    "gathered_of_alerts": "alert at position {0}: its digest for {1} is another channel's, or its page is another",
    "gathered_counted": "digest {0}: it has not {1} alerts",
    "gathered_before_sealing": "digest {0}: the alert at position {1} joined it after it was sealed",
    "digests_composed": "digest {0}: it was given {1} times, and what it was given as is missing; or it is open still",
    "digests_as_named": "digest {0}: its event has not the id {1}",
    "deliveries_first": "alert {0}: whether {1} may be given it before the others of its page is noted wrongly",
    "questions_of_pages": "page {0}: its question {1} is not open",
    "questions_without_pages": "question {0}: open, and about no page",
    "one_open_question": "host {0}: two open questions about {1}",
    "standing_answers_of_pages": "page {0}: its standing answer {1} is gone",
    "never_is_never": "page {0}: standing answer {1} says never, and it is due",
    "renders_with_cause": "page {0}: waits to be rendered for nothing",
    "renders_owed": "page {0}: waits for a rendering that is not owed",
    "requests_done": "request {0}: {1} reports are not there, or more than it asked for",
    "requests_wanted": "page {0}: its request {1} is gone",
    "pages_as_text": "page {0}: its text is too long",
    "copies_bounded": "page {0}: {1} copies are remembered of what it names, which is too many",
    "copies_of_pages": "page {0}: it names a copy that cannot be one: {1}",
    "learnt_readable": "page {0}: what is {1} of it cannot be read, and counts as nothing until it is written anew",
    "learnt_of_pages": "page {0}: is gone, and something is known of it",
    "learnt_noted": "page {0}: something is known of it, but its flags do not say so",
    "noise_readable": "host {0} ({1}): its noise cannot be read, and counts as none",
    "listings_to_do": "listing {0}: its entries as a {1} will never be applied",
    "listings_of_pages": "listing {0}: its page is gone, and what it said as a {1} will never be deleted",
    "snapshots_of_pages": "text {0}: its page {1} is gone",
    "texts_wanted": "text {0}: no page has it",
    "texts_counted": "texts: they take {1} bytes, not {0}",
    "storms_of_verdicts": "verdict {0} of page {1}: its storm is gone",
    "one_storm_at_a_time": "host {0}: storm {1} began before the one of the same change was over",
    "bytes_counted": "page {0}: a count of its bytes is {1}",
    "groups_counted": "group {0}: it has not {1} pages",
    "questions_counted": "question {0}: it is not about {1} pages",
    "pages_declaring": "page {0}: what it declares is not what it is listed by",
    "marks_of_alerts": "alert at position {0}: it is in no list, or in one and not there",
    "summaries_of_pages": "page {0}: is gone and its summary is kept, or its title is too long ({1} characters)",
    "items_of_pages": "page {0}: is gone, and {1} of its items are kept",
    "items_bounded": "page {0}: what is kept of its {1} items is more than is ever kept",
    "items_readable": "page {0}: what is kept of its {1} items cannot be read",
    "item_changes_of_renderings": "rendering {0} of page {1}: is gone, and how items changed with it is kept",
    "item_changes_readable": "rendering {0} of page {1}: how items changed with it cannot be read",
    "edits_of_pages": "page {0}: is gone, and its edits are counted",
}


# Whether a row breaks an invariant, where SQL cannot tell.
ROW_CHECKS: Final[dict[str, Callable[[Sequence[Any]], bool]]] = {
    "states_as_written": lambda row: row[2] != row_digest(*row[3:]),
    "verdicts_as_written": lambda row: row[2] != row_digest_of_bytes(*row[3:]),
    "alerts_as_written": lambda row: row[2] != row_digest_of_bytes(*row[3:]),
    "renderings_as_written": lambda row: row[2] != row_digest_of_bytes(*row[3:]),
    "reports_readable": lambda row: unless_damaged(partial(unpack_report, *row[1:3]), row[3]) is None,
    "twelve_fields": lambda row: not _are_twelve(_fields_of(row[2])),
    "canonical_space": lambda row: any(map(_has_other_space, _fields_of(row[2]))),
    "pages_declaring": lambda row: row[1] != _is_declaring(_fields_of(row[2])),
    "learnt_readable": lambda row: not is_readable(row[1], row[2]),
    "noise_readable": lambda row: not is_readable("noise", row[2]),
    "items_readable": lambda row: not is_readable("items", row[2]),
}


def breaches(db: SqlSession, driver_error: type[Exception]) -> Iterator[str]:
    """Say which of the program's own invariants do not hold, inside a transaction.

    driver_error  what the session raises for a row that cannot be read
    """
    for name, sentence in SENTENCES.items():
        # A transaction in which a statement failed is of no more use, except back to where it was before.
        db.execute(_KEPT)
        try:
            yield from _breaches(db, name, sentence)
        except driver_error as exc:
            # Such as a text that is no longer UTF-8: one damaged row must not hide all others.
            yield f"check {name}: a row cannot be read ({exc})"
            db.execute(_BACK)
    try:
        for first, last in misplaced(db):
            yield f"pages {first} to {last}: they are found by other words than they have"
    except (driver_error, ValueError) as exc:
        yield f"words of pages cannot be read ({exc})"


def _breaches(db: SqlSession, name: str, sentence: str) -> Iterator[str]:
    rows = iter(db.execute(SQL[name]))
    if name in ROW_CHECKS:
        rows = filter(ROW_CHECKS[name], rows)
    for row in islice(rows, _SHOWN):
        yield sentence.format(*row)
    if more := sum(1 for _ in rows):
        yield f"... and {more} more of this kind"


def _fields_of(packed: bytes | None) -> tuple[str | None, ...]:
    """Read the values of a state; none where they cannot be read."""
    try:
        return () if packed is None else read_fields(packed)
    except (msgspec.DecodeError, TypeError):
        return ()


def _are_twelve(fields: Sequence[str | None]) -> bool:
    return len(fields) == len(FIELDS) and "" not in fields


def _has_other_space(value: str | None) -> bool:
    return value is not None and (value.startswith(" ") or value.endswith(" ") or "  " in value)


def _is_declaring(fields: tuple[str | None, ...]) -> bool:
    return len(fields) == len(FIELDS) and declares(fields)
