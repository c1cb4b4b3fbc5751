"""Stores as earlier versions of the program left them."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.packing import url_key
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.migrations import APPLICATION_ID, lend_functions, migrations

if TYPE_CHECKING:
    from pathlib import Path


def make_store(path: Path, version: int, *urls: str) -> None:
    """A store as that version of the program left it, with these pages, the first of them with words and settings."""
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db, transaction(db, durable=True):
        lend_functions(db)
        for migration in migrations()[:version]:
            for statement in migration.statements:
                db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {version}")
        columns = {row[1] for row in db.execute("pragma table_info(pages)")}
        host = urls[0].split("/")[2].partition(":")[0]
        db.execute("insert into hosts (id, name, shard) values (1, ?, 7)", (host,))
        for number, url in enumerate(urls, 1):
            page: dict[str, Any] = {"id": number, "url": url, "host_id": 1, "added_at": 0, "next_at": 0}
            page |= {"next_why": "first check", "key": url_key(url), "room": b"\0" * 64}
            page |= {"text": "mine", "settings": '{"tell":"major"}'} if number == 1 else {}
            page = {name: value for name, value in page.items() if name in columns}
            names = ", ".join(page)
            places = ", ".join(f":{name}" for name in page)
            db.execute(f"insert into pages ({names}) values ({places})", page)  # noqa: S608 - names of this file
        if "pages" in {row[1] for row in db.execute("pragma table_info(groups)")}:
            db.execute("update groups set pages = ? where id = 1", (len(urls),))
