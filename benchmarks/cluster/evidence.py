"""What the database itself notes of a soak: each check that was committed, and each part that was taken.

Triggers of the soak's own note it in the transaction that does it, so that what the database loses with a kill is lost
here, too. The service's code has no part in it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from benchmarks.postgres import PostgresProcess

_NOTING: Final = """
create schema soak;
create table soak.commits (
  page bigint, due bigint, checked bigint, at timestamptz default clock_timestamp(),
  node text default current_setting('application_name')
);
create function soak.note_commit() returns trigger language plpgsql as $$
begin
  insert into soak.commits (page, due, checked) values (old.id, old.next_at, new.last_checked_at);
  return null;
end
$$;
create trigger soak_note_commit after update on pages for each row
when (old.last_checked_at is distinct from new.last_checked_at) execute function soak.note_commit();
"""
_NOTING_PARTS: Final = """
create table soak.takings (part bigint, node text, epoch bigint, at timestamptz default clock_timestamp());
create function soak.note_taking() returns trigger language plpgsql as $$
begin
  insert into soak.takings (part, node, epoch) values (new.part, new.node, new.epoch);
  return null;
end
$$;
create trigger soak_note_taking after insert or update on parts for each row execute function soak.note_taking();
"""
_COMMITS: Final = """
select p.url, c.due / 1e6::float8, extract(epoch from c.at)::float8, c.node
from soak.commits c join pages p on p.id = c.page order by c.at
"""
_TAKINGS: Final = "select part, node, epoch, extract(epoch from at)::float8 from soak.takings order by at"
_WAITING: Final = """
select (select count(*) from deliveries where state = 'waiting') + (select count(*) from renders)
  + (select count(*) from verdicts where awareness = 1 and alert_id is null)
"""
_IN_TRANSACTION: Final = """
select count(*) from pg_stat_activity where application_name = '{app}' and state = 'idle in transaction'
"""


class Committed(NamedTuple):
    """A check that was committed.

    due  when it was due; None for one that had no time
    at   when it was committed
    app  which process did it
    """

    url: str
    due: float | None
    at: float
    app: str


class Taken(NamedTuple):
    """A change of a part's holder; no node where it was given back."""

    part: int
    node: str | None
    epoch: int
    at: float


def note_in(server: PostgresProcess) -> None:
    """Let the database note commits, and takings of parts."""
    server.command(_NOTING)
    if server.read("select 1 from pg_tables where tablename = 'parts'"):
        server.command(_NOTING_PARTS)


def commits(server: PostgresProcess) -> list[Committed]:
    """Read all commits, by time."""
    return [Committed(*row) for row in server.read(_COMMITS)]


def takings(server: PostgresProcess) -> list[Taken]:
    """Read all takings, by time; none where the store has no parts."""
    has_parts = server.read("select 1 from pg_tables where schemaname = 'soak' and tablename = 'takings'")
    return [Taken(*row) for row in server.read(_TAKINGS)] if has_parts else []


def left_to_do(server: PostgresProcess) -> int:
    """Count the deliveries, renderings and alerts that are still to be made."""
    return int(server.read(_WAITING)[0][0])


def is_in_transaction(server: PostgresProcess, app: str) -> bool:
    """Tell whether the database waits for a process that has begun a transaction."""
    return bool(server.read(_IN_TRANSACTION.format(app=app))[0][0])
