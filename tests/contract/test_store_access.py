"""Tokens, sessions and the audit log: by digests, and only as long as they are in force (T64)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from hashlib import blake2b

import pytest

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, SECOND, Desk
from tocsin.adapters.stores import open_store
from tocsin.errors import UsageError
from tocsin.model import AuditEntry, Declaration, Scope, SessionRow, TokenRow


def digest(secret: str) -> bytes:
    """What the store sees of a secret."""
    return blake2b(secret.encode(), digest_size=32).digest()


async def session(desk: Desk, now: int = NOW) -> SessionRow | None:
    """The session of the tests, if it is in force."""
    return await desk.store.session_of(digest("cookie"), now)


async def logged_in(desk: Desk, *, expires_at: int | None = None) -> TokenRow:
    """A token, and a browser that logged in with it for an hour."""
    token = await desk.store.add_token("ops", Scope.WRITE, digest("secret"), NOW, expires_at=expires_at)
    await desk.store.open_session(digest("cookie"), token.id, "csrf", NOW, until=NOW + HOUR)
    return token


async def test_no_token_was_ever_made_until_one_is(desk: Desk) -> None:
    before = await desk.store.has_tokens()
    await desk.store.add_token("ops", Scope.READ, digest("secret"), NOW)
    await desk.store.revoke_token("ops", NOW)

    assert (before, await desk.store.has_tokens()) == (False, True)


async def test_a_token_is_found_by_its_digest_and_its_use_is_noted_once_a_minute(desk: Desk) -> None:
    token = await desk.store.add_token("ops", Scope.ADMIN, digest("secret"), NOW)

    assert await desk.store.token_of(digest("secret"), NOW) == token
    assert await desk.store.token_of(digest("other"), NOW) is None
    for later, noted in ((30 * SECOND, NOW), (MINUTE, NOW + MINUTE), (MINUTE + SECOND, NOW + MINUTE)):
        await desk.store.token_of(digest("secret"), NOW + later)
        assert [row.last_used_at for row in await desk.store.tokens()] == [noted]


async def test_a_use_that_cannot_be_recorded_refuses_no_token(desk: Desk) -> None:
    token = await desk.store.add_token("ops", Scope.READ, digest("secret"), NOW)
    async with await open_store(desk.behind.url, engine=False, busy=timedelta()) as impatient:
        with desk.behind.write_lock():
            assert await impatient.token_of(digest("secret"), NOW) == token


async def test_a_token_of_another_process_is_found_at_once(desk: Desk) -> None:
    before = await desk.store.token_of(digest("secret"), NOW)
    async with await open_store(desk.behind.url, engine=False) as other:
        await other.add_token("ops", Scope.READ, digest("secret"), NOW)

    assert before is None
    assert await desk.store.token_of(digest("secret"), NOW) is not None


async def test_names_are_unique_among_tokens_in_force(desk: Desk) -> None:
    await desk.store.add_token("ops", Scope.READ, digest("1"), NOW, expires_at=NOW + HOUR)
    with pytest.raises(UsageError, match="'ops': there is one in force; revoke it first"):
        await desk.store.add_token("ops", Scope.READ, digest("2"), NOW)

    await desk.store.add_token("ops", Scope.READ, digest("3"), NOW + HOUR)
    await desk.store.revoke_token("ops", NOW + HOUR)
    await desk.store.add_token("ops", Scope.READ, digest("4"), NOW + HOUR)

    assert [(row.name, row.revoked_at is None) for row in await desk.store.tokens()] == [
        ("ops", True), ("ops", False), ("ops", True),
    ]  # fmt: skip
    assert await desk.store.token_of(digest("4"), NOW + HOUR) is not None


async def test_of_two_that_make_a_token_of_one_name_at_once_one_is_refused(desk: Desk) -> None:
    async with await open_store(desk.behind.url, engine=False) as other:
        made = await asyncio.gather(
            *(store.add_token("ops", Scope.READ, digest(str(store)), NOW) for store in (desk.store, other)),
            return_exceptions=True,
        )

    assert sorted(type(each).__name__ for each in made) == ["TokenRow", "UsageError"]


async def test_a_token_that_expired_or_was_revoked_is_none(desk: Desk) -> None:
    await desk.store.add_token("short", Scope.READ, digest("short"), NOW, expires_at=NOW + HOUR)
    await desk.store.add_token("ops", Scope.READ, digest("ops"), NOW)
    revoked = await desk.store.revoke_token("ops", NOW + MINUTE)

    assert revoked.revoked_at == NOW + MINUTE
    assert await desk.store.token_of(digest("ops"), NOW + MINUTE) is None
    assert await desk.store.token_of(digest("short"), NOW + HOUR - 1) is not None
    assert await desk.store.token_of(digest("short"), NOW + HOUR) is None
    for name in ("ops", "nobody"):
        with pytest.raises(UsageError, match=f"{name!r}: none has this name and is not revoked"):
            await desk.store.revoke_token(name, NOW + HOUR)


async def test_a_token_past_its_time_can_be_revoked_after_the_one_in_force_of_its_name(desk: Desk) -> None:
    old = await desk.store.add_token("ops", Scope.READ, digest("1"), NOW, expires_at=NOW + HOUR)
    new = await desk.store.add_token("ops", Scope.READ, digest("2"), NOW + HOUR, expires_at=NOW + 2 * HOUR)

    revoked = [await desk.store.revoke_token("ops", NOW + HOUR) for _ in range(2)]

    assert [row.id for row in revoked] == [new.id, old.id]
    assert {row.revoked_at for row in await desk.store.tokens()} == {NOW + HOUR}


async def test_a_session_lasts_until_its_end(desk: Desk) -> None:
    token = await logged_in(desk)
    found = await session(desk)

    assert found is not None
    assert (found.token, found.csrf, found.created_at, found.until) == (token, "csrf", NOW, NOW + HOUR)
    assert await session(desk, NOW + HOUR - 1) is not None
    assert await session(desk, NOW + HOUR) is None


async def test_revoking_a_token_ends_its_sessions(desk: Desk) -> None:
    await logged_in(desk)
    await desk.store.revoke_token("ops", NOW)

    assert await session(desk) is None


async def test_a_session_ends_with_its_token(desk: Desk) -> None:
    await logged_in(desk, expires_at=NOW + MINUTE)

    assert await session(desk, NOW + MINUTE) is None


async def test_who_logs_out_has_no_session(desk: Desk) -> None:
    await logged_in(desk)
    await desk.store.close_session(digest("cookie"))
    await desk.store.close_session(digest("cookie"))

    assert await session(desk) is None


async def test_the_audit_log_is_read_from_its_end(desk: Desk) -> None:
    written = [AuditEntry(NOW + n, f"who{n}", "pages.remove", {"pages": n}, f"r{n}") for n in range(5)]
    for entry in written:
        await desk.store.write_audit(entry)

    first = await desk.store.audit(limit=3)
    rest = await desk.store.audit(cursor=first.next, limit=3)

    assert [(row.who, row.detail, row.request_id) for row in (*first.rows, *rest.rows)] == [
        (row.who, row.detail, row.request_id) for row in reversed(written)
    ]
    assert rest.next is None
    with pytest.raises(UsageError, match="cursor"):
        await desk.store.audit(cursor="x")


async def test_what_is_over_is_forgotten_and_the_rest_stays(desk: Desk) -> None:
    await logged_in(desk)
    await desk.store.write_audit(AuditEntry(NOW, "ops", "old.one", {}))
    await desk.store.write_audit(AuditEntry(NOW + 300 * DAY, "ops", "new.one", {}))

    forgotten = await desk.store.prune(NOW + 366 * DAY, history=timedelta(days=365), limit=100)

    assert (forgotten, [row.what for row in (await desk.store.audit()).rows]) == (2, ["new.one"])
    assert [row.name for row in await desk.store.tokens()] == ["ops"]


OPS, ME = ("ops", Scope.ADMIN, digest("ops")), ("me", Scope.READ, digest("me"))


async def in_force(desk: Desk) -> dict[str, tuple[Scope, bool]]:
    """The tokens in force, by name: scope, and whether the configuration declares it."""
    return {row.name: (row.scope, row.is_declared) for row in await desk.store.tokens() if row.is_in_force(NOW)}


async def test_declared_tokens_are_in_force_and_those_made_otherwise_stay(desk: Desk) -> None:
    await desk.store.add_token("own", Scope.WRITE, digest("own"), NOW)

    change = await desk.store.declare_tokens([OPS, ME], NOW)

    assert (change.added, change.revoked, change.refused) == (("ops", "me"), (), ())
    assert await in_force(desk) == {"own": (Scope.WRITE, False), "ops": (Scope.ADMIN, True), "me": (Scope.READ, True)}
    assert await desk.store.declare_tokens([OPS, ME], NOW + 1) == Declaration()


async def test_a_token_that_is_no_longer_declared_is_revoked_with_its_sessions_and_may_come_back(desk: Desk) -> None:
    await desk.store.declare_tokens([OPS, ME], NOW)
    token = await desk.store.token_of(digest("me"), NOW)
    assert token is not None
    await desk.store.open_session(digest("cookie"), token.id, "csrf", NOW, until=NOW + HOUR)

    gone = await desk.store.declare_tokens([OPS], NOW + 1)

    assert gone.revoked == ("me",)
    assert await desk.store.token_of(digest("me"), NOW + 2) is None
    assert await session(desk) is None
    assert (await desk.store.declare_tokens([OPS, ME], NOW + 3)).added == ("me",)
    assert await desk.store.token_of(digest("me"), NOW + 4) is not None
    assert (await desk.store.declare_tokens([], NOW + 5)).revoked == ("ops", "me")
    assert await desk.store.has_tokens()


async def test_a_declared_token_changes_its_name_scope_and_secret(desk: Desk) -> None:
    await desk.store.declare_tokens([OPS, ME], NOW)

    swapped = await desk.store.declare_tokens([("me", *OPS[1:]), ("ops", Scope.WRITE, ME[2])], NOW + 1)
    renewed = await desk.store.declare_tokens([("me", Scope.ADMIN, digest("new"))], NOW + 2)

    assert (swapped.changed, swapped.added) == (("me", "ops"), ())
    assert (renewed.added, renewed.revoked) == (("me",), ("me", "ops"))
    assert await desk.store.token_of(digest("ops"), NOW + 3) is None


async def test_a_declared_token_that_was_revoked_by_its_name_stays_revoked(desk: Desk) -> None:
    await desk.store.declare_tokens([OPS], NOW)
    await desk.store.revoke_token("ops", NOW + 1)

    change = await desk.store.declare_tokens([OPS], NOW + 2)

    assert [name for name, _ in change.refused] == ["ops"]
    assert await in_force(desk) == {}


async def test_a_name_that_is_taken_keeps_only_that_token_out(desk: Desk) -> None:
    await desk.store.add_token("ops", Scope.READ, digest("own"), NOW)

    change = await desk.store.declare_tokens([OPS, ME], NOW)

    assert change.refused == (("ops", "this name is taken; `tocsin token revoke ops` frees it"),)
    assert await in_force(desk) == {"ops": (Scope.READ, False), "me": (Scope.READ, True)}


async def test_a_token_that_was_made_and_is_declared_then_is_the_configuration_s(desk: Desk) -> None:
    await desk.store.add_token("ops", Scope.READ, OPS[2], NOW, expires_at=NOW + DAY)

    change = await desk.store.declare_tokens([OPS], NOW)

    assert (change.changed, change.refused) == (("ops",), ())
    assert await in_force(desk) == {"ops": (Scope.ADMIN, True)}
