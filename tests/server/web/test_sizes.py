"""No page is over 50 KB, whatever is told on it, and however much of it there is."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tests.contract.desk import ALL, HOUR, LEASE, Desk
from tests.fakes import START, SeededChance
from tests.server.web.busy import NEWS
from tocsin.adapters.stores.sqlite.store import SqliteStore
from tocsin.model import AlertDraft, AlertQuery, Attempt, AuditEntry, CopyLink, Failure, Scope
from tocsin.server.access.credentials import digest_of
from tocsin.server.web.formatting import cut, fitting, weight

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.web.visiting import Visitor

MOST: int = 50_000
WORST = {"quotes": "\"'" * 400, "words": "\"' " * 300, "emoji": "\N{GRINNING FACE}" * 600}
KEPT = ("type", "time", "specversion", "id", "outcome", "url")


def worst(value: Any, text: str, key: str = "") -> Any:
    """The same with every text as long, and as heavy in HTML, as it can be."""
    if isinstance(value, dict):
        return {name: worst(inner, text, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [worst(inner, text, key) for inner in value] * (1 if key == "sample" else 5)
    return text if isinstance(value, str) and key not in KEPT else value


@pytest.mark.parametrize("kind", WORST)
async def test_lists_of_changes_and_each_of_them_are_small(visitor: Visitor, kind: str) -> None:
    store, chance = visitor.store, SeededChance(5)
    page = await store.page(NEWS)
    assert page is not None
    for outcome in ("major", "minor") * 15:
        event = worst(deepcopy(examples()[0]), WORST[kind]) | {"id": chance.ulid(START)}
        event["data"]["outcome"] = outcome
        await store.write_alert(AlertDraft(event["id"], event["type"], page.id, START, event))
    (alert, *_) = (await store.browse_alerts(AlertQuery())).rows

    for path in ("/changes", "/changes?show=all", f"/changes/{alert.id}"):
        assert len((await visitor.get(path)).encode()) <= MOST, path


async def test_questions_with_long_urls_and_many_copies_are_small(visitor: Visitor, tmp_path: Path) -> None:
    store = visitor.store
    assert isinstance(store, SqliteStore)
    claim = await store.claim(ALL, START + HOUR, LEASE, "engine")
    assert claim is not None
    desk = Desk(store, claim, tmp_path)
    desk.now = START + HOUR
    said = tuple(Attempt(desk.now, WORST["quotes"], 500, WORST["quotes"], 3) for _ in range(20))
    for host in range(20):
        urls = [f"https://long{host}.example/{number}?{'&' * 7000}" for number in range(3)]
        await desk.watch(*urls)
        failure = Failure("connect " + WORST["quotes"], said, "check", silent=False)
        for url in urls:
            await desk.fail(url, failure=failure)
    url = "https://long0.example/0?" + "&" * 7000
    copies = tuple(
        CopyLink(url, f"https://c.example/{n}?" + "'" * 7000, "2026", n, "memento", "mset") for n in range(50)
    )
    await desk.check(NEWS, copies=copies)
    question = next(row for row in await store.questions() if row.host == "long0.example")

    for path in ("/questions", f"/questions/{question.id}"):
        assert len((await visitor.get(path)).encode()) <= MOST, path


async def test_many_groups_tokens_and_entries_of_the_log_are_small(visitor: Visitor, tmp_path: Path) -> None:
    store = visitor.store
    assert isinstance(store, SqliteStore)
    claim = await store.claim(ALL, START + HOUR, LEASE, "engine")
    assert claim is not None
    desk = Desk(store, claim, tmp_path)
    for number in range(150):
        await desk.watch(f"https://groups.example/{number}", group=f"{number:03}" + "'" * 59)
        await store.write_audit(
            AuditEntry(START, "'" * 64, "pages.edit", {"set": {str(n): "'" * 200 for n in range(9)}})
        )
        await store.add_token(f"{number:03}" + "'" * 60, Scope.READ, digest_of(str(number)), START)
    admin = await visitor.rig.token(Scope.ADMIN)
    async with visitor.rig.asking(admin) as client:
        for path in ("/changes", "/settings", "/settings/groups", "/settings/access", "/settings/audit"):
            answer = await client.get(path, headers={"Accept": "text/html"})

            assert answer.status_code == 200
            assert len(answer.content) <= MOST, path


async def test_more_tokens_than_fit_are_on_the_next_part(visitor: Visitor) -> None:
    for number in range(30):
        await visitor.store.add_token(f"reader-{number}", Scope.READ, digest_of(str(number)), START)
    admin = await visitor.rig.token(Scope.ADMIN)
    async with visitor.rig.asking(admin) as client:
        one = (await client.get("/settings/access")).text
        two = (await client.get("/settings/access?from=25")).text

    assert 'rel="next"' in one
    assert "reader-29" not in one
    assert "reader-29" in two


@given(st.text(), st.integers(0, 200))
def test_what_is_cut_fits_and_is_a_beginning(text: str, size: int) -> None:
    shown = cut(text, size)

    assert text.startswith(shown)
    assert weight(shown) <= size or not shown


@given(st.lists(st.text()), st.integers(0, 200))
def test_what_fits_is_whole_and_in_order(texts: list[str], size: int) -> None:
    taken = fitting(texts, size)

    assert taken == texts[: len(taken)]
    assert sum(map(weight, taken)) <= size
