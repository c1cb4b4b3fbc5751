"""Pictures of pages: files named by digest, a row for each rendering; kept within bounds, and gone with their page."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.contract.desk import HOUR, A, B, Desk, alert
from tocsin.model import NO_COPY, KeptPicture, LearntContents, PictureDifference, Snapshot
from tocsin.spec.signals.texts import pack_text

FOUND = PictureDifference(0.25, ((0, 16, 32, 48),))


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """An engine's view of a store with a folder of pictures."""
    opened = await Desk.at(tmp_path, database, pictures=str(tmp_path / "pictures"))
    try:
        yield opened
        assert await opened.store.check() == []
    finally:
        await opened.store.close()


async def render(desk: Desk, url: str, png: bytes, before: str | None = None) -> str:
    """Commit a change of this page and its rendering with a picture; returns the digest."""
    await desk.check(url, str(desk.now))
    digest = await desk.store.keep_picture(png)
    assert digest is not None
    rendered = desk.rendered(await desk.job(url))
    row = replace(rendered.rendering, picture=KeptPicture(digest, 1280, 2000, len(png), before, FOUND))
    await desk.store.commit_renderings(desk.claim, [replace(rendered, rendering=row)])
    desk.now += HOUR
    return digest


async def look(desk: Desk, url: str, png: bytes, before: str | None = None, **changes: Any) -> str:
    """Commit a check whose picture is kept; returns the digest."""
    digest = await desk.store.keep_picture(png)
    assert digest is not None
    picture = KeptPicture(digest, 1280, 2000, len(png), before, FOUND if before else None)
    await desk.check(url, learnt=LearntContents(picture=picture), **changes)
    return digest


async def begin(desk: Desk, *urls: str) -> list[int]:
    """Watch pages, each checked once."""
    watched = await desk.watch(*urls)
    for url in urls:
        await desk.check(url, "first")
    return watched


async def kept(desk: Desk, page_id: int) -> list[str]:
    return [row.digest for row in await desk.store.pictures_of(page_id, limit=100)]


def files(desk: Desk) -> set[str]:
    return {entry.name for entry in (desk.folder / "pictures").iterdir()}


def age(desk: Desk) -> None:
    """Make all files two hours old."""
    for entry in (desk.folder / "pictures").iterdir():
        os.utime(entry, (1, 1))


async def test_a_picture_is_kept_with_its_rendering_and_read_again(desk: Desk) -> None:
    (page_id,) = await begin(desk, A)

    first = await render(desk, A, b"one")
    second = await render(desk, A, b"two", first)

    latest, oldest = await desk.store.pictures_of(page_id, limit=10)
    assert (latest.digest, latest.before, latest.difference, oldest.digest) == (second, first, FOUND, first)
    assert (latest.width, latest.height, latest.bytes, first) == (1280, 2000, 3, sha256(b"one").hexdigest())
    assert await desk.store.latest_picture(page_id) == (second, b"two")
    assert [await desk.store.picture(digest) for digest in (first, second, "0" * 64)] == [b"one", b"two", None]
    assert (desk.folder / "pictures" / f"{first}.png").stat().st_mode & 0o777 == 0o600


async def test_a_file_that_no_row_names_is_not_given_and_is_removed_once_it_is_old(desk: Desk) -> None:
    await begin(desk, A)
    named = await render(desk, A, b"one")
    orphan = await desk.store.keep_picture(b"two")
    (desk.folder / "pictures" / f".{'0' * 64}.17.part").write_bytes(b"half")
    (desk.folder / "pictures" / "note.txt").write_text("of the user")

    assert orphan is not None
    assert await desk.store.picture(orphan) is None
    assert await desk.store.sweep_pictures() == 0
    age(desk)
    assert await desk.store.sweep_pictures() == 2
    assert files(desk) == {f"{named}.png", "note.txt"}


async def test_a_picture_that_is_taken_again_is_young_again(desk: Desk) -> None:
    await desk.store.keep_picture(b"one")
    age(desk)

    await desk.store.keep_picture(b"one")

    assert await desk.store.sweep_pictures() == 0


async def test_a_file_that_is_gone_is_no_picture(desk: Desk) -> None:
    (page_id,) = await begin(desk, A)
    digest = await render(desk, A, b"one")
    (desk.folder / "pictures" / f"{digest}.png").unlink()

    assert await desk.store.picture(digest) is None
    assert await desk.store.latest_picture(page_id) is None


async def test_pictures_go_with_their_page_and_one_that_another_page_has_stays(desk: Desk) -> None:
    gone, stays = await begin(desk, A, B)
    shared = await render(desk, A, b"both")
    await render(desk, A, b"one")
    await render(desk, B, b"both")

    await desk.store.remove_pages([gone])
    age(desk)

    assert (await kept(desk, gone), await kept(desk, stays)) == ([], [shared])
    assert await desk.store.sweep_pictures() == 1
    assert await desk.store.picture(shared) == b"both"


async def test_pictures_are_pruned_by_number_and_age_but_for_the_latest_two(desk: Desk) -> None:
    (page_id,) = await begin(desk, A)
    digests = [await render(desk, A, name) for name in (b"1", b"2", b"3", b"4", b"5")]

    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(days=9), per_page=4, limit=100) == 1
    assert await kept(desk, page_id) == digests[:0:-1]
    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(0), per_page=4, limit=1) == 1
    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(0), per_page=4, limit=100) == 1
    assert await kept(desk, page_id) == [digests[4], digests[3]]
    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(0), per_page=4, limit=100) == 0
    assert await desk.store.prune_snapshots(desk.now, keep=timedelta(0), per_page=1, limit=100) == 1


