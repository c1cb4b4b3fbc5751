"""A store in which much has happened: states, verdicts, alerts, dead letters, questions, rules, storms, texts."""

from __future__ import annotations

import itertools
from pathlib import Path

from msgspec import structs

from tests.claiming import claim_all
from tests.contract.desk import DAY, GATHER, HOUR, MINUTE, SECOND, Desk
from tests.fakes import SeededChance
from tests.routers import ScriptedRouter
from tocsin.adapters.stores import open_store
from tocsin.events import CHANGED, HOST_CHANGED, UNREACHABLE
from tocsin.model import (
    ActivityRow,
    AlertDraft,
    AuditEntry,
    CopyLink,
    DeliveryResult,
    Instruction,
    JsonObject,
    KeptPicture,
    PageItems,
    PictureDifference,
    Routed,
    Scope,
    Snapshot,
    VerdictRow,
)
from tocsin.server.access.credentials import digest_of
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.reading.packing import pack
from tocsin.spec.signals.texts import pack_text

CHANNELS = ("log", "ops")
CALM = [f"https://calm.example/{number}" for number in range(12)]
RESTLESS = [f"https://restless.example/{number}" for number in range(4)]
STORMY = [f"https://storm{host}.example/{page}" for host in range(3) for page in range(3)]
LOST = [f"https://lost{host}.example/" for host in range(60)]
DIGESTS = 60
FORBIDDEN = 25
"""Of the lost pages those that a rule keeps silent."""

ITEMS = b"""<p itemscope itemtype=http://microformats.org/profile/hcalendar#vevent><b itemprop=summary>Jazz</b> day %d
<time itemprop=dtstart datetime=2026-12-05>Saturday</time>
<p itemscope itemtype=http://microformats.org/profile/hcard><b itemprop=fn>Ann Lee</b>"""
ITEM_CHANGES = {"since": "2027-01-15T08:00:00.000Z", "added": 0, "removed": 0, "changed": 1, "cut": False}
DIFFERENCE = {"added": ["Call 02"], "removed": ["Call 01"], "cut": False}
_TEXTS = ("A bridge is planned.\n", "A bridge is being built.\n", "The bridge was built.\nPeople walk on it.\n")


def moved_event(latest: str) -> JsonObject:
    """An event that begins at another time, as a change of items tells it."""
    item = {"type": "http://microformats.org/profile/hcalendar#vevent", "id": None, "position": 1, "label": "Jazz"}
    of = {"change": "changed", "item": item, "within": [], "path": [], "property": "dtstart"}
    return {**of, "previous": ["some day"], "latest": [latest]}


async def live(folder: Path) -> int:
    """Make such a store in this folder; returns the time until which it was lived in."""
    store = await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True, gather=GATHER, timer=lambda: 0.0)
    async with store:
        claim = await claim_all(store, "engine")
        assert claim is not None
        life = _Life(Desk(store, claim, folder))
        await life.watch()
        await life.change()
        await life.storm()
        await life.fail()
        await life.gather()
        await life.note()
        return life.desk.now


