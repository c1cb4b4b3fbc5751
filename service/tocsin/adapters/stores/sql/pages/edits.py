"""Edits of the watch list, inside a transaction: adding and removing pages, settings, and how the schedule follows."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from msgspec import Struct

from tocsin.adapters.stores.sql.pages.requests import give_up
from tocsin.adapters.stores.sql.pages.words import change_words, keep_words, pages_named
from tocsin.adapters.stores.sql.role import ids, touch_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    OFF,
    PACED,
    read_settings,
    spread_at,
    to_json,
    to_json_or_null,
    to_us,
    url_key,
    window_us,
)
from tocsin.configuration.convert import parse_span
from tocsin.errors import StaleRevision
from tocsin.lists.pages import GroupNames

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, JsonObject, NewPage


SQL = queries("watchlist")
GROUPS = queries("browsing")


def insert_pages(db: SqlSession, pages: Sequence[NewPage], now: Instant, *, of: int) -> list[int | None]:
    """Add pages that are not watched yet, hosts and groups with them; returns ids, None for the others.

    of  how many are added in all, these included: their first checks are spread by them all
    """
    seen = {row[0] for row in db.execute(SQL["known"], {"urls": ids(page.url for page in pages)})}
    (last,) = db.execute(SQL["last_id"]).fetchone()
    # Pages that were removed count too: what matters is the order of magnitude.
    window = window_us(last + of)
    added: list[int | None] = []
    rows = []
    for page in pages:
        if page.url in seen:
            added.append(None)
            continue
        seen.add(page.url)
        last += 1
        added.append(last)
        rows.append(
            {
                "id": last,
                "key": url_key(page.url),
                "url": page.url,
                "given": page.given if page.given != page.url else None,
                "host": page.host,
                "shard": page.shard,
                "group": page.group,
                "settings": to_json_or_null(page.settings),
                "secrets": to_json_or_null(page.secrets),
                "text": page.text,
                "paused": page.paused,
                "now": now,
                "next_at": spread_at(last, now, window),
            }
        )
    hosts = {row["host"]: row for row in rows}
    db.executemany(SQL["insert_host"], hosts.values())
    make_groups(db, [row["group"] for row in rows])
    db.executemany(SQL["insert_page"], rows)
    keep_words(db, last)
    count_pages(db, [row["group"] for row in rows])
    if rows:
        touch_hosts(db, [row[0] for row in db.execute(SQL["hosts_named"], {"names": ids(hosts)})])
    return added


def make_groups(db: SqlSession, names: Iterable[str]) -> None:
    """Make the groups that are not there yet; raises UsageError for a name that differs only in capitals.

    A group whose name an older version took in another form of Unicode gets the name that is wanted now (NFC).
    """
    wanted = [name for name in dict.fromkeys(names) if not db.execute(GROUPS["group_named"], {"name": name}).fetchone()]
    if not wanted:
        return
    known = [row[0] for row in db.execute(SQL["group_names"])]
    there = GroupNames(known)
    composed = {normalize("NFC", name): name for name in known}
    renamed = [{"name": name, "old": composed[name]} for name in wanted if name in composed]
    db.executemany(SQL["rename_group"], renamed)
    db.executemany(SQL["insert_group"], [{"name": there.take(name)} for name in wanted])


def groups_of(db: SqlSession, page_ids: Sequence[int]) -> list[str]:
    """Name the group of each of these pages."""
    return [row[0] for row in db.execute(SQL["groups_of"], {"ids": ids(page_ids)})]


def count_pages(db: SqlSession, groups: Iterable[str], *, sign: int = 1) -> None:
    """Let groups have a page more, or less: one entry for each page."""
    db.executemany(SQL["count_pages"], [(sign * pages, name) for name, pages in Counter(groups).items()])


def _demand_pages(db: SqlSession, page_ids: Sequence[int], revision: int | None) -> None:
    """Raise StaleRevision unless these pages have this revision; None: any."""
    for page_id in page_ids if revision is not None else ():
        _demand(db.execute(GROUPS["revision_of_page"], {"page": page_id}).fetchone(), revision, f"page {page_id}")


def demand_group(db: SqlSession, name: str | None, revision: int | None) -> None:
    """Raise StaleRevision unless a group, or the settings for all pages, has this revision; None: any."""
    if revision is None:
        return
    if name is None:
        _demand(db.execute(GROUPS["revision_for_all"]).fetchone(), revision, "what is set for all pages")
    else:
        _demand(db.execute(GROUPS["revision_of_group"], {"name": name}).fetchone(), revision, f"group {name}")


def _demand(row: Any, revision: int | None, what: str) -> None:
    if row is None or row[0] != revision:
        raise StaleRevision(what)


def remove(db: SqlSession, page_ids: Sequence[int], *, if_revision: int | None = None) -> int:
    """Take pages off the list with all that is stored of them; what asked for them waits for them no longer."""
    _demand_pages(db, page_ids, if_revision)
    place = {"ids": ids(page_ids)}
    rows = db.execute(SQL["touched"], place).fetchall()
    give_up(db, [row[3] for row in rows])
    change_words(db, pages_named(db, page_ids))
    count_pages(db, groups_of(db, page_ids), sign=-1)
    db.execute(SQL["remove"], place)
    questions = {row[2] for row in rows if row[2] is not None}
    if questions:
        now = time.time_ns() // 1000
        db.execute(SQL["close_left_questions"], {"questions": ids(questions), "now": now})
    touch_hosts(db, {row[1] for row in rows})
    return len(rows)


_CLOCK = frozenset({"every", "cron"})
_LOGIN = frozenset({"steps", "secrets"})


class WatchListEdit(Struct, frozen=True):
    """One edit.

    pages        how many it is for, which the checks that it brings are spread by
    if_revision  that it is based on; None: any
    """

    settings: JsonObject
    unset: tuple[str, ...]
    paused: bool | None = None
    group: str | None = None
    text: str | None = None
    clear_text: bool = False
    pages: int = 0
    if_revision: int | None = None

    @property
    def moves_schedule(self) -> bool:
        """Whether pages may be due at another time now."""
        return self.sets_mode() or self.sets_clock()

    def sets_mode(self, own: Collection[str] = ()) -> bool:
        """Tell whether a page may have another mode now; its `own` settings override those of its group."""
        return "mode" not in own and ("mode" in self.settings or "mode" in self.unset)

    def sets_clock(self, own: Collection[str] = ()) -> bool:
        """The same for its interval; that it is to be adaptive moves nothing, only that it is no more, or its bound."""
        given = {*self.settings, *self.unset}
        if not _CLOCK.isdisjoint(given):
            return _CLOCK.isdisjoint(own)
        is_fixed_now = "adaptive" in given and self.settings.get("adaptive") is not True and "adaptive" not in own
        return is_fixed_now or ("every_max" in given and "every_max" not in own)

    @property
    def ends_login(self) -> bool:
        """Whether cookies of an earlier login are of no use: another user may log in, or none."""
        # Another group may have other steps for its pages.
        return self.group is not None or not _LOGIN.isdisjoint({*self.settings, *self.unset})

    def merged(self, settings: str | None) -> JsonObject:
        """Give these settings with the edit's in their place."""
        before = read_settings(settings)
        return {key: value for key, value in {**before, **self.settings}.items() if key not in self.unset}

    def longest_us(self, *, adaptive: bool) -> int | None:
        """Give the longest time between two checks that it sets; None if it sets none, or one that only a visit knows.

        adaptive  the page's interval follows from its changes
        """
        if "cron" in self.settings:
            return None
        names = ("every_max", "every") if adaptive else ("every", "every_max")
        longest = next((self.settings[name] for name in names if name in self.settings), None)
        return to_us(parse_span(longest)) if isinstance(longest, str) else None

    def leaves_adaptive(self, why: str) -> bool:
        """Say whether a page due for this reason stays adaptive within the same bounds: `every` is only its scale."""
        return why.startswith(PACED) and {"adaptive", "every_max", "cron"}.isdisjoint({*self.settings, *self.unset})


