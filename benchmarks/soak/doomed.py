"""Runs the real program, and kills it (SIGKILL, by itself) at a chosen point of its work with the store.

The product has no branch for this: `sqlite3.connect` is given a connection class that watches the store's named
queries go by. What was met is written to a file, on disk, before the end.

    SOAK_PLAN='{"window": "rendering", "point": "inside", "nth": 3, "step": 2, "note": "FILE"}' \
        python -m benchmarks.soak.doomed --config tocsin.toml run
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.soak.plans import Plan
from tocsin.adapters.stores.sql.statements import areas, queries

UNKNOWN = "other"
_FEWEST = 12
"""Shorter texts are parts of queries, not queries."""


class Names:
    """Finds a statement's name among the store's named queries, also where something was added behind it."""

    def __init__(self) -> None:
        self._known = {sql: f"{area}.{name}" for area in areas() for name, sql in queries(area).items()}
        self._found: dict[str, str] = {}

    def name_of(self, sql: str) -> str:
        """Name a statement; its first word where it is none of the named ones."""
        name = self._found.get(sql)
        if name is None:
            known = (text for text in self._known if len(text) > _FEWEST and sql.startswith(text))
            longest = max(known, key=len, default="")
            name = self._found[sql] = self._known.get(longest) or sql.split(maxsplit=1)[0].lower()
        return name


def window_of(names: list[str]) -> str:
    """Tell which transaction this is, by the named queries that have run in it so far."""
    seen = set(names)
    if seen & {"storms.open", "storms.go_on"}:
        return "storm"
    if seen & {"states.insert_verdict", "storms.insert_verdict"}:
        return "verdict"
    if any(name.startswith("work.note_") for name in seen):
        return "commit"
    if "renders.insert_rendering" in seen or {"work.standing", "alerts.reserve"} <= seen:
        return "rendering"
    for name, window in (
        ("bundles.seal", "sealing"),
        ("bundles.keep_digest", "digest"),
        ("bundles.record_bundle", "digested"),
        ("alerts.record", "delivery"),
        ("attention.announce", "announce"),
        ("storms.announce", "telling"),
        ("renders.take", "slot"),
        ("nodes.take_parts", "claim"),
        ("work.spread", "launch"),
    ):
        if name in seen:
            return window
    return UNKNOWN


class Doom:
    """Watches transactions, and ends the process when the plan is met.

    Plan points: `begun` is before the first statement after BEGIN, `inside` before a later statement (or row),
    `before` is when all is done but COMMIT, `after` when COMMIT has returned.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._names = plan, Names()
        self._left = plan.nth
        self._lock = threading.Lock()

    def strike(self, window: str, point: str, statement: str) -> None:
        """Note what was met, and end."""
        with self._lock:
            line = json.dumps({"window": window, "point": point, "statement": statement}).encode()
            note = os.open(self._plan.note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(note, line)
            os.fsync(note)
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()

    def on_statement(self, track: Track, sql: str) -> None:
        """Look at a statement (or one row of it) that is about to run."""
        name = self._names.name_of(sql)
        if name == "begin":
            track.names.clear()
            track.steps = 0
            return
        if name == "commit":
            self._on_commit(track)
            return
        track.names.append(name)
        window = window_of(track.names)
        if self._plan.point == "inside" and window == self._plan.window:
            track.steps += 1
            if track.steps > self._plan.step and self._is_turn(track):
                self.strike(window, "inside", name)

    def on_done(self, track: Track, sql: str) -> None:
        """Look at a statement that has run."""
        is_commit = self._names.name_of(sql) == "commit"
        if is_commit and self._plan.point == "after" and self._is_ours(track) and self._is_turn(track):
            self.strike(window_of(track.names), "after", "commit")

    def _on_commit(self, track: Track) -> None:
        if not self._is_ours(track):
            return
        # A transaction that is too short for the step that was planned ends before its COMMIT.
        if self._plan.point in {"before", "inside"} and self._is_turn(track):
            self.strike(window_of(track.names), "before", "commit")

    def _is_ours(self, track: Track) -> bool:
        window = window_of(track.names)
        return window == self._plan.window or (self._plan.window == "any" and window != UNKNOWN)

    def _is_turn(self, track: Track) -> bool:
        """Count transactions of the planned window; each counts once."""
        if not track.is_counted:
            track.is_counted = True
            self._left -= 1
        return self._left <= 0


class Track:
    """What has run in one connection's transaction so far."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.steps = 0
        self.is_counted = False


def doomed_connection(doom: Doom, base: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
    """Make the class of connections that tell `doom` of every statement.

    base  the class that the store would have
    """

    class Watched(base):  # type: ignore[misc, valid-type]  # whichever it is
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._track = Track()

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            self._begin(sql)
            doom.on_statement(self._track, sql)
            cursor: sqlite3.Cursor = super().execute(sql, parameters)
            doom.on_done(self._track, sql)
            return cursor

        def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
            cursor: sqlite3.Cursor = super().executemany(sql, self._rows(sql, parameters))
            return cursor

        def _rows(self, sql: str, parameters: Iterable[Any]) -> Iterator[Any]:
            for row in parameters:
                doom.on_statement(self._track, sql)
                yield row

        def _begin(self, sql: str) -> None:
            if sql.startswith("begin"):
                self._track = Track()

    return Watched


def main() -> None:
    """Run the program with the arguments given, under the plan in the environment."""
    doom = Doom(Plan(**json.loads(os.environ["SOAK_PLAN"])))
    real = sqlite3.connect

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        kwargs["factory"] = doomed_connection(doom, kwargs.get("factory", sqlite3.Connection))
        connection: sqlite3.Connection = real(*args, **kwargs)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]  # that is what this module is for
    from tocsin.cli.__main__ import main as program  # noqa: PLC0415 - after the patch

    program(sys.argv[1:])


if __name__ == "__main__":
    main()
