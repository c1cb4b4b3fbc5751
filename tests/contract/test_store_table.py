"""The spec's table: what is a record, in which order, and that import undoes export."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.desk import DAY, MINUTE, NOW, A, B, C, Desk, fields, passing_desk
from tests.contract.stores import STORES
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.errors import HasStates, UsageError
from tocsin.model import TableRow


async def rows_of(store: SqlStore) -> list[TableRow]:
    """The whole table."""
    return [row async for row in await store.table_rows()]


async def test_T32_records_stand_in_order_of_storing_then_by_url(desk: Desk) -> None:
    await desk.watch(C, A, B)
    for url in (C, B, A):
        await desk.check(url, "1")
    desk.now += DAY
    await desk.check(B, "2")

    rows = await rows_of(desk.store)

    assert [(row.url, row.fields[10]) for row in rows] == [(A, "1"), (B, "1"), (C, "1"), (B, "2")]


async def test_a_run_of_equal_states_is_its_first_and_its_last_storing(desk: Desk) -> None:
    await desk.watch(A)
    for major in ("1", "1", "1", "2"):
        await desk.check(A, major)
        desk.now += DAY

    rows = await rows_of(desk.store)

    assert [(row.fields[10], row.stored_at) for row in rows] == [
        ("1", NOW),
        ("1", NOW + 2 * DAY),
        ("2", NOW + 3 * DAY),
    ]


async def test_the_users_text_stands_in_each_record_of_its_page(desk: Desk) -> None:
    await desk.watch(A, text="For Anna")
    await desk.check(A, "1")
    await desk.check(A, "2")

    assert [row.text for row in await rows_of(desk.store)] == ["For Anna", "For Anna"]


async def test_the_table_is_of_one_instant(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(1500)))
    await desk.store.commit(desk.claim, [desk.result(task, "1") for task in await desk.due()])
    stream = await desk.store.table_rows()
    rows = [await anext(stream)]
    desk.now += DAY

    await desk.store.commit(desk.claim, [desk.result(task, "2") for task in await desk.due()])
    rows += [row async for row in stream]

    assert len(rows) == 1500
    assert {row.fields[10] for row in rows} == {"1"}


async def test_import_adds_pages_that_are_not_watched_yet(desk: Desk) -> None:
    rows = [TableRow(A, fields("1"), NOW, None), TableRow(A, fields("2"), NOW + MINUTE, "For Anna")]

    assert await desk.store.import_table(rows, NOW, replace=False) == 2

    page = await desk.page(A)
    assert (page.state.fields, page.state.stored_at, page.text) == (fields("2"), NOW + MINUTE, "For Anna")
    assert page.due.at == pytest.approx(NOW, abs=MINUTE)
    assert await rows_of(desk.store) == [
        TableRow(A, fields("1"), NOW, "For Anna"),
        TableRow(A, fields("2"), NOW + MINUTE, "For Anna"),
    ]


async def test_import_refuses_pages_that_have_states_and_takes_nothing(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    rows = [TableRow(B, fields("9"), NOW, None), TableRow(A, fields("9"), NOW, None)]

    with pytest.raises(HasStates, match=f"{A}: have states already; give --replace"):
        await desk.store.import_table(rows, NOW, replace=False)

    assert await desk.store.page(B) is None
    assert [row.fields for row in await rows_of(desk.store)] == [fields("1")]


async def test_import_names_the_first_few_that_are_refused_and_how_many_more(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(9)))
    await desk.store.commit(desk.claim, [desk.result(task, "1") for task in await desk.due()])

    with pytest.raises(UsageError, match=r"https://h0\.example/, .* and 6 more: have states"):
        await desk.store.import_table(await rows_of(desk.store), NOW, replace=False)


async def test_import_replaces_what_is_there_if_it_is_told_to(desk: Desk) -> None:
    await desk.watch(A, B)
    for url in (A, B):
        await desk.check(url, "1")

    await desk.store.import_table([TableRow(A, fields("9"), NOW + DAY, None)], NOW, replace=True)

    assert [(row.url, row.fields[10]) for row in await rows_of(desk.store)] == [(B, "1"), (A, "9")]
    assert (await desk.task(A)).last.validators is None


async def test_a_table_that_breaks_off_leaves_nothing_behind(desk: Desk) -> None:
    def broken() -> Iterator[TableRow]:
        for number in range(1500):
            yield TableRow(f"https://h{number}.example/", fields("1"), NOW, None)
        raise UsageError("table.txt:1502:1: cut off")

    with pytest.raises(UsageError, match="cut off"):
        await desk.store.import_table(broken(), NOW, replace=False)

    assert await rows_of(desk.store) == []
    assert await desk.agenda() == {}


@pytest.mark.parametrize("database", STORES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    checks=st.lists(
        st.tuples(st.sampled_from([A, B, C]), st.sampled_from(["1", "2", None]), st.sampled_from([0, MINUTE, DAY])),
        max_size=12,
    )
)
async def test_import_undoes_export(database: str, checks: list[tuple[str, str | None, int]]) -> None:
    async def table_of_checks() -> list[TableRow]:
        async with passing_desk(database) as desk:
            await desk.watch(A, B, C, text="kept")
            for url, major, later in checks:
                desk.now += later
                await desk.check(url, major)
            return await rows_of(desk.store)

    exported = await table_of_checks()
    async with passing_desk(database) as desk:
        await desk.store.import_table(exported, NOW, replace=False)

        assert await rows_of(desk.store) == exported
        assert await desk.store.check() == []
