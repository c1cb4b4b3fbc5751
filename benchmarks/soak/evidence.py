"""What the store holds when all is over, read with SQL of our own: the service's code does not judge itself."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.soak import alike
from benchmarks.soak.receiver import STUBBORN
from benchmarks.soak.versions import version_in_event, version_of
from tocsin.adapters.stores.sql.values import read_fields


class State(NamedTuple):
    """A run of equal states."""

    id: int
    version: int
    first_at: int


class Verdict(NamedTuple):
    """What a check's comparison found."""

    id: int
    state_id: int | None
    outcome: str
    before: int
    after: int
    awareness: bool
    alert_id: str | None


class Alert(NamedTuple):
    """An event in the outbox."""

    id: str
    position: int
    page_id: int | None
    type: str
    event: dict[str, Any]
    created_at: int = 0


class Question(NamedTuple):
    """Pages of a host that failed for one cause."""

    id: int
    is_announced: bool
    is_closed: bool


class Evidence(NamedTuple):
    """The whole store, as far as the judge asks; of the pages that change alike, alerts and questions alone.

    digests  the alerts of each, by its channel and the id that it is given under
    """

    pages: dict[int, str]
    states: dict[int, list[State]]
    verdicts: dict[int, list[Verdict]]
    alerts: list[Alert]
    deliveries: dict[tuple[str, str], str]
    questions: list[Question]
    waiting_renders: int
    digests: Mapping[tuple[str, str], Sequence[str]]


def gather(store: Path) -> Evidence:
    """Read the store."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        pages = {page: url for page, url in db.execute("select id, url from pages") if not alike.is_alike(url)}
        states: dict[int, list[State]] = defaultdict(list)
        for id_, page, fields, first_at in db.execute("select id, page_id, fields, first_at from states order by id"):
            if page not in pages:
                continue
            states[page].append(State(id_, version_of(read_fields(fields)), first_at))
        verdicts: dict[int, list[Verdict]] = defaultdict(list)
        columns = "id, state_id, outcome, data, awareness, alert_id"
        for page, id_, state, outcome, text, awareness, alert in db.execute(
            f"select page_id, {columns} from verdicts order by id"  # noqa: S608 - constants
        ):
            if page not in pages:
                continue
            data = json.loads(text)
            before, after = version_in_event(data["previous"]), version_in_event(data["latest"])
            verdicts[page].append(Verdict(id_, state, outcome, before, after, bool(awareness), alert))
        alerts = [
            Alert(id_, position, page, kind, json.loads(event), at)
            for id_, position, page, kind, event, at in db.execute(
                "select id, position, page_id, type, event, created_at from alerts order by position"
            )
        ]
        digests: dict[tuple[str, str], list[str]] = defaultdict(list)
        for channel, id_, alert_id in db.execute(_DIGESTS):
            digests[channel, id_].append(alert_id)
        return Evidence(
            pages=pages,
            states=states,
            verdicts=verdicts,
            alerts=alerts,
            deliveries={(alert, channel): state for alert, channel, state in db.execute(_DELIVERIES)},
            questions=[Question(id_, bool(told), bool(closed)) for id_, told, closed in db.execute(_QUESTIONS)],
            waiting_renders=db.execute("select count(*) from renders").fetchone()[0],
            digests=digests,
        )


def unsettled(store: Path, versions: dict[str, int], refused: str) -> list[str]:
    """Say what is still to be done before the service may be judged; nothing is what one waits for.

    refused  the page whose alerts one receiver never takes
    """
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        place = {"channel": STUBBORN, "refused": refused}
        counts = {what: db.execute(sql, place).fetchone()[0] for what, sql in _UNSETTLED.items()}
        latest = dict(db.execute("select p.url, s.fields from pages p join states s on s.id = p.state_id"))
    counts["pages not up to date"] = sum(
        url not in latest or version_of(read_fields(latest[url])) != version for url, version in versions.items()
    )
    return [f"{count} {what}" for what, count in counts.items() if count]


def put_off(store: Path, refused: str, seconds: float) -> list[tuple[str, str]]:
    """List what is not tried again for this long, after several failures: the alert and its channel.

    refused  the page whose alerts one receiver never takes
    """
    place = {"channel": STUBBORN, "refused": refused, "after": (time.time() + seconds) * 1e6}
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return db.execute(_PUT_OFF, place).fetchall()


_PUT_OFF = (
    "select alert_id, channel from deliveries where state = 'waiting' and is_first = 1 and next_at > :after and not "
    "(channel = :channel and coalesce(page_id, 0) = (select id from pages where url = :refused))"
)
_DELIVERIES = (
    "select alert_id, channel, state from deliveries union all "
    "select a.id, g.channel, b.state from gathered g "
    "join alerts a on a.position = g.position join bundles b on b.id = g.bundle"
)
_DIGESTS = (
    "select g.channel, d.message_id, a.id from digests d join gathered g on g.bundle = d.bundle "
    "join alerts a on a.position = g.position"
)
_QUESTIONS = "select id, announced_at is not null, closed_at is not null from questions order by id"
_UNSETTLED = {
    "deliveries waiting": "select count(*) from deliveries where state = 'waiting' and not "
    "(channel = :channel and coalesce(page_id, 0) = (select id from pages where url = :refused))",
    "digests waiting": "select count(*) from bundles where state in ('open', 'sealed')",
    "verdicts without their alert": "select count(*) from verdicts where awareness = 1 and alert_id is null",
    "renderings waiting": "select count(*) from renders",
    "questions open": "select count(*) from questions where closed_at is null",
    "pages with a rendering owed": "select count(*) from pages where flags & 4",
}
