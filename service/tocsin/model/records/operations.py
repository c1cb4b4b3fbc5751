"""What commands on the list of pages and on the store did, or would do: `plan`, `apply`, `store`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from tocsin.model.records.fields import Number, Record, Time


class PlannedValue(Record, frozen=True):
    """One key of a page, a group or all pages that a list of pages changes."""

    key: Annotated[str, Meta(examples=["every"])]
    previous: Annotated[Any, Meta(description="null: it was not set; secrets are masked")]
    latest: Annotated[Any, Meta(description="null: it is inherited again, or removed")]


class PlannedChange(Record, frozen=True):
    """One change that applying a list of pages makes."""

    change: Annotated[Literal["added", "changed", "removed"], Meta(description="what becomes of it")]
    scope: Annotated[Literal["all", "group", "page"], Meta(description="what it is about")]
    url: Annotated[str | None, Meta(description="of the page; null for groups and all pages")]
    group: Annotated[str | None, Meta(description="name of the group; null for pages and all pages")]
    changes: Annotated[list[PlannedValue], Meta(description="empty: it is removed")]


class PlannedPages(Record, frozen=True):
    """How many pages applying a list of pages changes."""

    added: Number
    changed: Number
    removed: Number


class PlanSummary(Record, frozen=True):
    """The last line: what a list of pages changes in all."""

    pages: PlannedPages
    settings: Annotated[Number, Meta(description="changes of groups and of all pages")]
    applied: Annotated[bool, Meta(description="false: nothing was changed")]


class StoreBackup(Record, frozen=True):
    """A copy of the store."""

    backup: Annotated[str, Meta(description="the file")]
    verified: Annotated[bool, Meta(description="it was read whole, and is sound")]
    pages: Annotated[int | None, Meta(description="that it holds; null: it was not verified")]
    removed: Annotated[list[str], Meta(description="older copies that --keep removed")]
    pictures: Annotated[Number, Meta(description="of pages, which are files and not in the copy")]
    pictures_in: Annotated[str | None, Meta(description="their folder; null: this store has none")]


class StoreRestoration(Record, frozen=True):
    """A store that was restored from a backup."""

    restored: Annotated[str, Meta(description="the backup")]
    pages: Annotated[Number, Meta(description="that it holds")]
    migrated_from: Annotated[int | None, Meta(description="version of an older backup; null: it had this version")]
    aside: Annotated[str | None, Meta(description="where the old store is kept; null: there was none")]


class StoreMigration(Record, frozen=True):
    """A store that was migrated to this version."""

    store: Annotated[str, Meta(description="its URL")]
    migrations: Annotated[Number, Meta(description="that were applied; 0: it had this version")]
    kept: Annotated[list[str], Meta(description="copies of the old store")]


class StoreCopy(Record, frozen=True):
    """A store that was copied into another kind of database."""

    source: Annotated[str, Meta(description="URL of the store that was copied; it was not changed")]
    target: Annotated[str, Meta(description="URL of the new store")]
    pages: Annotated[Number, Meta(description="that it holds")]
    rows: Annotated[dict[str, int], Meta(description="that each table holds")]
    replaced: Annotated[Number, Meta(description="rows with a text in which U+0000 became U+FFFD")]


class StoreFinding(Record, frozen=True):
    """Something that is wrong in the store or in a backup."""

    finding: Annotated[str, Meta(description="where and what")]


class StorePruning(Record, frozen=True):
    """Old rows that were deleted."""

    before: Annotated[Time | None, Meta(description="what is older was deleted, or would be")]
    rows: Annotated[Number, Meta(description="that were deleted")]
    forgotten: Annotated[dict[str, int], Meta(description="the same for each kind of rows")]
    dry_run: Annotated[bool, Meta(description="nothing was deleted")]
