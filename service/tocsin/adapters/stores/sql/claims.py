"""Claims of shards, inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.errors import StaleClaim
from tocsin.model import Claim

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant

SQL = queries("claims")


def take(db: SqlSession, shards: range, now: Instant, until: Instant, holder: str) -> Claim | None:
    """Claim these shards, unless another holder has a lease on one of them."""
    first, last = shards.start, shards.stop - 1
    rows = db.execute(SQL["overlapping"], {"first": first, "last": last}).fetchall()
    if any(row[3] != holder and row[5] > now for row in rows):
        return None
    epoch = max((row[4] for row in rows), default=0) + 1
    same = next((row[0] for row in rows if (row[1], row[2]) == (first, last)), None)
    db.execute(SQL["forget"], {"ids": ids(row[0] for row in rows)})
    (claim_id,) = db.execute(
        SQL["insert"],
        {"id": same, "first": first, "last": last, "holder": holder, "epoch": epoch, "until": until},
    ).fetchone()
    return Claim(claim_id, first, last, holder, epoch, until)


def renew(db: SqlSession, claim: Claim, until: Instant) -> Claim:
    """Lengthen a claim that is still in force; raises StaleClaim."""
    if not db.execute(SQL["renew"], {"id": claim.id, "epoch": claim.epoch, "until": until}).rowcount:
        raise _stale(claim)
    return structs.replace(claim, until=until)


def end_leases(db: SqlSession) -> None:
    """End the leases of engines that are gone, so that the next one need not wait for them; their epochs stay."""
    db.execute(SQL["end_leases"])


def require(db: SqlSession, claim: Claim) -> None:
    """Raise StaleClaim unless this claim is in force; an expired lease that was not replaced is."""
    if db.execute(SQL["is_current"], {"id": claim.id, "epoch": claim.epoch}).fetchone() is None:
        raise _stale(claim)


def _stale(claim: Claim) -> StaleClaim:
    return StaleClaim(
        f"shards {claim.first_shard}-{claim.last_shard}: the claim of {claim.holder} (epoch {claim.epoch}) was "
        "replaced by a newer one; its results are refused and will be made again by the new holder"
    )