class _Life:
    def __init__(self, desk: Desk) -> None:
        self.desk, self.store = desk, desk.store
        self._chance = SeededChance()
        self._turns = itertools.count()

    async def watch(self) -> None:
        desk = self.desk
        await self.store.set_channels(CHANNELS)
        await desk.watch(*CALM, group="news", text="watched for the tender")
        await desk.watch(*RESTLESS, settings={"every": "6h", "headers": {"X-Secret": "hidden-in-a-header"}})
        await desk.watch(*STORMY)
        await desk.watch(*LOST, group="lost & found/1")

    async def change(self) -> None:
        """Pages are checked three times; the restless ones change, are rendered and told of."""
        desk = self.desk
        copies = tuple(
            CopyLink(LOST[-1], f"https://copies.example/{year}", str(year), year * SECOND, "memento", "memento")
            for year in (2024, 2025)
        )
        await desk.check(CALM[0], copies=copies)
        for url in (*CALM[1:], *STORMY):
            await desk.check(url)
        for text in _TEXTS:
            for url in RESTLESS:
                await desk.check(
                    url, f"2026-01-0{next(self._turns) % 9 + 1}", snapshot=Snapshot(*pack_text(text), at=desk.now)
                )
                if text is not _TEXTS[0]:
                    await self._render(url)
            desk.now += DAY
        due = await self.store.due_deliveries("ops", desk.now, limit=2)
        dead = [DeliveryResult(each.alert_id, "ops", "dead", desk.now, error="410 Gone") for each in due]
        await self.store.record_deliveries(dead)

    async def _render(self, url: str) -> None:
        job = await self.desk.job(url)
        alerts = tuple(self._alert(CHANGED, job.page_id, url, outcome=each.outcome) for each in job.verdicts)
        at = self.desk.now
        kept = pack(read_items(ITEMS % at, "text/html", address=url))
        items = PageItems(at, kept.digest, kept.packed, kept.count)
        changes = {**ITEM_CHANGES, "changes": [moved_event(f"day {at}")]}
        rendered = self.desk.rendered(job, alerts=alerts, items=items, changes=changes)
        png = b"picture at %d" % at
        digest, before = await self.store.keep_picture(png), await self.store.latest_picture(job.page_id)
        assert digest is not None
        found = PictureDifference(0.05, ((0, 400, 320, 48),), ((0, 900, 1280, 20),)) if before is not None else None
        picture = KeptPicture(digest, 1280, 4000, len(png), before[0] if before is not None else None, found)
        rendered = structs.replace(rendered, rendering=structs.replace(rendered.rendering, picture=picture))
        await self.store.commit_renderings(self.desk.claim, [rendered])

    async def storm(self) -> None:
        """Three hosts change on each of their pages alike."""
        desk = self.desk
        tasks = {task.url: task for task in await desk.due()}
        verdict = VerdictRow(desk.now, "minor", None, "content", "inferred", {}, awareness=True)
        for host in range(3):
            key = structs.replace(verdict, storm_key=b"%d" % host)
            results = [desk.result(tasks[url], verdict=key) for url in STORMY if f"storm{host}." in url]
            await self.store.commit(desk.claim, results)
        desk.now += 2 * MINUTE
        for each in await self.store.storms_to_announce(desk.now):
            draft = self._alert(HOST_CHANGED, None, each.host, outcome="minor")
            await self.store.announce_storm(each.id, draft, desk.now, excerpt=DIFFERENCE)

    async def fail(self) -> None:
        """Pages are lost; some of them for good."""
        desk = self.desk
        for url in LOST:
            await desk.fail(url)
        desk.now += 2 * MINUTE
        for question in await self.store.questions_to_announce(desk.now):
            draft = self._alert(UNREACHABLE, question.page.id, question.page.url)
            await self.store.announce(question.id, draft, desk.now)
        questions = await self.store.questions()
        for question in questions[:FORBIDDEN]:
            never = Instruction("never")
            await self.store.answer(question.id, never, scope="host-cause", url=None, now=desk.now)

    async def gather(self) -> None:
        """Alerts of many keys wait in digests; one of each further state was sealed, accepted and given up."""
        desk, numbers = self.desk, iter(range(DIGESTS))
        router = ScriptedRouter(
            lambda *_: [Routed("log", "daily", f"key {next(numbers)}", desk.now + DAY, is_digest=True)]
        )
        await self.store.set_routes(router, ["daily"], desk.now)
        for _ in range(DIGESTS):
            await self.store.write_alert(self._alert(CHANGED, None, CALM[0], outcome="minor"))
        for bundle in (1, 2, 3):
            await self.store.seal_bundle(bundle, desk.now)
        results = [
            DeliveryResult("", "log", "dead", desk.now, error="410 Gone", position=-2),
            DeliveryResult("", "log", "accepted", desk.now, position=-3),
        ]
        await self.store.record_deliveries(results)
        await self.store.set_routes(None, ["daily"], desk.now)

    async def note(self) -> None:
        """The service keeps its books."""
        desk = self.desk
        for hour in range(3):
            await self.store.note_activity(ActivityRow(desk.now - hour * HOUR, {"unchanged": 40, "major": 1}, alerts=1))
        await self.store.write_audit(AuditEntry(desk.now, "cli", "token.add", {"token": "old"}))
        await self.store.request_check([1, 2], desk.now)
        for number in range(60):
            await self.store.add_token(f"reader-{number}", Scope.READ, digest_of(f"{number}"), desk.now)
        desk.now += HOUR

    def _alert(self, kind: str, page_id: int | None, subject: str | None, outcome: str | None = None) -> AlertDraft:
        alert_id = self._chance.ulid(self.desk.now)
        event = {"specversion": "1.0", "id": alert_id, "type": kind, "subject": subject, "data": {"outcome": outcome}}
        return AlertDraft(alert_id, kind, page_id, self.desk.now, event)
