"""Pictures of a page, as a browser would have drawn it, in the store of a service."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
from PIL import Image, ImageDraw

from tocsin.app.picture_difference import compare
from tocsin.model import PageRow
from tocsin.ports import Store

LINES = [f"{number}. The council speaks of the bridge, the school and the market." for number in range(1, 40)]


def draw(*lines: str) -> Image.Image:
    """Draw a page of these lines."""
    drawn = Image.new("RGB", (1280, 1400), "white")
    pen = ImageDraw.Draw(drawn)
    for number, line in enumerate(lines):
        pen.text((40, 40 + 32 * number), line, fill="black", font_size=20)
    return drawn


async def keep_pictures(file: Path, store: Store, page: PageRow | None) -> None:
    """Keep three pictures of a page, each compared with the one before: one that lost a line, and one that got one."""
    assert page is not None
    drawn = [draw(*LINES), draw(*LINES[:9], *LINES[10:]), draw(*LINES[:5], "The bridge is open.", *LINES[5:])]
    digests: list[str | None] = [None]
    for at, latest in enumerate(drawn):
        stream = io.BytesIO()
        latest.save(stream, "PNG")
        digests.append(await store.keep_picture(stream.getvalue()))
        found = msgspec.json.encode(compare(drawn[at - 1], latest)).decode() if at else None
        row = (page.id, at, digests[-1], latest.width, latest.height, stream.tell(), digests[-2], found)
        with closing(sqlite3.connect(file, timeout=30)) as db, db:
            db.execute(
                "insert into pictures (page_id, at, by_check, digest, width, height, bytes, before, difference) "
                "values (?, ?, 0, ?, ?, ?, ?, ?, ?)",
                row,
            )
