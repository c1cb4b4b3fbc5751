"""What is known of pages beside their states: the signals' part of the port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from tocsin.adapters.stores.sql.codec import to_json
from tocsin.adapters.stores.sql.knowledge import listings
from tocsin.adapters.stores.sql.knowledge.knowledge import beside_of, read_host_noise, read_keys
from tocsin.adapters.stores.sql.knowledge.learnt import SQL, keep_noise
from tocsin.adapters.stores.sql.role import Role
from tocsin.model import SignalContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.knowledge.listings import Task
    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import HostNoise, Instant


class SignalRole(Role):
    """Implements ports.SignalStore."""

    async def learnt(self, url: str) -> tuple[int, SignalContext] | None:
        """What is known of a page beside its state, with its id; None where the page is not watched."""
        row = await self._read(lambda db: db.execute(SQL["learnt_of"], {"url": url}).fetchone())
        return None if row is None else (row[0], beside_of(*row[1:]) or SignalContext())

    async def noise_of_host(self, host: str) -> list[HostNoise]:
        """What changes from check to check on pages of a host: what is muted first, then by how many pages share it."""
        row = await self._read(lambda db: db.execute(SQL["noise_of_host"], {"host": host}).fetchone())
        noise = read_host_noise(row[1]).values() if row is not None else ()
        return sorted(noise, key=lambda each: (each.muted_at is None, -len(each.pages), each.what, each.key))

    async def hear(self, page_id: int, keys: Sequence[int], *, muted: bool) -> None:
        """Let the user hear of these places of a page, muted or not; or mute them again as they are learnt."""

        def write(db: Session) -> None:
            row = db.execute(SQL["heard"], {"page": page_id}).fetchone()
            before = read_keys(row[0]) if row is not None else ()
            after = [key for key in before if key not in keys] + ([] if muted else list(dict.fromkeys(keys)))
            db.execute(SQL["hear"], {"page": page_id, "heard": to_json(after) if after else None})
            db.execute(SQL["note_learnt"], {"page": page_id})

        await self._edit(write)

    async def hear_host(self, host: str, keys: Sequence[int], *, muted: bool) -> None:
        """The same for these places on all pages of a host; those that nothing is known of are left out."""

        def write(db: Session) -> None:
            row = db.execute(SQL["noise_of_host"], {"host": host}).fetchone()
            if row is None:
                return
            noise = read_host_noise(row[1])
            told = {key: structs.replace(noise[key], heard=not muted) for key in keys if key in noise}
            keep_noise(db, row[0], noise | told)

        await self._edit(write)

    async def take_listings(self, now: Instant) -> int:
        """Take over what feeds and sitemaps say of other pages, a step at a time; returns of how many it was news.

        A page of which one of them says something else than before is due soon.
        """
        heard = 0
        while (task := await self._read(listings.next_task)) is not None:
            heard += await (self._forget_source(task) if task.is_gone else self._take_over(task, now))
        return heard

    async def _take_over(self, task: Task, now: Instant) -> int:
        pace, news = self._paces["list"], 0
        for piece in pace.pieces(task.entries):
            # Looked for beside the writer, who is needed for what is new alone.
            heard = await self._read(partial(listings.compare, task=task, entries=piece))
            if heard:
                step = partial(listings.take_over, task=task, heard=heard, now=now)
                news += await self._in_turn(pace, len(heard), step)
        await self._write(partial(listings.finish, task=task))
        return news

    async def _forget_source(self, task: Task) -> int:
        pace, after = self._paces["unlist"], 0
        while True:
            step = partial(listings.forget_some, task=task, after=after, limit=pace.rows)
            after = await self._in_turn(pace, pace.rows, step)
            if not after:
                return 0
