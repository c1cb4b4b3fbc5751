"""Channels and routes that were made at run time, and mutes of channels."""

from __future__ import annotations

from tests.contract.desk import HOUR, NOW, Desk
from tocsin.adapters.stores import open_store
from tocsin.model import ChannelMute, Saved, SavedEntry

HOOK = {"type": "webhook", "url": "https://hooks.example/x", "secret": "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="}


async def save(desk: Desk, kind: str, name: str, *, if_revision: int | None = None) -> int | None:
    """Save something, by Kim."""
    return await desk.store.save_entry(kind, name, {"n": name}, NOW, who="kim", if_revision=if_revision)  # type: ignore[arg-type]  # one of the two


async def names(desk: Desk) -> list[str]:
    return [entry.name for entry in (await desk.store.saved()).routes]


async def test_a_channel_is_kept_with_its_secret_and_who_made_it(desk: Desk) -> None:
    revision = await desk.store.save_entry("channel", "ops", HOOK, NOW, who="kim", if_revision=0)

    assert revision is not None
    assert await desk.store.saved() == Saved(
        revision, (SavedEntry("channel", "ops", HOOK, revision, NOW, "kim"),), (), ()
    )


async def test_of_two_edits_that_are_based_on_the_same_version_the_second_changes_nothing(desk: Desk) -> None:
    first = await save(desk, "channel", "ops", if_revision=0)
    assert await save(desk, "channel", "ops", if_revision=0) is None
    second = await save(desk, "channel", "ops", if_revision=first)

    assert await save(desk, "channel", "ops", if_revision=first) is None
    assert not await desk.store.remove_entry("channel", "ops", if_revision=first)
    assert (await desk.store.saved()).channels[0].revision == second
    assert await desk.store.remove_entry("channel", "ops", if_revision=second)
    assert (await desk.store.saved()).channels == ()


async def test_a_channel_and_a_route_may_have_the_same_name(desk: Desk) -> None:
    await save(desk, "channel", "ops")
    await save(desk, "route", "ops")

    assert await desk.store.remove_entry("route", "ops", if_revision=None)
    assert not await desk.store.remove_entry("route", "ops", if_revision=None)
    assert [entry.name for entry in (await desk.store.saved()).channels] == ["ops"]


async def test_routes_keep_their_order_when_they_are_replaced_and_can_be_put_into_another(desk: Desk) -> None:
    for name in ("press", "law", "all"):
        await save(desk, "route", name)
    await save(desk, "route", "press")
    assert await names(desk) == ["press", "law", "all"]

    await desk.store.order_routes(["all", "press", "law"])
    await save(desk, "route", "new")

    assert await names(desk) == ["all", "press", "law", "new"]


async def test_a_mute_ends_by_time_by_hand_or_with_its_channel(desk: Desk) -> None:
    await save(desk, "channel", "chat")
    for name, until in (("ops", NOW + HOUR), ("mail", None), ("chat", None)):
        await desk.store.mute_channel(name, NOW, until_at=until, who="kim")

    saved = await desk.store.saved()
    assert saved.mutes[2] == ChannelMute("ops", NOW + HOUR, NOW, "kim")
    assert set(saved.muted(NOW)) == {"ops", "mail", "chat"}
    assert set(saved.muted(NOW + HOUR)) == {"mail", "chat"}

    await desk.store.remove_entry("channel", "chat", if_revision=None)
    assert await desk.store.unmute_channel("mail")
    assert not await desk.store.unmute_channel("mail")
    assert set((await desk.store.saved()).muted(NOW)) == {"ops"}


async def test_each_change_has_a_number_that_another_process_sees_grow(desk: Desk) -> None:
    seen = [await desk.store.saved_revision()]
    async with await open_store(desk.behind.url, engine=False) as other:
        for change in (
            other.save_entry("route", "press", {}, NOW, who="kim", if_revision=None),
            other.order_routes(["press"]),
            other.mute_channel("ops", NOW, until_at=None, who="kim"),
            other.unmute_channel("ops"),
            other.remove_entry("route", "press", if_revision=None),
        ):
            await change
            seen.append(await desk.store.saved_revision())

    assert seen == sorted(set(seen))
