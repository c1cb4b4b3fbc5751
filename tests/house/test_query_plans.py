"""Every query has a name and a user, and those that run all day use their indexes."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from tests.house.sources import ROOT
from tocsin.adapters.stores.sql.invariants import SENTENCES
from tocsin.adapters.stores.sql.pages.watchlist import _conditions
from tocsin.adapters.stores.sql.statements import areas, queries
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.model import PageFilter, View

CODE = ROOT / "service/tocsin/adapters/stores"


# Tables of a handful of rows, and what a query makes for itself.
SMALL = {
    "positions",
    "store",
    "silences",
    "saved_entries",
    "channel_mutes",
    "channel_tests",
    "nodes",
    "parts",
    "leases",
    "free",
    "groups",
    "json_each",
    "a",
    "i",
    "u",
    "CONSTANT",
    "t",
    "few",
}


class Anything(dict[str, Any]):
    """Null for every parameter."""

    def __missing__(self, name: str) -> None:
        return None


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """An empty store."""
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as opened:
        list(apply_migrations(opened, ":memory:"))
        yield opened


def plan(db: sqlite3.Connection, query: str) -> list[str]:
    """How SQLite means to find the rows."""
    # A parameter with a number may be there twice.
    numbers = {int(number) for number in re.findall(r"\?(\d+)", query)}
    parameters = [None] * (max(numbers, default=0) or query.count("?")) if "?" in query else Anything()
    return [row[3] for row in db.execute(f"explain query plan {query}", parameters)]


def scans(steps: list[str]) -> list[str]:
    """The steps that go through a whole table that may be large."""
    found = [step for step in steps if step.startswith("SCAN") and "(subquery" not in step]
    return [step for step in found if step.split()[1] not in SMALL]


@pytest.mark.parametrize(
    ("area", "name", "index"),
    [
        ("work", "agenda", "pages_due"),
        ("work", "agenda", "pages_requested"),
        ("work", "agenda_since", "hosts_by_revision"),
        ("work", "due_by_host", "pages_due"),
        ("work", "due_beside_wanted", "pages_due"),
        ("work", "wanted_of_host", "pages_requested"),
        ("work", "requested_of_host", "pages_requested"),
        ("work", "tasks_of_parts", "INTEGER PRIMARY KEY"),
        ("work", "due_of_hosts", "pages_due"),
        ("work", "standing", "INTEGER PRIMARY KEY"),
        ("work", "note_check", "INTEGER PRIMARY KEY"),
        ("work", "note_equal", "INTEGER PRIMARY KEY"),
        ("work", "note_new", "INTEGER PRIMARY KEY"),
        ("work", "note_same", "INTEGER PRIMARY KEY"),
        ("work", "note_same_anew", "INTEGER PRIMARY KEY"),
        ("states", "close_runs", "INTEGER PRIMARY KEY"),
        ("work", "spread", "INTEGER PRIMARY KEY"),
        ("work", "overdue", "INTEGER PRIMARY KEY"),
        ("work", "ahead_of_clock", "INTEGER PRIMARY KEY"),
        ("work", "long_gates", "hosts_gated"),
        ("work", "wrongly_off", "pages_off"),
        ("work", "modes", "INTEGER PRIMARY KEY"),
        ("hosts", "robots_of", "autoindex_hosts"),
        ("states", "close_run", "INTEGER PRIMARY KEY"),
        ("states", "retire_older", "states_before"),
        ("states", "delete_older", "states_before"),
        ("renders", "pending", "verdicts_pending"),
        ("renders", "pending_of_page", "verdicts_pending"),
        ("attention", "open_question", "questions_open"),
        ("attention", "standing_answer_in_force", "standing_answers_of_host"),
        ("attention", "close_if_left", "pages_asked_about"),
        ("attention", "to_announce", "questions_unasked"),
        ("alerts", "due_deliveries", "deliveries_ready"),
        ("alerts", "next_delivery_at", "deliveries_ready"),
        ("alerts", "resume_deliveries", "deliveries_ready"),
        ("alerts", "recover_deliveries", "deliveries_ready"),
        ("alerts", "insert_delivery", "deliveries_of_page"),
        ("alerts", "record", "PRIMARY KEY"),
        ("alerts", "due_beside_digests", "gathered_of_bundle"),
        ("alerts", "behind_digests", "gathered_of_bundle"),
        ("alerts", "behind_digests", "deliveries_ready"),
        ("routed", "open_bundle_of", "bundles_open"),
        ("routed", "last_due_of", "bundles_of_route"),
        ("bundles", "to_seal", "bundles_due"),
        ("bundles", "seal", "silenced_of_route"),
        ("bundles", "gathered_of", "gathered_of_bundle"),
        ("alert_lists", "positions_of_digest", "gathered_in_bundle"),
        ("alerts", "after", "autoindex_alerts"),
        ("alerts", "alerts_of_page", "alerts_by_page"),
        ("watchlist", "known", "pages_by_key"),
        ("watchlist", "page", "pages_by_key"),
        ("watchlist", "history", "states_before"),
        ("requests", "done", "INTEGER PRIMARY KEY"),
        ("requests", "drop", "pages_wanted"),
        ("hosts", "gates", "hosts_gated"),
        ("care", "forget_states", "states_of_the_past"),
        ("copies", "forget", "PRIMARY KEY"),
        ("learnt", "learnt_of_pages", "INTEGER PRIMARY KEY"),
        ("learnt", "noise_of_hosts", "hosts_noisy"),
        ("learnt", "note_learnt", "INTEGER PRIMARY KEY"),
        ("learnt", "learnt_of", "pages_by_key"),
        ("listings", "pages_of", "pages_by_key"),
        ("storms", "running", "storms_of_host"),
        ("storms", "seen_elsewhere", "PRIMARY KEY"),
        ("storms", "fold", "verdicts_of_storm"),
        ("storms", "to_announce", "storms_unannounced"),
        ("storms", "withheld", "verdicts_of_storm"),
        ("storms", "give_awareness", "verdicts_of_storm"),
        ("listings", "listed", "learnt_listed"),
        ("listings", "hurry", "INTEGER PRIMARY KEY"),
        ("copies", "of_page", "copies_by_target"),
        ("snapshots", "last_digest", "snapshots_of_page"),
        ("snapshots", "keep", "autoindex_texts"),
        ("snapshots", "forget_page", "snapshots_of_page"),
        ("snapshots", "around", "snapshots_of_page"),
        ("snapshots", "latest_of", "snapshots_of_page"),
        ("snapshots", "prunable", "snapshots_of_page"),
        ("pictures", "of_page", "pictures_of_page"),
        ("pictures", "latest", "pictures_of_page"),
        ("pictures", "prunable", "pictures_of_page"),
        ("pictures", "is_kept", "pictures_by_digest"),
        ("items", "latest", "INTEGER PRIMARY KEY"),
        ("items", "changes", "item_changes_of_page"),
        ("items", "forget_changes", "item_changes_of_page"),
        ("items", "keep_changes", "INTEGER PRIMARY KEY"),
        ("items", "history", "pages_by_key"),
        ("items", "history", "item_changes_of_page"),
        ("copies", "of_question", "pages_asked_about"),
        ("copies", "of_question", "copies_by_target"),
        ("browsing", "host_before", "pages_of_host"),
        ("browsing", "host_after", "pages_of_host"),
        ("browsing", "all_after", "INTEGER PRIMARY KEY"),
        ("browsing", "titles_after", "summaries_by_title"),
        ("browsing", "hosts_from", "autoindex_hosts"),
        ("browsing", "page_after", "INTEGER PRIMARY KEY"),
        ("alert_lists", "alert_after", "autoindex_alerts"),
        ("browsing", "added_since", "INTEGER PRIMARY KEY"),
        ("browsing", "added_since_to_group", "pages_of_group"),
        ("browsing", "revision_of_page", "INTEGER PRIMARY KEY"),
        ("browsing", "state", "INTEGER PRIMARY KEY"),
        ("browsing", "verdicts", "verdicts_by_page"),
        ("browsing", "change_marks", "verdicts_by_page"),
        ("browsing", "renderings", "renderings_by_page"),
        ("watchlist", "rows", "INTEGER PRIMARY KEY"),
        ("words", "rows", "INTEGER PRIMARY KEY"),
        ("words", "new_before", "INTEGER PRIMARY KEY"),
        ("words", "in_block", "INTEGER PRIMARY KEY"),
        ("question_lists", "open", "questions_by_size"),
        ("question_lists", "ended", "questions_ended"),
        ("access", "token_of", "autoindex_tokens"),
        ("access", "token_named", "tokens_by_name"),
        ("access", "token_left", "tokens_by_name"),
        ("access", "session_of", "PRIMARY KEY"),
        ("access", "end_sessions", "sessions_of_token"),
        ("access", "end_old_sessions", "sessions_by_end"),
        ("access", "audit", "INTEGER PRIMARY KEY"),
        ("jobs", "answer", "autoindex_answers"),
        ("activity", "since", "INTEGER PRIMARY KEY"),
        ("care", "forget_answers", "answers_by_age"),
        ("care", "forget_jobs", "jobs_by_age"),
        ("care", "forget_sessions", "sessions_by_end"),
    ],
)
def test_a_hot_query_uses_its_index_and_scans_no_table(
    db: sqlite3.Connection, area: str, name: str, index: str
) -> None:
    steps = plan(db, queries(area)[name])

    assert any(index in step for step in steps), steps
    assert scans(steps) == []


@pytest.mark.parametrize("name", ["of_dead", "of_digest"])
def test_a_part_of_the_list_of_a_large_digest_costs_what_one_of_a_small_digest_does(
    db: sqlite3.Connection, name: str
) -> None:
    """In steps of SQLite's machine."""
    steps: list[int] = []
    db.execute(
        "insert into bundles (id, channel, route, key, state, opened_at, due_at) "
        "values (1, 'mail', 'all', '', 'dead', 1, 1)"
    )
    for size in (100, 5000):
        db.execute(
            "with recursive n (i) as (select 1 + coalesce(max(position), 0) from alerts union all select i + 1 from n "
            "where i < :size) insert into alerts (id, position, type, created_at, event, digest) "
            "select printf('%026d', i), i, 'tocsin.changed.v1', 1, '{}', 0 from n",
            {"size": size},
        )
        db.execute("insert or ignore into alert_marks (position, kind) select position, 'changed' from alerts")
        db.execute(
            "insert or ignore into gathered (position, channel, bundle, page_id) "
            "select position, 'mail', 1, position * 7919 % 5000 from alerts"
        )
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1
            return 0

        db.set_progress_handler(count, 1)
        rows = db.execute(queries("alert_lists")[name], {"digest": 1, "before": size, "limit": 10}).fetchall()
        db.set_progress_handler(None, 1)
        assert [position for position, _ in rows] == [*range(size - 1, size - 11, -1)]
        steps.append(taken)

    assert steps[1] <= 1.2 * steps[0]


