"""A connection to PostgreSQL as the roles use it: their statements, prepared by the server once for each connection."""

from __future__ import annotations

import re
import select
import struct
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from msgspec import Struct
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.types.numeric import NumericBinaryLoader

from tocsin.adapters.stores.sql.statements import SQLITE, Dialect, areas, queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from psycopg.pq.abc import PGconn, PGresult

POSTGRES: Final = Dialect(
    "postgresql",
    {
        "index": "",
        "then": "join {0} {1}",
        "schedule": "due {0}",
        "scheduled": "true",
        "off": "{0}.is_off",
        # Keys come as one JSON array; `_to_array` writes numbers as an array of PostgreSQL.
        "ids": "(select unnest({0}::bigint[]))",
        "names": "(select jsonb_array_elements_text({0}::jsonb))",
        "each": "unnest({0}::bigint[]) {1} (value)",
        "each_name": "jsonb_array_elements_text({0}::jsonb) {1} (value)",
        "list": "json_build_array({0})",
        "array": "coalesce(json_agg({0}), '[]')::text",
        # Not jsonb: other fields of the same text may hold what that refuses (U+0000).
        "field": "({0}::json ->> '{1}')",
        "json": "readable_json({0})",
        "title_key": 'lower(substr({0}.title, 1, 16) collate "C")',
        "greatest": "greatest({0}, {1})",
        "least": "least({0}, {1})",
        "same": "{0} is not distinct from {1}",
        "differ": "{0} is distinct from {1}",
        "flag": "({0})::integer",
        "whole": "trunc({0})::bigint",
        "quoted": "quote_literal({0})",
        "lock": "for update of {0} skip locked",
        "update": "for update of {0}",
        "share": "for share of {0}",
        "claim": "{0}.shard / :width, (:epochs::bigint[])[{0}.shard / :width + 1]",
        "ours": "{0}.shard / :width in (select unnest(:parts::bigint[]))",
        "bytes": "convert_to({0}, 'UTF8')",
    },
    Path(__file__).with_name("queries"),
)

# What the server cannot tell from where it is used: numbers that are added, or only compared with null.
_NUMBERS: Final = frozenset(
    {
        "after", "ahead", "at_launch", "back", "bare", "before", "closed", "count", "dead", "every", "first", "gather",
        "is_wide", "least", "limit", "longest", "now", "of", "per_page", "position", "shown", "until", "width",
        "window",
    }
)  # fmt: skip
_PARAMETER: Final = re.compile(r"'(?:[^']|'')*'|::|\?\d*|:[a-z_]+")
_SINGLE: Final = re.compile(rb"\$\d+(?!\d|::\w+\[\])")
_ROWS_AT_ONCE: Final = 1000
_PIECE: Final = 200
"""Statements that are sent before their results are read: more could fill the buffers of both sides."""


class Statement(Struct, frozen=True, eq=False):
    """A statement with numbered parameters, and the names that they are given by; None: they are given in order."""

    text: bytes
    names: tuple[str, ...] | None

    @property
    def takes_columns(self) -> bool:
        """Whether it is run once for many rows, of which it takes each column as an array."""
        return b"$2" in self.text and _SINGLE.search(self.text) is None


@cache
def _translations() -> dict[str, str]:
    """Give the text of each statement for its text in SQLite's dialect, by which the roles know it."""
    found: dict[str, str] = {}
    for area in areas():
        ours = queries(area, POSTGRES)
        for name, text in queries(area, SQLITE).items():
            found[text] = ours[name]
    return found


@cache
def statement(text: str) -> Statement:
    """Number the parameters of a statement, which is known by its text in SQLite's dialect or written in ours."""
    names: dict[str, int] = {}
    in_order = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal in_order
        word = match[0]
        if word[0] == "'" or word == "::":
            return word
        if word[0] == "?":
            in_order = int(word[1:]) if word[1:] else in_order + 1
            return f"${in_order}"
        place = names.setdefault(word[1:], len(names) + 1)
        is_typed = match.string.startswith("::", match.end())
        return f"${place}::bigint" if word[1:] in _NUMBERS and not is_typed else f"${place}"

    written = _PARAMETER.sub(numbered, _translations().get(text, text))
    return Statement(written.encode(), None if in_order else tuple(names))