def edit_step(db: SqlSession, page_ids: Sequence[int], edit: WatchListEdit, now: Instant) -> int:
    """Carry out an edit for these pages; returns how many there are."""
    _demand_pages(db, page_ids, edit.if_revision)
    place = {"ids": ids(page_ids), "group": edit.group, "text": edit.text}
    if edit.group is not None:
        make_groups(db, [edit.group])
        count_pages(db, groups_of(db, page_ids), sign=-1)
        db.execute(SQL["set_group"], place)
        count_pages(db, groups_of(db, page_ids))
    if edit.text is not None or edit.clear_text:
        before = pages_named(db, page_ids)
        db.execute(SQL["set_text"], {**place, "text": None if edit.clear_text else edit.text})
        change_words(db, before, pages_named(db, page_ids))
    rows = db.execute(SQL["settings_of"], place).fetchall()
    db.execute(SQL["note_edits"], place)
    if edit.settings or edit.unset:
        changed = [{"id": row[0], "settings": to_json_or_null(edit.merged(row[1]))} for row in rows]
        db.executemany(SQL["set_settings"], changed)
    if edit.ends_login:
        db.execute(SQL["forget_logins"], place)
    if edit.paused is not None:
        db.execute(SQL["set_paused"], {**place, "paused": edit.paused})
        if edit.paused:
            _give_up_requests(db, place)
    if edit.group is not None:
        # The group that it was in may have been what turned it off: the visit knows.
        _wake(db, rows, now, pages=edit.pages)
    if edit.moves_schedule:
        _follow(db, rows, edit, now, pages=edit.pages)
    elif edit.paused is False:
        _resume(db, rows, now, pages=edit.pages)
    touch_hosts(db, {row[1] for row in db.execute(SQL["touched"], place)})
    return len(rows)