def test_a_search_for_new_titles_begins_with_the_pages_that_have_one(db: sqlite3.Connection) -> None:
    steps = plan(db, queries("words")["retitled_in"])

    assert [step.split()[1] for step in steps] == ["r", "p", "y"]


# Queries that go through a large table, or sort, each with the reason why that is right.
ALLOWED = {
    "walks along an index, in its order, and stops at its limit": {
        "alerts.last_of_outages",
        "care.forget_activity",
        "care.forget_alerts",
        "care.forget_audit",
        "care.forget_bundles",
        "care.oldest_alerts",
        "care.forget_questions",
        "care.forget_renderings",
        "care.forget_requests",
        "care.forget_sightings",
        "care.forget_storms",
        "care.forget_verdicts",
        "listings.next",
        "pictures.crowded",
        "pictures.oldest",
        "renders.oldest_waiting",
        "renders.waiting",
        "snapshots.crowded",
        "snapshots.oldest",
        "storms.storms",
        "access.any_token",
        "alert_lists.of_dead",
        "alert_lists.positions_of_dead",
        "bundles.bundle_row",
        "bundles.bundles",
        "bundles.in_accepted",
        "bundles.in_dead",
        "browsing.all_before",
        "jobs.latest",
        "words.retitled",
    },
    "an index of few: open questions, rules, channels, what is empty or was asked for by hand": {
        "attention.close_empty",
        "attention.covered_by_cause",
        "attention.questions",
        "attention.standing_answer_in_force",
        "attention.standing_answers",
        "attention.to_withdraw",
        "figures.questions",
        "figures.renders",
        "care.forget_hosts",
        "care.forget_rate_windows",
        "care.listening_channels",
        "renders.count_waiting",
        "work.long_renders",
        "access.tokens",
        "jobs.forget_begun",
        "jobs.interrupt",
        "jobs.to_cancel",
        "jobs.has_lost",
        "jobs.interrupt_lost",
        "jobs.forget_lost",
        "question_lists.count_renders",
        "question_lists.count_waiting",
        "bundles.dead_bundles",
        "bundles.drop_empty",
        "bundles.end_without_channel",
        "bundles.hasten_without_route",
    },
    "pictures are few, each as large as a thousand states: all are summed up, and compared with files": {
        "pictures.all",
        "pictures.total",
    },
    "sorts the few digests that wait or are being sent, and the alerts of one": {
        "alert_lists.of_digest",
        "bundles.in_open",
        "bundles.in_sealed",
    },
    "sorts the few rows of one page, question or batch": {
        "bundles.to_give",
        "copies.of_question",
        "storms.verdicts_of",
        "renders.taken",
        "snapshots.of_page",
        "watchlist.history",
    },
    "looks through a bounded part of the list, once for a process that doubts its connection": {"hosts.received_last"},
    "few pages log in: an edit by hand looks through all of their cookies": {
        "watchlist.forget_all_logins",
        "watchlist.forget_logins_of_group",
    },
    "a table that is emptied each minute": {"words.retitled_by_block"},
    "sorts the settings that were made at run time, when one has changed": {"saved.entries"},
    "somebody asked for all of it, by hand": {
        "revisions.stamp_all",
        "hosts.crowds",
        "hosts.own_schedules",
        "hosts.schedules_of",
        "table.rows",
        "watchlist.count",
        "watchlist.groups",
        "watchlist.last_id",
        "watchlist.last_times",
    },
    "`store check` looks at everything": {f"invariants.{name}" for name in SENTENCES},
}