class NumberLoader(NumericBinaryLoader):
    """Sums of numbers are numeric, and as whole as what was added."""

    def load(self, data: Any) -> int:  # type: ignore[override]  # a sum of whole numbers is one
        """Read a sum."""
        return int(super().load(data))


def _to_text(value: Any) -> bytes:
    # PostgreSQL's texts cannot hold it.
    return str(value).replace("\0", "\ufffd").encode()


def _to_number(value: Any) -> bytes:
    return b"%d" % value


def _to_flag(value: Any) -> bytes:
    return b"t" if value else b"f"


def _to_array(value: str) -> bytes:
    """Write a JSON array of numbers as an array of PostgreSQL."""
    return b"{%b}" % value[1:-1].encode()


def _to_numbers(column: Sequence[int | None], *, kind: int, size: int, code: str) -> bytes:
    """Write a column of rows as a binary array: a third of the time that writing digits takes, and reading them."""
    count = len(column)
    if not count:
        return struct.pack(">3i", 0, 0, kind)
    if None in column:
        each = struct.Struct(f">i{code}").pack
        values = b"".join([_NULL if value is None else each(size, value) for value in column])
        return struct.pack(">5i", 1, 1, kind, count, 1) + values
    sized: list[Any] = [size] * (2 * count)
    sized[1::2] = column
    return struct.pack(f">5i{f'i{code}' * count}", 1, 0, kind, count, 1, *sized)


_NULL: Final = struct.pack(">i", -1)


def _to_texts(column: Sequence[str | None]) -> bytes:
    if None not in column:
        joined = '","'.join(column)  # type: ignore[arg-type]  # there is no None in it
        # Then it holds nothing but these that would have to be escaped.
        if joined.count('"') == 2 * (len(column) - 1) and "\\" not in joined and "\0" not in joined:
            return f'{{"{joined}"}}'.encode()
    return b"{%b}" % b",".join(
        [b"null" if each is None else b'"%b"' % _ESCAPED.sub(rb"\\\g<0>", _to_text(each)) for each in column]
    )


def _to_bytes(column: Sequence[bytes | None]) -> bytes:
    return b"{%b}" % b",".join([b"null" if each is None else b'"\\\\x%b"' % each.hex().encode() for each in column])


_ESCAPED: Final = re.compile(rb'[\\"]')


_WRITERS: Final[dict[int, Callable[[Any], bytes]]] = {
    16: _to_flag,
    17: bytes,
    20: _to_number,
    21: _to_number,
    23: _to_number,
    1001: _to_bytes,
    1005: _to_array,
    1007: _to_array,
    1009: _to_texts,
    1016: _to_array,
}
_COLUMN_WRITERS: Final[dict[int, Callable[[Any], bytes]]] = {
    1005: partial(_to_numbers, kind=21, size=2, code="h"),
    1007: partial(_to_numbers, kind=23, size=4, code="i"),
    1016: partial(_to_numbers, kind=20, size=8, code="q"),
}
_BYTES: Final = 17


class Prepared(Struct, frozen=True, eq=False):
    """A statement that a connection has prepared: how its parameters are named, written and sent."""

    key: bytes
    text: bytes
    types: tuple[int, ...]
    names: tuple[str, ...] | None
    takes_columns: bool
    writers: tuple[Callable[[Any], bytes], ...]
    formats: tuple[pq.Format, ...]

    def values(self, parameters: Any) -> Any:
        """Write parameters as they are sent."""
        given: Sequence[Any] = parameters if self.names is None else [parameters[name] for name in self.names]
        return [None if value is None else write(value) for write, value in zip(self.writers, given, strict=True)]


