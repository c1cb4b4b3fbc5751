"""The store on SQLite."""

from tocsin.adapters.stores.sqlite.store import SqliteStore, migrate_sqlite, open_sqlite

__all__ = ["SqliteStore", "migrate_sqlite", "open_sqlite"]