def whole_queries() -> list[tuple[str, str]]:
    """Every query that can be asked as it stands; the others are parts of them."""
    statement = re.compile(r"(?:select|insert|update|delete)\b")
    return [(area, name) for area in areas() for name in queries(area) if statement.match(queries(area)[name])]


def test_only_what_may_goes_through_a_large_table_or_sorts(db: sqlite3.Connection) -> None:
    allowed = {name for names in ALLOWED.values() for name in names}

    found = {
        f"{area}.{name}": steps
        for area, name in whole_queries()
        if (steps := [step for step in plan(db, queries(area)[name]) if scans([step]) or "TEMP B-TREE" in step])
    }

    assert {name: steps for name, steps in found.items() if name not in allowed} == {}


def test_what_may_go_through_a_large_table_still_does() -> None:
    known = {f"{area}.{name}" for area, name in whole_queries()}

    assert {name for names in ALLOWED.values() for name in names} <= known


def test_plans_do_not_change_with_what_is_known_of_the_rows() -> None:
    """Statistics would let the planner choose otherwise in a store of another shape, on somebody else's machine."""
    code = "".join(path.read_text("utf-8") for path in [*CODE.rglob("*.py"), *CODE.rglob("*.sql")])

    assert not re.search(r"\banalyze\b|pragma optimize", code, re.IGNORECASE)


