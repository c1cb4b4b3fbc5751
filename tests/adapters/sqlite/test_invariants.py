"""`store check`: each broken invariant is found, and named with what it is about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.desk import DAY, NOW, A, B, C, Desk, alert
from tests.routers import gathering
from tocsin.adapters.stores.sql.invariants import SENTENCES
from tocsin.engine.policies import Policies
from tocsin.errors import SettingsError
from tocsin.model import Instruction, SerializedEvent
from tocsin.settings import PageSettings

YEAR = timedelta(days=365)


@pytest.fixture
async def damaged(tmp_path: Path) -> AsyncIterator[Desk]:
    """A store with something of everything in it, for tests that break it."""
    desk = await Desk.at(tmp_path)
    async with desk.store:
        await desk.store.set_channels(["ops"])
        await desk.watch(A, B, C)
        await desk.check(A, "1")
        desk.now += DAY
        await desk.check(A, "1")
        await desk.check(A, "2")
        await desk.render(A)
        await desk.check(A, "3")
        await desk.fail(B)
        await desk.fail(C)
        await desk.store.answer(2, Instruction("never"), scope="page", url=None, now=NOW)
        await desk.store.request_check([1], NOW)
        await desk.store.write_alert(alert("of the page", 1))
        await _gather(desk)
        yield desk


async def _gather(desk: Desk) -> None:
    """Write a digest that is given, and one that is open."""
    await desk.store.set_routes(gathering(NOW), ["daily"], NOW)
    for name, page in (("given", 1), ("open", None)):
        await desk.store.write_alert(alert(name, page))
        if name == "given":
            await desk.store.seal_bundle(1, NOW)
            await desk.store.keep_digest(1, SerializedEvent("M1", b'{"id": "M1"}'), None)


def break_it(desk: Desk, *statements: str) -> None:
    """Write to the file as no part of the program does."""
    for statement in statements:
        desk.behind.alter(statement)


async def test_a_sound_store_has_no_findings(damaged: Desk) -> None:
    assert await damaged.store.check() == []


BREAKS: dict[str, str] = {
    "latest_state": "update pages set state_id = null where id = 1",
    "open_runs": "update states set last_at = null where id = (select min(id) from states)",
    "states_as_written": "update states set first_at = first_at - 1 where id = 1",
    "verdicts_as_written": "update verdicts set rule = 'T99' where id = 1",
    "alerts_as_written": "update alerts set created_at = created_at + 1",
    "renderings_as_written": "update renderings set started_at = started_at + 1",
    "reports_readable": "update pages set last_report = '[1]' where id = 1",
    "states_of_pages": "update states set page_id = 99 where id = 1",
    "keys_of_urls": "update pages set key = key + 1 where id = 1",
    "urls_once": "update pages set (url, key) = (select url, key from pages where id = 2) where id = 1",
    "twelve_fields": "update states set fields = x'91a0' where id = 1",
    "canonical_space": "update states set fields = x'9ca22031" + "c0" * 11 + "' where id = 1",
    "latest_in_table": "update states set in_table = 0",
    "stored_in_order": "update pages set stored_at = 1 where id = 1",
    "runs_in_order": "update states set last_at = 1 where id = 1",
    "one_verdict_one_alert": "update verdicts set alert_id = 'same'",
    "verdicts_served": "delete from renders",
    "unwanted_alerts": "update verdicts set awareness = 0 where alert_id is not null",
    "positions_whole": "update positions set position = 77",
    "positions_without_gaps": "update alerts set position = 40 where position = 2",
    "deliveries_of_alerts": "update deliveries set page_id = 3",
    "deliveries_in_order": "update deliveries set state = 'accepted', tries = 1, first_try_at = 0, "
    "last_try_at = 9e15 where position = 2",
    "one_place_for_each_channel": "insert into deliveries (channel, position, alert_id, next_at) "
    "select channel, position, (select id from alerts a where a.position = g.position), 0 from gathered g",
    "gathered_of_alerts": "update gathered set page_id = 77",
    "gathered_counted": "update bundles set alerts = 7 where state = 'open'",
    "gathered_before_sealing": "update bundles set sealed_position = 1 where state = 'sealed'",
    "digests_composed": "update bundles set state = 'accepted' where state = 'open'",
    "digests_as_named": "update digests set message_id = 'other'",
    "deliveries_first": "update deliveries set is_first = 1 - is_first",
    "questions_of_pages": "update questions set closed_at = 1 where closed_at is null",
    "questions_without_pages": "update pages set question_id = null",
    "one_open_question": "insert into questions (host_id, cause, opened_at, announce_at, during, attempts) "
    "select host_id, cause, 0, 0, 'check', '[]' from questions",
    "standing_answers_of_pages": "delete from standing_answers",
    "never_is_never": "update pages set next_at = 1 where standing_answer_id is not null",
    "renders_with_cause": "update verdicts set alert_id = 'x' where alert_id is null",
    "renders_owed": "update renders set owed = 1",
    "requests_done": "update requests set done = 1",
    "requests_wanted": "delete from requests",
    "pages_as_text": "update pages set text = printf('%.300c', 'x') where id = 1",
    "copies_bounded": "insert into copies select 1, 'http://a/' || key, 'http://b/', null, null, null, 'mset', 0 "
    "from json_each('[0' || replace(hex(zeroblob(1000)), '00', ',0') || ']')",
    "copies_of_pages": "insert into copies values (1, 'http://a/', 'file:///b', null, null, null, 'mset', 0)",
    "learnt_readable": "insert into learnt values (1, x'00', null, null)",
    "learnt_of_pages": "insert into learnt values (99, null, null, '[1]')",
    "learnt_noted": "insert into learnt values (1, null, null, '[1]')",
    "noise_readable": "update hosts set noise = x'00'",
    "listings_to_do": "insert into listings values (1, 'feed', 0, x'90', 0)",
    "listings_of_pages": "insert into listings values (99, 'feed', 0, null, 0)",
    "snapshots_of_pages": "insert into snapshots values (1, 99, 0, 1)",
    "texts_wanted": "insert into texts values (1, x'00', x'00')",
    "texts_counted": "update store set text_bytes = 7",
    "storms_of_verdicts": "update verdicts set storm_id = 7",
    "one_storm_at_a_time": "insert into storms (host_id, key, outcome, basis, opened_at, runs_until, announce_at) "
    "values (1, x'00', 'minor', 'inferred', 1, 9, 0), (1, x'00', 'minor', 'inferred', 5, 9, 0)",
    "bytes_counted": "update pages set saved_bytes = -1 where id = 1",
    "groups_counted": "update groups set pages = 77",
    "questions_counted": "update questions set pages = 77",
    "pages_declaring": "update pages set declares = 1 - declares",
    "marks_of_alerts": "delete from alert_marks",
    "summaries_of_pages": "insert into summaries (page_id, title) values (99, 'gone')",
    "items_of_pages": "insert into items values (99, 0, 0, 1, 0, x'00', x'00')",
    "items_bounded": "insert into items values (1, 0, 0, 1001, 0, x'00', x'00')",
    "items_readable": "insert into items values (1, 0, 0, 1, 0, x'00', x'00')",
    "item_changes_of_renderings": "insert into item_changes values (77, 1, 0, '{\"changes\": []}')",
    "item_changes_readable": "insert into item_changes select min(id), page_id, 0, '{' from renderings",
    "edits_of_pages": "insert into edits values (99, 1)",
}


@pytest.mark.parametrize("name", SENTENCES)
async def test_each_broken_invariant_is_found(damaged: Desk, name: str) -> None:
    break_it(damaged, BREAKS[name].replace("9e15", "9000000000000000"))

    start = SENTENCES[name].partition("{")[0]
    assert [finding for finding in await damaged.store.check() if finding.startswith(start)]


async def test_a_page_whose_state_is_gone_is_named_with_the_mend(damaged: Desk) -> None:
    break_it(damaged, "pragma foreign_keys = off", "delete from states where page_id = 1")

    (held,) = [task for task in await damaged.due() if task.page_id == 1]

    with pytest.raises(SettingsError, match="what is stored of this page is damaged; see: tocsin store check"):
        Policies(PageSettings()).of(held)


async def test_a_reference_to_what_is_gone_is_found(damaged: Desk) -> None:
    break_it(damaged, "pragma foreign_keys = off", "delete from hosts where id = 1")

    assert any("hosts is gone" in finding for finding in await damaged.store.check())


async def test_many_findings_of_one_kind_are_counted_not_listed(damaged: Desk) -> None:
    await damaged.watch(*(f"https://h{number}.example/" for number in range(20)))
    break_it(damaged, "update pages set text = printf('%.300c', 'x')")

    assert "... and 18 more of this kind" in await damaged.store.check()