class PostgresCursor:
    """The rows of a statement; implements session.Cursor."""

    def __init__(self, rows: Iterable[Any], rowcount: int) -> None:
        self.rowcount = rowcount
        self._rows = iter(rows)

    def fetchone(self) -> Any:
        """Return the next row, None after the last one."""
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def close(self) -> None:
        """Drop the rows that are left."""
        self._rows = iter(())


class PostgresSession:
    """A connection inside a transaction; implements session.SqlSession.

    It speaks to the server by psycopg's layer of libpq: the server infers the types of parameters, so that there is one
    plan for each statement, whichever of its values are null.
    """

    dialect: Final = POSTGRES

    def __init__(self, connection: psycopg.Connection[Any], give_up: Callable[[], None] = lambda: None) -> None:
        self._pgconn: PGconn = connection.pgconn
        self._give_up = give_up
        self._prepared: dict[str, Prepared] = {}
        self._keys = count()
        connection.adapters.register_loader("numeric", NumberLoader)
        self._reader = Transformer(connection)
        self._arrived = select.poll()
        self._arrived.register(connection.fileno(), select.POLLIN)

    def execute(self, statement: str, parameters: Any = (), /) -> PostgresCursor:
        """Run a statement; its parameters are a mapping or a sequence."""
        prepared = self._prepared.get(statement) or self._prepare(statement)
        result = self._pgconn.exec_prepared(
            prepared.key, prepared.values(parameters), prepared.formats, pq.Format.BINARY
        )
        if result.status == pq.ExecStatus.TUPLES_OK:
            self._reader.set_pgresult(result)
            return PostgresCursor(self._reader.load_rows(0, result.ntuples, tuple), result.ntuples)
        self._demand(result)
        return PostgresCursor([], result.command_tuples or 0)

    def executemany(self, statement: str, rows: Iterable[Any], /) -> PostgresCursor:
        """Run a statement once for each of these parameters, without waiting for one before the next is sent."""
        prepared = self._prepared.get(statement) or self._prepare(statement)
        if prepared.takes_columns:
            return self.execute(statement, _columns(prepared.names, list(rows)))
        values = [prepared.values(row) for row in rows]
        changed = 0
        if len(values) > 1:
            for first in range(0, len(values), _PIECE):
                piped = self._piped([(prepared, row) for row in values[first : first + _PIECE]])
                changed += sum(result.command_tuples or 0 for result in piped)
        elif values:
            result = self._pgconn.exec_prepared(prepared.key, values[0], prepared.formats, pq.Format.BINARY)
            self._demand(result)
            changed = result.command_tuples or 0
        return PostgresCursor([], changed)

    def transact(self, calls: Sequence[tuple[str, Any]]) -> list[list[Any]]:
        """Run these statements in a transaction of their own and one round trip; returns the rows of each."""
        known = [self._prepared.get(statement) or self._prepare(statement) for statement, _ in calls]
        # Without `begin` the transaction lasts until the server has read all of them.
        results = self._piped([(each, each.values(given)) for each, (_, given) in zip(known, calls, strict=True)])
        rows: list[list[Any]] = []
        for result in results:
            self._reader.set_pgresult(result)
            rows.append(self._reader.load_rows(0, result.ntuples, tuple))
        return rows

    def command(self, text: bytes) -> None:
        """Run commands without parameters, several at once."""
        self._demand(self._pgconn.exec_(text))

    def take_notifications(self) -> bool:
        """Tell whether a notification has arrived since the last call; the server is not asked."""
        self._pgconn.consume_input()
        arrived = False
        while self._pgconn.notifies() is not None:
            arrived = True
        return arrived

    def leave(self) -> None:
        """End a transaction that was not committed; a connection that is of no more use is given up."""
        status = self._pgconn.transaction_status
        if status not in {pq.TransactionStatus.IDLE, pq.TransactionStatus.UNKNOWN}:
            self._pgconn.exec_(b"rollback")
            status = self._pgconn.transaction_status
        if status != pq.TransactionStatus.IDLE:
            self._give_up()

    def _piped(self, calls: Sequence[tuple[Prepared, Any]]) -> list[PGresult]:
        pgconn = self._pgconn
        done: list[PGresult] = []
        failed: PGresult | None = None
        pgconn.enter_pipeline_mode()
        try:
            for prepared, values in calls:
                pgconn.send_query_prepared(prepared.key, values, prepared.formats, pq.Format.BINARY)
            pgconn.pipeline_sync()
            for _ in calls:
                while (result := self._awaited()) is not None:
                    if result.status in _DONE:
                        done.append(result)
                    elif failed is None and result.status == pq.ExecStatus.FATAL_ERROR:
                        failed = result
            self._awaited()
        finally:
            if pgconn.status == pq.ConnStatus.OK:
                pgconn.exit_pipeline_mode()
        if failed is not None:
            self._demand(failed)
        return done

    def _awaited(self) -> PGresult | None:
        """Wait for the next result of a pipeline. The driver's own wait would stop all threads of Python."""
        while self._pgconn.is_busy():
            self._arrived.poll()
            self._pgconn.consume_input()
        return self._pgconn.get_result()

    def _prepare(self, text: str) -> Prepared:
        known = statement(text)
        key = b"t%d" % next(self._keys)
        self._demand(self._pgconn.prepare(key, known.text))
        described = self._pgconn.describe_prepared(key)
        self._demand(described)
        types = tuple(described.param_type(place) for place in range(described.nparams))
        # Keys of a statement come as a JSON array, columns of rows as they are.
        columns = _COLUMN_WRITERS if known.takes_columns or known.names is None else {}
        prepared = Prepared(
            key,
            known.text,
            types,
            known.names,
            known.takes_columns,
            tuple(columns.get(oid) or _WRITERS.get(oid, _to_text) for oid in types),
            tuple(pq.Format.BINARY if oid == _BYTES or oid in columns else pq.Format.TEXT for oid in types),
        )
        self._prepared[text] = prepared
        return prepared

    def _demand(self, result: PGresult) -> None:
        """Raise psycopg's error for a statement that failed."""
        if result.status not in _DONE:
            raise psycopg.errors.error_from_result(result, "utf-8")