VIEW_INDEXES = {
    View.ALL: "pages_of_group",
    View.CHANGED: "pages_changed",
    View.PROBLEMS: "pages_in_trouble",
    View.ASKED: "pages_asked",
    View.NEW: "pages_new",
    View.DECLARING: "pages_declaring",
    View.PAUSED: "pages_paused",
    View.OFF: "pages_off",
    View.RECENT: "pages_changed",
    View.QUIET: "pages_changed",
}


@pytest.mark.parametrize("view", View)
def test_a_view_walks_its_index_in_order_either_way(db: sqlite3.Connection, view: View) -> None:
    change = "_change" if VIEW_INDEXES[view] == "pages_changed" else ""
    lists = queries("browsing")
    for way in ("before", "after"):
        steps = plan(db, f"select p.id from pages p {lists[f'in_{view.value}']} {lists[way + change]}")  # noqa: S608 - our own

        assert [f"INDEX {VIEW_INDEXES[view]} " in step for step in steps] == [True], steps
        assert all(step.startswith("SEARCH p USING") for step in steps), steps


@pytest.mark.parametrize(
    ("walk", "index"),
    [
        ("of_all", "INTEGER PRIMARY KEY"),
        ("of_unseen", "marks_unseen"),
        ("of_unseen_outcome", "marks_unseen_by_outcome"),
        ("of_unseen_group", "marks_unseen_by_group"),
        ("of_outcome", "marks_by_outcome"),
        ("of_kind", "marks_by_kind"),
        ("of_group", "marks_by_group"),
        ("of_page", "alerts_by_page"),
    ],
)
def test_a_list_of_alerts_walks_its_index_in_order(db: sqlite3.Connection, walk: str, index: str) -> None:
    steps = plan(db, queries("alert_lists")[walk])

    assert index in steps[0]
    assert not any("TEMP B-TREE" in step for step in steps)


