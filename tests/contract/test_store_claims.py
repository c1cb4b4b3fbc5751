"""Claims: which holder may write results, and until when no other one may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.desk import ALL, LEASE, NOW, SECOND, A
from tocsin.errors import StaleClaim

if TYPE_CHECKING:
    from tests.contract.desk import Desk


async def test_another_holder_claims_only_after_the_lease(desk: Desk) -> None:
    early = await desk.store.claim(ALL, NOW + 9 * SECOND, LEASE, "other")
    late = await desk.store.claim(ALL, NOW + 10 * SECOND, LEASE, "other")

    assert early is None
    assert late is not None
    assert late.epoch > desk.claim.epoch


async def test_one_shard_of_another_holder_is_enough_to_wait(desk: Desk) -> None:
    assert await desk.store.claim(range(4000, 4001), NOW, LEASE, "other") is None


async def test_the_same_holder_claims_anew_at_once_with_a_new_epoch(desk: Desk) -> None:
    again = await desk.store.claim(ALL, NOW, LEASE, "engine")

    assert again is not None
    assert (again.id, again.epoch) == (desk.claim.id, desk.claim.epoch + 1)


async def test_claims_of_different_shards_stand_side_by_side(desk: Desk) -> None:
    low = await desk.store.claim(range(2048), NOW, LEASE, "engine")
    high = await desk.store.claim(range(2048, 4096), NOW, LEASE, "other")

    assert low is not None
    assert high is not None
    assert (await desk.store.renew(low, NOW + SECOND, LEASE)).until == NOW + 11 * SECOND


async def test_an_old_claim_never_becomes_valid_again(desk: Desk) -> None:
    seen = {(desk.claim.id, desk.claim.epoch)}
    for shards in (range(2048), ALL, range(10), ALL):
        claim = await desk.store.claim(shards, NOW, LEASE, "engine")
        assert claim is not None
        assert (claim.id, claim.epoch) not in seen
        seen.add((claim.id, claim.epoch))


async def test_renewing_lengthens_the_lease_in_the_same_epoch(desk: Desk) -> None:
    renewed = await desk.store.renew(desk.claim, NOW + 8 * SECOND, LEASE)

    assert renewed.epoch == desk.claim.epoch
    assert await desk.store.claim(ALL, NOW + 17 * SECOND, LEASE, "other") is None


async def test_an_old_claim_is_not_renewed(desk: Desk) -> None:
    await desk.store.claim(ALL, NOW, LEASE, "engine")

    with pytest.raises(StaleClaim, match="engine"):
        await desk.store.renew(desk.claim, NOW, LEASE)


async def test_a_lease_that_ran_out_unnoticed_still_commits(desk: Desk) -> None:
    await desk.watch(A)
    desk.now += 60 * SECOND

    await desk.check(A)

    assert (await desk.page(A)).last_report is not None


async def test_results_under_an_old_epoch_are_refused_and_nothing_is_written(desk: Desk) -> None:
    await desk.watch(A)
    result = desk.result(await desk.task(A))
    await desk.store.claim(ALL, NOW, LEASE, "engine")

    with pytest.raises(StaleClaim):
        await desk.store.commit(desk.claim, [result])

    assert (await desk.page(A)).last_checked_at is None


async def test_a_rendering_under_an_old_epoch_is_refused_and_nothing_is_written(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "2026-01")
    await desk.check(A, "2026-02")
    job = await desk.job(A)
    await desk.store.claim(ALL, NOW, LEASE, "engine")

    with pytest.raises(StaleClaim):
        await desk.store.commit_rendering(desk.claim, desk.rendered(job))

    assert await desk.alerts() == []


async def test_slots_of_an_old_epoch_are_waiting_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "2026-01")
    await desk.check(A, "2026-02")
    await desk.job(A)
    assert await desk.store.count_waiting() == 0

    await desk.store.claim(ALL, NOW, LEASE, "engine")

    assert await desk.store.count_waiting() == 1