def _give_up_requests(db: SqlSession, place: dict[str, Any]) -> None:
    """Let requests give up these pages: a paused page may not be requested (T62)."""
    give_up(db, [row[3] for row in db.execute(SQL["touched"], place)])
    db.execute(SQL["want_no_more"], place)


def merge_into(db: SqlSession, name: str | None, edit: WatchListEdit) -> None:
    """Carry out an edit for a group (made if it is new), or for all pages."""
    demand_group(db, name, edit.if_revision)
    if name is None:
        (before,) = db.execute(SQL["settings_of_all"]).fetchone()
        db.execute(SQL["set_all_settings"], {"settings": to_json(edit.merged(before))})
    else:
        make_groups(db, [name])
        (before,) = db.execute(SQL["settings_of_group"], {"name": name}).fetchone()
        db.execute(SQL["set_group_settings"], {"name": name, "settings": to_json(edit.merged(before))})
    if edit.ends_login:
        # Also of pages that have steps of their own: to log in once more costs less than to find out.
        db.execute(SQL["forget_all_logins" if name is None else "forget_logins_of_group"], {"name": name})
    # Every page is judged by it from now on; no host is due at another time for that alone.
    touch_hosts(db, ())


def follow_step(db: SqlSession, page_ids: Sequence[int], edit: WatchListEdit, now: Instant) -> int:
    """Let the schedule of one step's pages follow an edit of their group, or of all; returns how many there are."""
    rows = db.execute(SQL["settings_of"], {"ids": ids(page_ids)}).fetchall()
    (size,) = db.execute(queries("work")["size"]).fetchone()
    moved = _follow(db, rows, edit, now, pages=size, of_group=True)
    if moved:
        touch_hosts(db, {row[1] for row in db.execute(SQL["touched"], {"ids": ids(moved)})})
    return len(rows)


def _follow(
    db: SqlSession, rows: Sequence[Any], edit: WatchListEdit, now: Instant, *, pages: int, of_group: bool = False
) -> list[int]:
    """Move due times as the new settings want it: sooner, or never; the check that comes plans the next one.

    Returns the pages that were moved.

    of_group  a page's own settings override the edit; and pages that become off are left to the visit, which knows
              every level that a mode may come from
    """
    changed = []
    for page_id, settings, next_at, why, checked_at in rows:
        own = read_settings(settings).keys() if of_group and settings else ()
        if edit.sets_mode(own) and edit.settings.get("mode") == OFF:
            if not of_group and (next_at is not None or why == OFF):
                changed.append({"id": page_id, "next_at": None, "next_why": OFF})
        elif next_at is None:
            # What a rule holds for ever stays held.
            if why == OFF and edit.sets_mode(own):
                changed.append(_on_again(page_id, now, pages))
        elif edit.sets_mode(own) or edit.sets_clock(own):
            soon = _sooner(edit, page_id, (next_at, why or ""), min(checked_at, now), now, pages)
            if soon < next_at:
                changed.append({"id": page_id, "next_at": soon, "next_why": "its schedule was changed"})
    db.executemany(SQL["set_due"], changed)
    return [row["id"] for row in changed]


def _sooner(
    edit: WatchListEdit, page_id: int, due: tuple[Instant, str], checked_at: Instant, now: Instant, pages: int
) -> Instant:
    """Give the due time of a page after an edit: sooner only where the edit wants it, so a longer interval moves none.

    due         when it was due before, and why
    checked_at  of its last check
    """
    next_at, why = due
    if why.startswith(("held:", "the page's refresh")):
        return next_at
    longest = edit.longest_us(adaptive=why.startswith(PACED)) if not edit.sets_mode() else None
    if longest is None:
        return (
            next_at if edit.leaves_adaptive(why) and not edit.sets_mode() else spread_at(page_id, now, window_us(pages))
        )
    latest = checked_at + longest
    if next_at <= latest or edit.leaves_adaptive(why):
        return next_at
    # What is overdue by the new interval is spread over it; nothing else comes later than the interval allows.
    soon = spread_at(page_id, now, longest)
    return min(soon, latest) if latest > now else soon


def _wake(db: SqlSession, rows: Sequence[Any], now: Instant, *, pages: int) -> None:
    """Let those that are off be looked at again."""
    off = [page_id for page_id, _, next_at, why, _ in rows if next_at is None and why == OFF]
    db.executemany(SQL["set_due"], [_on_again(page_id, now, pages) for page_id in off])


def _on_again(page_id: int, now: Instant, pages: int) -> dict[str, Any]:
    return {"id": page_id, "next_at": spread_at(page_id, now, window_us(pages)), "next_why": "on again"}


def _resume(db: SqlSession, rows: Sequence[Any], now: Instant, *, pages: int) -> None:
    """Spread what became due during a pause."""
    window = window_us(pages)
    db.executemany(
        SQL["set_due"],
        [
            {"id": page_id, "next_at": spread_at(page_id, now, window), "next_why": "no longer paused"}
            for page_id, _, next_at, _, _ in rows
            if next_at is not None and next_at < now
        ],
    )