class SnapshotSession(PostgresSession):
    """A connection for long readings: the rows of a query are fetched as they are read, not all at once."""

    def execute(self, statement: str, parameters: Any = (), /) -> PostgresCursor:
        """Run a statement; the rows of a query may be read as long as its transaction lasts."""
        prepared = self._prepared.get(statement) or self._prepare(statement)
        if not prepared.text.lstrip().startswith((b"select", b"with")):
            return super().execute(statement, parameters)
        cursor = b"c%d" % next(self._keys)
        declaring = b"declare %b no scroll cursor for %b" % (cursor, prepared.text)
        self._demand(self._pgconn.exec_params(declaring, prepared.values(parameters), prepared.types, prepared.formats))
        return PostgresCursor(self._fetched(cursor), -1)

    def _fetched(self, cursor: bytes) -> Iterator[Any]:
        rows: list[Any] = [None]
        while rows:
            fetching = b"fetch %d from %b" % (_ROWS_AT_ONCE, cursor)
            result = self._pgconn.exec_params(fetching, None, result_format=pq.Format.BINARY)
            self._demand(result)
            self._reader.set_pgresult(result)
            rows = self._reader.load_rows(0, result.ntuples, tuple)
            yield from rows
        self.command(b"close %b" % cursor)


def _columns(names: tuple[str, ...] | None, rows: Sequence[Any]) -> Any:
    """Turn rows of values, or of names and values, into columns."""
    if names is None:
        return list(zip(*rows, strict=True))
    return {name: [row[name] for row in rows] for name in names}


_DONE: Final = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})
