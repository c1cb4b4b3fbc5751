"""Tokens, sessions, the audit log, answers given once, and jobs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.role import LAST, NODES, Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json, to_json_or_null
from tocsin.errors import StoreError, UsageError
from tocsin.model import AuditEntry, Declaration, JobRow, Scope, SessionRow, Slice, StoredAnswer, TokenRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant


JOBS = queries("jobs")
SQL = queries("access")
# Of `tokens.declared`: the configuration declares it, or no longer does.
_NOW, _LEFT = 1, 2
# A process answers requests a little before it enters as a node.
_ENTERED_US: Final = 60_000_000
# A token's use is noted so often at most.
_NOTED_US: Final = 60_000_000


class AccessRole(Role):
    """Implements what ports.AccessStore says of who may do what."""

    async def add_token(
        self, name: str, scope: Scope, digest: bytes, now: Instant, *, expires_at: Instant | None = None
    ) -> TokenRow:
        values = {"name": name, "scope": scope.value, "digest": digest, "now": now, "expires_at": expires_at}

        def write(db: SqlSession) -> TokenRow:
            if db.execute(SQL["token_named"], values).fetchone() is not None:
                raise UsageError(f"token {name!r}: there is one in force; revoke it first, or choose another name")
            (token_id,) = db.execute(SQL["add_token"], values).fetchone()
            return TokenRow(token_id, name, scope, now, expires_at)

        return await self._write(write, durable=True)

    async def tokens(self) -> list[TokenRow]:
        rows = await self._view(lambda db: db.execute(SQL["tokens"]).fetchall())
        return [_to_token(row) for row in rows]

    async def has_tokens(self) -> bool:
        (is_any,) = await self._view(lambda db: db.execute(SQL["any_token"]).fetchone())
        return bool(is_any)

    async def token_of(self, digest: bytes, now: Instant) -> TokenRow | None:
        values = {"digest": digest, "now": now}
        row = await self._view(lambda db: db.execute(SQL["token_of"], values).fetchone())
        if row is None:
            return None
        token = _to_token(row)
        await self._note_use(token, now)
        return token

    async def declare_tokens(self, tokens: Sequence[tuple[str, Scope, bytes]], now: Instant) -> Declaration:
        def write(db: SqlSession) -> Declaration:
            wanted = {digest for _, _, digest in tokens}
            revoked = []
            for digest, token_id, name, *_ in db.execute(SQL["declared"]).fetchall():
                if digest not in wanted:
                    db.execute(SQL["undeclare"], {"token": token_id, "now": now})
                    db.execute(SQL["end_sessions"], {"token": token_id})
                    revoked.append(name)
            added: list[str] = []
            changed: list[str] = []
            refused: list[tuple[str, str]] = []
            for name, scope, digest in tokens:
                values = {"name": name, "scope": scope.value, "digest": digest, "now": now, "expires_at": None}
                place = db.execute(SQL["token_with"], {"digest": digest}).fetchone()
                same = db.execute(SQL["token_named"], values).fetchone()
                if place is not None and _is_as_declared(place, name, scope):
                    continue
                if place is not None and place[0] != _LEFT and place[-2] is not None:
                    refused.append((name, "this very token was revoked; declare another one"))
                elif same is not None and not same[-1] and (place is None or same[0] != place[1]):
                    refused.append((name, f"this name is taken; `tocsin token revoke {name}` frees it"))
                else:
                    (changed if place is not None and place[-2] is None else added).append(name)
                    token_id = place[1] if place is not None else db.execute(SQL["add_token"], values).fetchone()[0]
                    db.execute(SQL["declare"], {**values, "token": token_id})
            return Declaration(tuple(added), tuple(changed), tuple(revoked), tuple(refused))

        (has_declared,) = await self._view(lambda db: db.execute(SQL["any_declared"]).fetchone())
        return await self._write(write, durable=True) if tokens or has_declared else Declaration()

    async def revoke_token(self, name: str, now: Instant) -> TokenRow:
        def write(db: SqlSession) -> TokenRow:
            named = {"name": name, "now": now}
            # The names of those in force are unique; the one in force comes first, whichever is the latest.
            row = db.execute(SQL["token_named"], named).fetchone() or db.execute(SQL["token_left"], named).fetchone()
            if row is None:
                raise UsageError(
                    f"token {name!r}: none has this name and is not revoked; `tocsin token list` shows all"
                )
            place = {"token": row[0], "now": now}
            db.execute(SQL["revoke"], place)
            db.execute(SQL["end_sessions"], place)
            return _to_token((*row[:-2], now, row[-1]))

        return await self._write(write, durable=True)

    async def open_session(self, digest: bytes, token_id: int, csrf: str, now: Instant, *, until: Instant) -> None:
        values = {"digest": digest, "token": token_id, "csrf": csrf, "now": now, "until": until}

        def write(db: SqlSession) -> None:
            db.execute(SQL["end_old_sessions"], {"now": now})
            db.execute(SQL["open_session"], values)

        await self._write(write, shared=True)

    async def session_of(self, digest: bytes, now: Instant) -> SessionRow | None:
        values = {"digest": digest, "now": now}
        row = await self._view(lambda db: db.execute(SQL["session_of"], values).fetchone())
        if row is None:
            return None
        csrf, created_at, until, *token = row
        session = SessionRow(_to_token(token), csrf, created_at, until)
        await self._note_use(session.token, now)
        return session

    async def close_session(self, digest: bytes) -> None:
        await self._write(lambda db: db.execute(SQL["close_session"], {"digest": digest}), durable=True, shared=True)

    async def write_audit(self, entry: AuditEntry) -> None:
        values = {
            "at": entry.at,
            "who": entry.who,
            "what": entry.what,
            "detail": to_json(entry.detail),
            "request_id": entry.request_id,
        }
        await self._write(lambda db: db.execute(SQL["write_audit"], values), durable=True, shared=True)

    async def audit(self, *, cursor: str | None = None, limit: int = 50) -> Slice[AuditEntry]:
        cursors = Cursors(1, "audit")
        (before,) = cursors.read(cursor) or (LAST,)
        values = {"before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(SQL["audit"], values).fetchall())
        entries = tuple(
            AuditEntry(at, who, what, read_object(detail), request_id, entry_id)
            for at, who, what, detail, request_id, entry_id in rows[:limit]
        )
        return Slice(entries, cursors.write((entries[-1].id,)) if len(rows) > limit else None)

    async def _note_use(self, token: TokenRow, now: Instant) -> None:
        if token.last_used_at is None or now - token.last_used_at >= _NOTED_US:
            place = {"token": token.id, "now": now}
            # On a full disk reading still works; the next use is recorded.
            with suppress(StoreError):
                await self._write(lambda db: db.execute(SQL["note_use"], place), shared=True)

    async def begin_once(self, key: bytes, fingerprint: bytes, now: Instant, *, node: str = "") -> StoredAnswer | None:
        def write(db: SqlSession) -> StoredAnswer | None:
            row = db.execute(JOBS["answer"], {"key": key, "after": now - DAY_US}).fetchone()
            if row is not None:
                return StoredAnswer(*row)
            db.execute(JOBS["give_up"], {"key": key})
            db.execute(JOBS["begin"], {"key": key, "fingerprint": fingerprint, "now": now, "node": node})
            return None

        return await self._write(write, durable=True)

    async def finish_once(self, key: bytes, answer: StoredAnswer | None) -> None:
        if answer is None:
            await self._write(lambda db: db.execute(JOBS["give_up"], {"key": key}), shared=True)
            return
        values = {
            "key": key,
            "status": answer.status,
            "content_type": answer.content_type,
            "body": answer.body,
            "location": answer.location,
        }
        await self._write(lambda db: db.execute(JOBS["finish"], values), durable=True, shared=True)

    async def save_job(self, job: JobRow) -> None:
        values = {
            "id": job.id,
            "kind": job.kind,
            "who": job.who,
            "started_at": job.started_at,
            "state": job.state,
            "done": job.done,
            "total": job.total,
            "ended_at": job.ended_at,
            "result": to_json_or_null(job.result),
            "error": job.error,
            "node": job.node,
        }
        await self._write(lambda db: db.execute(JOBS["save"], values), shared=True)

    async def job(self, job_id: str) -> JobRow | None:
        row = await self._view(lambda db: db.execute(JOBS["one"], {"id": job_id}).fetchone())
        return _to_job(row) if row is not None else None

    async def jobs(self, *, limit: int = 20) -> list[JobRow]:
        rows = await self._view(lambda db: db.execute(JOBS["latest"], {"limit": limit}).fetchall())
        return [_to_job(row) for row in rows]

    async def ask_to_cancel(self, job_id: str) -> bool:
        return bool(await self._write(lambda db: db.execute(JOBS["ask_to_cancel"], {"id": job_id}).rowcount))

    async def jobs_to_cancel(self, node: str) -> list[str]:
        if not self._database.is_shared:
            return []
        rows = await self._view(lambda db: db.execute(JOBS["to_cancel"], {"node": node}).fetchall())
        return [job_id for (job_id,) in rows]

    async def interrupt_jobs(self, now: Instant, *, node: str = "") -> int:
        # All jobs of a store with one engine are its own, also if the machine has a new name.
        place = {"now": now, "node": node, "all": not self._database.is_shared}

        def write(db: SqlSession) -> int:
            db.execute(JOBS["forget_begun"], place)
            return db.execute(JOBS["interrupt"], place).rowcount

        return await self._write(write)

    async def interrupt_lost_jobs(self, now: Instant) -> int:
        def lost(db: SqlSession) -> dict[str, Any] | None:
            alive = [node for node, _, left_s, *_ in db.execute(NODES["nodes"]) if left_s > 0]
            place = {"alive": to_json(alive), "before": now - _ENTERED_US, "now": now}
            return place if db.execute(JOBS["has_lost"], place).fetchone() is not None else None

        def write(db: SqlSession) -> int:
            db.execute(JOBS["forget_lost"], place)
            return db.execute(JOBS["interrupt_lost"], place).rowcount

        # Looked for first: there is hardly ever one, and a transaction that writes would wait for others.
        if not self._database.is_shared or (place := await self._view(lost)) is None:
            return 0
        return await self._write(write)


def _to_token(row: Sequence[Any]) -> TokenRow:
    token_id, name, scope, created_at, expires_at, last_used_at, revoked_at, is_declared = row
    return TokenRow(
        token_id, name, Scope(scope), created_at, expires_at, last_used_at, revoked_at, is_declared=bool(is_declared)
    )


def _is_as_declared(place: Sequence[Any], name: str, scope: Scope) -> bool:
    """Say whether a row of `token_with` is in force as it is declared now."""
    declared, _, its_name, its_scope, _, expires_at, _, revoked_at, _ = place
    in_force = revoked_at is None and expires_at is None
    return bool(declared == _NOW and in_force and (its_name, its_scope) == (name, scope.value))


# How long an answer is stored for repeated requests.
DAY_US: Final = 24 * 3_600_000_000


def _to_job(row: Sequence[Any]) -> JobRow:
    job_id, kind, who, started_at, state, done, total, ended_at, result, error, node = row
    found = read_object(result) if result is not None else None
    return JobRow(job_id, kind, who, started_at, state, done, total, ended_at, found, error, node)