async def test_pictures_take_what_texts_leave_and_the_oldest_go_first(desk: Desk) -> None:
    (page_id, _) = await begin(desk, A, B)
    digests = [await render(desk, A, bytes(100) + name) for name in (b"1", b"2", b"3")]
    text = Snapshot(*pack_text("text"), at=desk.now)
    await desk.check(B, "second", snapshot=text)
    room = len(text.packed) + 250

    assert await desk.store.fit_snapshots(total=room + 100, limit=10) == 0
    assert await desk.store.fit_snapshots(total=room, limit=10) == 1
    assert await kept(desk, page_id) == [digests[2], digests[1]]
    assert await desk.store.fit_snapshots(total=len(text.packed), limit=1) == 1
    assert await desk.store.fit_snapshots(total=len(text.packed), limit=10) == 1
    assert (await kept(desk, page_id), len(await desk.store.snapshots(B, limit=9))) == ([], 1)
    assert await desk.store.fit_snapshots(total=0, limit=10) == 1


async def test_a_rendering_of_a_page_that_was_removed_meanwhile_leaves_no_row(desk: Desk) -> None:
    (page_id,) = await begin(desk, A)
    await desk.check(A, "second")
    digest = await desk.store.keep_picture(b"one")
    assert digest is not None
    rendered = desk.rendered(await desk.job(A), alerts=(alert("late", page_id),))
    row = replace(rendered.rendering, picture=KeptPicture(digest, 1, 1, 3))
    await desk.store.remove_pages([page_id])

    await desk.store.commit_renderings(desk.claim, [replace(rendered, rendering=row)])

    age(desk)
    assert (await kept(desk, page_id), await desk.store.sweep_pictures()) == ([], 1)


async def test_the_picture_of_a_check_is_kept_as_of_its_state_until_that_of_its_rendering(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    first = await look(desk, A, b"one", major="2026")
    desk.now += HOUR
    changed_at = desk.now
    second = await look(desk, A, b"two", first, major="2027")
    desk.now += HOUR

    latest, oldest = await desk.store.pictures_of(page_id, limit=9)
    assert (latest.digest, latest.before, latest.difference, latest.at) == (second, first, FOUND, changed_at)
    assert (latest.by_check, oldest.by_check, oldest.difference) == (True, True, None)
    assert await desk.store.latest_picture(page_id) == (second, b"two")
    assert await desk.store.latest_picture(page_id, changed_at) == (first, b"one")

    job = await desk.job(A)
    third = await desk.store.keep_picture(b"three")
    assert third is not None
    rendered = desk.rendered(job)
    row = replace(rendered.rendering, picture=KeptPicture(third, 1280, 2000, 5, first, FOUND))
    await desk.store.commit_renderings(desk.claim, [replace(rendered, rendering=row)])

    assert await kept(desk, page_id) == [third, first]


async def test_the_picture_of_a_check_of_another_page_stays(desk: Desk) -> None:
    _, other = await desk.watch(A, B)
    for url in (A, B):
        await look(desk, url, b"one", major="2026")
        desk.now += HOUR
        await look(desk, url, b"two", "0" * 64, major="2027")
    await render(desk, A, b"three")

    assert len(await kept(desk, other)) == 2


async def test_pictures_outlive_the_renderings_that_took_them(desk: Desk) -> None:
    (page_id,) = await begin(desk, A)
    digest = await render(desk, A, b"one")

    assert await desk.store.prune(desk.now + HOUR, history=timedelta(0), limit=100) > 0

    assert (await desk.store.renderings_of(page_id)).rows == ()
    assert await kept(desk, page_id) == [digest]


async def test_a_page_that_forbids_copies_has_no_pictures_any_more(desk: Desk) -> None:
    gone, stays = await begin(desk, A, B)
    for url in (A, B):
        await render(desk, url, b"one")

    await desk.check(A, "later", learnt=LearntContents(snapshot=replace(NO_COPY, at=desk.now)))

    assert (await kept(desk, gone), len(await kept(desk, stays))) == ([], 1)


async def test_files_that_are_missing_damaged_or_of_no_page_are_counted_and_one_is_named(desk: Desk) -> None:
    await begin(desk, A)
    lost, changed = await render(desk, A, b"one"), await render(desk, A, b"two")
    await render(desk, A, b"three")
    orphan = await desk.store.keep_picture(b"four")
    folder = desk.folder / "pictures"
    assert await desk.store.check_pictures() == []

    (folder / f"{lost}.png").unlink()
    (folder / f"{changed}.png").write_bytes(b"twx")
    age(desk)

    missing, damaged, unknown = await desk.store.check_pictures()
    assert missing.startswith(
        f"pictures: 1 of 3 files are missing, such as {folder / lost}.png; copy them from a backup"
    )
    assert damaged.startswith(f"pictures: 1 of 3 files are not what was written, such as {folder / changed}.png;")
    assert unknown.startswith(
        f"pictures: 1 files are of no page, such as {folder / str(orphan)}.png; the service removes"
    )
    assert await desk.store.count_pictures() == (3, str(folder))
