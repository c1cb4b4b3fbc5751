"""Pictures of pages: files named by their digest, and a row for each picture of a rendering or a check."""

# Files, and not rows: a picture is as large as a thousand states, and each would pass through the log of the database
# and into every backup. A file is written before the transaction of its row, and removed by a sweep once no row names
# it: so a crash leaves at most a file too many.

from __future__ import annotations

import asyncio
import os
import re
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import convert

from tocsin.adapters.stores.sql.role import LAST, Role, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json
from tocsin.errors import StoreError
from tocsin.model import PictureDifference, PictureRow

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, KeptPicture


PICTURES = queries("pictures")
_NAME: Final = re.compile(r"[0-9a-f]{64}\.png|\.[0-9a-f]{64}\.[0-9]+\.part")
_LOST: Final = (
    "copy them from a backup of that folder; without them their pages show no picture, and nothing else is lost"
)
# The row of a file that was written a moment ago may still be on its way.
_YOUNG_S: Final = 3600.0


class PictureRole(Role):
    """Implements ports.PictureStore."""

    async def keep_picture(self, png: bytes) -> str | None:
        folder = self._options.pictures
        return await asyncio.to_thread(_write, folder, png) if folder is not None else None

    async def picture(self, digest: str) -> bytes | None:
        folder = self._options.pictures
        if folder is None or not await self._read(
            lambda db: db.execute(PICTURES["is_kept"], {"digest": digest}).fetchone()
        ):
            return None
        return await asyncio.to_thread(_read, folder / f"{digest}.png")

    async def pictures_of(self, page_id: int, *, limit: int) -> list[PictureRow]:
        place = {"page": page_id, "limit": limit}
        rows = await self._read(lambda db: db.execute(PICTURES["of_page"], place).fetchall())
        return [_to_row(row) for row in rows]

    async def latest_picture(self, page_id: int, before: Instant | None = None) -> tuple[str, bytes] | None:
        place = {"page": page_id, "before": LAST if before is None else before}
        row = await self._read(lambda db: db.execute(PICTURES["latest"], place).fetchone())
        if row is None or (png := await self.picture(row[0])) is None:
            return None
        return row[0], png

    async def count_pictures(self) -> tuple[int, str | None]:
        folder = self._options.pictures
        return len(await self._named()), str(folder) if folder is not None else None

    async def check_pictures(self) -> list[str]:
        folder = self._options.pictures
        if folder is None:
            return []
        # Listed before the rows are read, as in a sweep.
        old = await asyncio.to_thread(_old_files, folder, time.time() - 2 * _YOUNG_S)
        return await asyncio.to_thread(_find_faults, folder, await self._named(), old)

    async def _named(self) -> set[str]:
        return {row[0] for row in await self._read(lambda db: db.execute(PICTURES["all"]).fetchall())}

    async def sweep_pictures(self) -> int:
        folder = self._options.pictures
        if folder is None:
            return 0
        # Listed before the rows are read: what is written meanwhile is not looked at.
        old = await asyncio.to_thread(_old_files, folder, time.time() - _YOUNG_S)
        if not old:
            return 0
        wanted = await self._named()
        return await asyncio.to_thread(
            _remove, folder, [name for name in old if name.removesuffix(".png") not in wanted]
        )


def keep_picture(db: SqlSession, page_id: int, at: Instant, kept: KeptPicture, *, by_check: bool) -> None:
    """Note the picture of a rendering or a check, inside the transaction that writes it."""
    size = {"width": kept.width, "height": kept.height, "bytes": kept.bytes}
    difference = to_json(kept.difference) if kept.difference is not None else None
    compared = {"compared_with": kept.before, "difference": difference}
    place = {"page": page_id, "at": at, "by_check": int(by_check), "digest": kept.digest}
    db.execute(PICTURES["keep"], {**place, **size, **compared})


def replace_checked(db: SqlSession, page_id: int, served: Collection[int]) -> None:
    """Forget the pictures of the checks that found these changes: that of their rendering takes their place."""
    db.execute(PICTURES["forget_checked"], {"page": page_id, "served": ids(served)})


def forget_pictures(db: SqlSession, page_id: int) -> None:
    """Forget all pictures of a page, inside a transaction."""
    db.execute(PICTURES["forget_page"], {"page": page_id})


def find_prunable_pictures(db: SqlSession, place: dict[str, int]) -> list[int]:
    """Find pictures that are too old, or too many of their page; see `kept.find_prunable`."""
    pages = [row[0] for row in db.execute(PICTURES["crowded"], place)]
    return [row[0] for row in db.execute(PICTURES["prunable"], {**place, "pages": ids(pages)})] if pages else []


def drop_pictures(db: SqlSession, found: Collection[int]) -> int:
    """Forget pictures, inside a transaction; returns how many went."""
    return db.execute(PICTURES["drop"], {"ids": ids(found)}).rowcount


def picture_bytes(db: SqlSession) -> int:
    """Return how many bytes all pictures take."""
    return int(db.execute(PICTURES["total"]).fetchone()[0])


def fit_pictures(db: SqlSession, *, room: int, limit: int) -> int:
    """Forget the oldest pictures, inside a transaction, until the others fit; returns how many went."""
    over = picture_bytes(db) - room
    found: list[int] = []
    for picture_id, size in db.execute(PICTURES["oldest"], {"limit": limit}) if over > 0 else ():
        if over <= 0:
            break
        found.append(picture_id)
        over -= size
    return drop_pictures(db, found) if found else 0


def _to_row(row: tuple[Any, ...]) -> PictureRow:
    id_, at, by_check, digest, width, height, size, before, difference = row
    found = convert(read_object(difference), PictureDifference) if difference is not None else None
    return PictureRow(id_, at, digest, width, height, size, before, found, by_check=bool(by_check))


def _write(folder: Path, png: bytes) -> str:
    digest = sha256(png).hexdigest()
    file, part = folder / f"{digest}.png", folder / f".{digest}.{os.getpid()}.part"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            # The same picture again: young, so that no sweep takes it before its row is there.
            os.utime(file)
        except FileNotFoundError:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
                stream.write(png)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(file)
    except OSError as exc:
        part.unlink(missing_ok=True)
        raise StoreError(f"{file}: {exc.strerror}; name a folder that can be written in store.pictures") from exc
    return digest


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise StoreError(f"{file}: {exc.strerror}") from exc


def _find_faults(folder: Path, named: Collection[str], old: Collection[str]) -> list[str]:
    """Say which files are missing or damaged, and how many of the old ones no row names; one sentence for each kind."""
    missing, damaged = [], []
    for digest in sorted(named):
        png = _read(folder / f"{digest}.png")
        if png is None:
            missing.append(digest)
        elif sha256(png).hexdigest() != digest:
            damaged.append(digest)
    unknown = [name for name in old if name.removesuffix(".png") not in named]
    return [
        f"pictures: {said}, such as {folder / found[0]}; {mend}"
        for found, said, mend in (
            (_files(missing), f"{len(missing)} of {len(named)} files are missing", _LOST),
            (_files(damaged), f"{len(damaged)} of {len(named)} files are not what was written", _LOST),
            (unknown, f"{len(unknown)} files are of no page", "the service removes them within an hour"),
        )
        if found
    ]


def _files(digests: Collection[str]) -> list[str]:
    return [f"{digest}.png" for digest in digests]


def _old_files(folder: Path, before_s: float) -> list[str]:
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if _NAME.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < before_s:
                    found.append(entry.name)
    return found


def _remove(folder: Path, names: list[str]) -> int:
    for name in names:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    return len(names)