def test_every_index_is_used(db: sqlite3.Connection) -> None:
    """One that nothing asks for takes its place on every disk, and its time whenever a row comes or goes."""
    names = {row[0] for row in db.execute("select name from sqlite_schema where type = 'index' and sql is not null")}
    steps = [step for area, name in whole_queries() for step in plan(db, queries(area)[name])]

    used = {name for name in names if any(name in step.split() for step in steps)}

    assert names - used - set(VIEW_INDEXES.values()) == set()


def opened_to_write(db: sqlite3.Connection, statement: str) -> set[str]:
    """The indexes of pages that a statement may write."""
    roots = dict(db.execute("select rootpage, name from sqlite_schema where type = 'index' and tbl_name = 'pages'"))
    marks = [None] * queries("work")[statement].count("?")
    code = db.execute(f"explain {queries('work')[statement]}", marks).fetchall()
    return {roots[row[3]] for row in code if row[1] == "OpenWrite" and row[3] in roots}


@pytest.mark.parametrize("statement", ["note_same", "note_same_anew"])
def test_a_check_that_found_nothing_new_writes_no_entry_of_a_list(db: sqlite3.Connection, statement: str) -> None:
    """Of all but the first it only looks at the conditions."""
    assert opened_to_write(db, statement) == {"pages_due", "pages_off", "pages_new", "pages_in_trouble"}


@pytest.mark.parametrize("statement", ["note_check", "note_equal"])
def test_T53_a_check_that_stores_no_new_state_leaves_the_list_of_declaring_pages_alone(
    db: sqlite3.Connection, statement: str
) -> None:
    assert "pages_declaring" not in opened_to_write(db, statement)


def test_the_queue_is_walked_in_turn_without_sorting(db: sqlite3.Connection) -> None:
    assert "SCAN r USING INDEX renders_in_turn" in plan(db, queries("renders")["waiting"])
    assert "SCAN r USING INDEX renders_by_age" in plan(db, queries("renders")["oldest_waiting"])


def test_the_latest_alerts_are_read_without_sorting(db: sqlite3.Connection) -> None:
    steps = plan(db, queries("alerts")["alerts"])

    assert "SCAN a USING INDEX sqlite_autoindex_alerts_2" in steps
    assert not any("TEMP B-TREE" in step for step in steps)


@pytest.mark.parametrize(
    ("which", "index"),
    [
        (PageFilter(urls=("https://one.example/",)), "pages_by_key"),
        (PageFilter(host="one.example"), "pages_of_host"),
        (PageFilter(), "INTEGER PRIMARY KEY"),
    ],
)
def test_a_filtered_list_uses_an_index(db: sqlite3.Connection, which: PageFilter, index: str) -> None:
    sql = queries("watchlist")
    query = "".join([sql["pages"], _conditions(which, sql)[0], " order by p.id limit 1000"])

    steps = plan(db, query)

    assert any(index in step for step in steps), steps
    assert not any("TEMP B-TREE" in step for step in steps)


@pytest.mark.parametrize(("table", "parent"), [("pages", "hosts"), ("verdicts", "pages"), ("copies", "pages")])
def test_every_reference_to_a_large_table_can_be_followed_back(db: sqlite3.Connection, table: str, parent: str) -> None:
    columns = [row[3] for row in db.execute(f"pragma foreign_key_list({table})") if row[2] == parent]

    steps = [
        step
        for column in columns
        for step in plan(db, f"select 1 from {table} where {column} = 1")  # noqa: S608 - names of the schema itself
    ]

    assert columns
    assert all(step.startswith("SEARCH") for step in steps)


def test_every_query_is_used() -> None:
    code = "".join(path.read_text("utf-8") for path in CODE.rglob("*.py"))
    sql = "".join(path.read_text("utf-8") for path in CODE.rglob("*.sql"))
    # Names that are put together in the code: by_FILTER, covered_by_SCOPE, forget_WHAT, and the invariants' own.
    composed = re.compile(r"by_\w+|covered_by_\w+|forget_\w+|in_\w+|of_\w+")

    unused = [
        f"{area}.{name}"
        for area in areas()
        for name in queries(area)
        if f'"{name}"' not in code
        and f"'{name}'" not in code
        and f"{{{name}}}" not in sql
        and not composed.fullmatch(name)
    ]

    assert unused == []


def test_every_query_is_named_once_in_its_file() -> None:
    for path in CODE.rglob("*.sql"):
        names = re.findall(r"^-- name: (\w+)$", path.read_text("utf-8"), re.MULTILINE)
        assert len(names) == len(set(names)), path.name
