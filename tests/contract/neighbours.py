"""A store with two halves of everything: what is done to one must not be seen at the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from tests.contract.desk import DAY, HOUR, MINUTE, Desk, alert
from tests.contract.test_store_copies import copy
from tests.contract.test_store_items import differs, items
from tests.contract.test_store_snapshots import kept
from tests.contract.test_store_storms import change
from tests.routers import ScriptedRouter
from tests.routers import digest as gathered
from tocsin.model import (
    AlertDraft,
    ChannelState,
    DeliveryResult,
    Instant,
    Instruction,
    JobRow,
    KeptPicture,
    Listing,
    PageKnowledge,
    PageNoise,
    PictureDifference,
    RateLimit,
    Routed,
    Scope,
    SerializedEvent,
    StoredAnswer,
)
from tocsin.ports import RoutingContext

NAMES: Final = ("one", "two")
NOISE: Final = (7, 8)
ROUTES: Final = tuple(f"{name} daily" for name in NAMES)


def digest(text: str) -> bytes:
    """A digest, as the store is given them for secrets."""
    return blake2b(text.encode(), digest_size=32).digest()


def picture(name: str, before: str | None = None) -> KeptPicture:
    """A picture whose row is kept; its file does not matter."""
    return KeptPicture(name, 1280, 2000, 3, before, PictureDifference(0.5) if before is not None else None)


@dataclass
class Half:
    """One half: a host with its group, channel, token, job and so on, all of one name."""

    name: str
    page: str = ""
    failing: str = ""
    ruled: str = ""
    feed: str = ""
    stormy: tuple[str, ...] = ()
    ids: dict[str, int] = field(default_factory=dict)
    host: int = 0
    request: int = 0
    left: int = 0
    token: int = 0
    question: int = 0
    rule: int = 0
    storm: int = 0
    test: int = 0
    alert: str = ""
    snapshot: int = 0
    silence: int = 0
    bundles: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        """The key of its request that is answered once."""
        return digest(f"{self.name} key")

    @property
    def page_id(self) -> int:
        """The page that has something of everything."""
        return self.ids[self.page]


async def furnish(desk: Desk) -> dict[str, Half]:
    """Fill a store with both halves, in turns, so that neither has all the lower numbers."""
    halves = {name: Half(name) for name in NAMES}
    await desk.store.set_channels(NAMES)
    for half in halves.values():
        await _watch(desk, half)
    for step in (_check, _change, _ask, _raise_storm, _serve, _gather):
        desk.now += HOUR
        for half in halves.values():
            desk.now += MINUTE
            await step(desk, half)
    await desk.store.take_listings(desk.now)
    for half in halves.values():
        half.snapshot = (await desk.store.snapshots(half.page, limit=1))[0].id
    return halves


async def _watch(desk: Desk, half: Half) -> None:
    name = half.name
    half.page, half.failing, half.ruled, half.feed, *stormy = (
        f"https://{name}.example/{what}" for what in ("page", "failing", "ruled", "feed", "s1", "s2", "s3")
    )
    half.stormy = tuple(stormy)
    urls = (half.page, half.failing, half.ruled, half.feed, *half.stormy)
    added = await desk.watch(*urls, group=name, text=f"{name} text")
    half.ids = dict(zip(urls, added, strict=True))
    half.host = (await desk.task(half.page)).host_id
    await desk.store.save_robots(f"https://{name}.example", f"{name} robots")
    await desk.store.edit_group(name, desk.now, settings={"every": "6h"}, unset=())
    token = await desk.store.add_token(name, Scope.WRITE, digest(name), desk.now)
    half.token = token.id
    await desk.store.open_session(digest(f"{name} cookie"), token.id, name, desk.now, until=desk.now + 9 * DAY)
    await desk.store.save_job(JobRow(name, f"{name}.import", name, desk.now))
    await desk.store.begin_once(half.key, digest(f"{name} print"), desk.now)


async def _check(desk: Desk, half: Half) -> None:
    name = half.name
    for url in (half.failing, half.ruled, *half.stormy):
        await desk.check(url, "1")
    noise = tuple(PageNoise(key, name, 3, since=desk.now) for key in NOISE)
    await desk.check(
        half.page,
        f"{name} 1",
        known=PageKnowledge(name, {}, name.encode(), noise),
        items=items(f"{name} 1"),
        snapshot=kept(f"{name} 1", desk.now),
        copies=[copy(half.failing, f"https://copies.example/{name}", 3)],
        picture=picture(f"{name} 1"),
    )
    await desk.check(half.feed, "1", listing=Listing("feed", ((half.page, f"{name} date"),)))


async def _change(desk: Desk, half: Half) -> None:
    name = half.name
    half.request = await desk.store.request_check([half.page_id], desk.now)
    await desk.check(half.page, f"{name} 2", snapshot=kept(f"{name} 2", desk.now))
    await desk.render(half.page, items=items(f"{name} 2"), changes=differs(f"{name} 1", f"{name} 2"))
    desk.now += MINUTE
    seen = picture(f"{name} 3", f"{name} 1")
    await desk.check(half.page, f"{name} 3", snapshot=kept(f"{name} 3", desk.now), picture=seen)


async def _ask(desk: Desk, half: Half) -> None:
    await desk.fail(half.ruled, f"{half.name} rule")
    question = (await desk.page(half.ruled)).question_id
    assert question is not None
    await desk.store.answer(question, Instruction("never"), scope="page", url=None, now=desk.now)
    half.rule = (await desk.store.standing_answers())[-1].id
    await desk.fail(half.failing, f"{half.name} cause")
    half.question = (await desk.page(half.failing)).question_id or 0
    half.left = await desk.store.request_check([half.ids[half.failing]], desk.now)


async def _raise_storm(desk: Desk, half: Half) -> None:
    await change(desk, *half.stormy, key=f"{half.name} block".encode())
    half.storm = (await desk.store.storms(limit=1))[0].id


async def _serve(desk: Desk, half: Half) -> None:
    name = half.name
    for number in (1, 2):
        await desk.store.write_alert(alert(f"{name} {number}", half.page_id, at=desk.now))
    half.alert = alert(f"{name} 1", None).id
    half.test = await desk.store.ask_for_channel_test(name, desk.now)
    await desk.store.save_channel_state(ChannelState(name, 2, desk.now + HOUR, error=f"{name} error"))
    dead = DeliveryResult(half.alert, name, "dead", desk.now, None, f"{name} was gone")
    await desk.store.record_deliveries([dead])


async def _gather(desk: Desk, half: Half) -> None:
    """Publish alerts for a digest of each state, one that is held back and one that no route takes."""
    name, route = half.name, f"{half.name} daily"
    silence = await desk.store.add_silence({"group": [name]}, from_at=desk.now, until_at=None, reason=name, who=name)
    half.silence = silence.id

    def answer(draft: AlertDraft, now: Instant, context: RoutingContext) -> list[Routed]:
        context.take(name, route, RateLimit(9, now, now + HOUR))
        what = draft.id.rpartition(" ")[2]
        if what in {"held", "untaken"}:
            return [Routed(name, route, silence=half.silence)] if what == "held" else []
        return [gathered(name, route, what, due_at=now + DAY)]

    await desk.store.set_routes(ScriptedRouter(answer), ROUTES, desk.now)
    for what in ("dead", "given", "sealed", "open", "held", "untaken"):
        await desk.store.write_alert(alert(f"{name} {what}", half.page_id, at=desk.now))
    await desk.store.set_routes(None, ROUTES, desk.now)
    half.bundles = {row.key: row.id for row in await desk.store.bundles(limit=9) if row.channel == name}
    for what, state in (("dead", "dead"), ("given", "accepted"), ("sealed", None)):
        bundle = half.bundles[what]
        await desk.store.seal_bundle(bundle, desk.now)
        if state is not None:
            await desk.store.keep_digest(bundle, SerializedEvent(f"{name} {what}", b"{}"), None)
            ended = DeliveryResult("", name, state, desk.now, None, f"{name} said no", position=-bundle)  # type: ignore[arg-type]  # one of two
            await desk.store.record_deliveries([ended])


def stored_answer(half: Half, desk: Desk) -> StoredAnswer:
    """The answer to its request."""
    return StoredAnswer(digest(f"{half.name} print"), 201, "text/plain", half.name.encode(), desk.now)


_PAGES: Final = "(select id from pages where host_id = {host})"
BELONGS: Final = {
    **dict.fromkeys(
        ("edits", "states", "verdicts", "copies", "learnt", "listings", "snapshots", "items", "renders", "renderings"),
        f"page_id in {_PAGES}",
    ),
    **dict.fromkeys(("item_changes", "pictures", "alerts"), f"page_id in {_PAGES}"),
    **dict.fromkeys(("pages", "questions", "storms", "sightings"), "host_id = {host}"),
    **dict.fromkeys(("groups", "channels", "tokens"), "name = '{name}'"),
    "hosts": "id = {host}",
    "standing_answers": f"host_id = {{host}} or page_id in {_PAGES}",
    "alert_marks": f"position in (select position from alerts where page_id in {_PAGES})",  # noqa: S608 - ours
    "deliveries": f"channel = '{{name}}' and page_id in {_PAGES}",
    **dict.fromkeys(("bundles", "gathered", "silenced", "rate_windows"), "channel = '{name}'"),
    "digests": "bundle in (select id from bundles where channel = '{name}')",
    "silences": "who = '{name}'",
    "unrouted": f"position in (select position from alerts where page_id in {_PAGES})",  # noqa: S608 - ours
    "channel_tests": "channel = '{name}'",
    "sessions": "token_id = {token}",
    "jobs": "id = '{name}'",
    "answers": "key = x'{key}'",
    "requests": "id in ({request}, {left})",
    "request_reports": "request_id in ({request}, {left})",
}
"""Which rows of each table belong to a half."""


def rows_of(desk: Desk, half: Half) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that belongs to a half, by table."""
    place = {
        "host": half.host, "name": half.name, "token": half.token, "key": half.key.hex(),
        "request": half.request, "left": half.left,
    }  # fmt: skip
    with desk.behind.reading() as look:
        return {
            table: look(f"select * from {table} where {condition.format(**place)}")  # noqa: S608 - ours
            for table, condition in BELONGS.items()
        }
