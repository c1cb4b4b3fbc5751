"""Whatever pages, servers, receivers and users say is text in our pages, and nothing but text.

Counterparts: CVE-2025-52558, CVE-2025-62780, CVE-2026-27645, CVE-2026-29038 (what pages and errors said ran as script),
CVE-2023-27592 (an error's text), CVE-2023-24769 (names of groups), CVE-2024-32651 (template braces),
GHSA-4j9m-cxq4-9c36 (CSS), GHSA-44pq-9929-f8mq (`javascript:` links), CVE-2025-32015 (form actions).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import deepcopy
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tests.claiming import claim_all
from tests.contract.desk import HOUR, Desk
from tests.fakes import START, SeededChance
from tests.server.rig import Rig
from tests.server.web.busy import NEWS
from tests.server.web.visiting import Visitor, tree
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.model import (
    ActivityRow,
    AlertDraft,
    AlertQuery,
    Attempt,
    AuditEntry,
    ChannelState,
    CopyLink,
    DeliveryResult,
    Failure,
    JobRow,
    Scope,
)
from tocsin.server.access.credentials import digest_of
from tocsin.server.bodies import MOST_DOWNLOADS, OpenDownloads
from tocsin.server.web.formatting import cut, fitting, weight

EVIL: Final = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1>\"'><svg/onload=hit()></textarea></title>"
    "<button formaction=//evil.example>{{7*191}}{% raw %}\u202eexe\x1b[31m\x00\x07 red;} body{display:none}"
)
KEPT: Final = ("type", "time", "specversion", "datacontenttype", "id", "outcome", "stored")


def poisoned(value: Any, key: str = "") -> Any:
    """The same with every text replaced by one that means no good."""
    if isinstance(value, dict):
        return {name: poisoned(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, key) for inner in value]
    return f"javascript:hit()//{EVIL}" if isinstance(value, str) and key not in KEPT else value


def assert_inert(text: str, path: str) -> None:
    page = tree(text)
    names = {each.tag for each in page.iter() if isinstance(each.tag, str)}
    assert names.isdisjoint({"img", "iframe", "object", "embed", "base"}), path
    # What was typed goes on in its own field, and opens no other one.
    assert [each.get("name") for each in page.iter("textarea") if len(each) or not each.get("name")] == [], path
    assert [each.get("src") for each in page.iter("script") if not each.get("src").startswith("/static/")] == [], path
    for each in page.iter():
        assert not any(name.startswith("on") or name in ("style", "srcdoc") for name in each.keys()), path  # noqa: SIM118 - elements of lxml
        for name in ("href", "src", "action", "formaction"):
            target = each.get(name)
            assert target is None or target.startswith(("/", "http://", "https://", "#")), (path, target)
            assert target is None or not target.startswith("//"), (path, target)
    assert not set(text) & set("\u202e\x1b\x00\x07"), path
    assert "1337" not in text, path


async def test_every_event_is_told_as_text(visitor: Visitor) -> None:
    chance, store = SeededChance(9), visitor.store
    page = await store.page(NEWS)
    assert page is not None
    for event in map(deepcopy, examples()):
        bad = poisoned(event) | {"id": chance.ulid(START)}
        await store.write_alert(AlertDraft(bad["id"], bad["type"], page.id, START, bad))
        await store.record_deliveries([DeliveryResult(bad["id"], "ops", "dead", START, error=EVIL)])

        assert_inert(await visitor.get(f"/changes/{bad['id']}"), event["type"])
    for path in ("/changes", "/changes?show=all", "/changes?show=dead", "/activity/dead"):
        assert_inert(await visitor.get(path), path)


async def test_what_servers_receivers_and_users_say_is_text(visitor: Visitor) -> None:
    store = visitor.store
    await store.save_channel_state(ChannelState("ops", failures=1, disabled=True, error=EVIL))
    await store.write_audit(AuditEntry(START, EVIL, EVIL, {EVIL: [EVIL, {"a": EVIL}]}, EVIL))
    await store.save_job(JobRow("job", EVIL, EVIL, START, "failed", 1, 2, START, {EVIL: EVIL}, EVIL))
    await store.note_activity(ActivityRow(START, {EVIL: 3}))
    await visitor.rig.token(Scope.READ, EVIL[:60])
    admin = await visitor.rig.token(Scope.ADMIN)
    async with visitor.rig.asking(admin) as client:
        for path in ("/activity", "/activity/jobs", "/jobs/job", "/settings/audit", "/settings/access"):
            answer = await client.get(path, headers={"Accept": "text/html"})

            assert answer.status_code == 200
            assert_inert(answer.text, path)


async def test_what_a_failure_says_is_text(visitor: Visitor, tmp_path: Path) -> None:
    store = visitor.store
    claim = await claim_all(store, "engine")
    assert claim is not None
    assert isinstance(store, SqlStore)
    desk = Desk(store, claim, tmp_path)
    desk.now = START + HOUR
    said = (Attempt(desk.now, EVIL, 500, EVIL, 3),)
    await desk.fail("https://slow.example/", failure=Failure("connect " + EVIL, said, EVIL, silent=False))

    (question,) = [row for row in await store.questions() if row.host == "slow.example"]
    for path in (f"/questions/{question.id}", "/questions"):
        text = await visitor.get(path)
        assert "window.hit=1" in text
        assert_inert(text, path)


@pytest.mark.parametrize("path", ["/changes?group=", "/changes?show=", "/changes?kind=", "/questions?show="])
async def test_what_stands_in_a_url_is_text(visitor: Visitor, path: str) -> None:
    assert_inert(await visitor.get(path + quote(EVIL)), path)


async def test_what_is_typed_is_text_where_it_is_kept(visitor: Visitor) -> None:
    (question, *_) = await visitor.store.questions()
    typed = {"kind": "again", "times": EVIL, "when": "at", "at": EVIL, "url": EVIL, "copy_url": EVIL, "scope": EVIL}
    token = {"name": EVIL * 2, "scope": EVIL[:20], "expires": EVIL[:100]}
    settings = {"revision": "0", "every": EVIL, "look_at": EVIL, "mode": EVIL}
    for path, form in {
        f"/questions/{question.id}/answer": typed,
        "/settings/access/tokens": token,
        "/settings/pages": settings,
    }.items():
        answer = await visitor.post(path, **form)

        assert answer.status_code == 422, answer.text
        assert_inert(answer.text, path)


async def lines() -> AsyncGenerator[str]:
    yield "a\n"
    yield "b\n"


async def test_downloads_that_nobody_takes_keep_out_further_ones_only(rig: Rig, local: httpx.AsyncClient) -> None:
    shared = rig.app.state.downloads = OpenDownloads(rig.app.state.parts)
    held = [shared.counted(lines()) for _ in range(MOST_DOWNLOADS)]
    for each in held:
        await anext(each)

    refused, other = await local.get("/pages/export"), await local.get("/api/v1/pages")
    for each in held:
        async with aclosing(each):
            pass
    afterwards = await local.get("/pages/export")

    assert (refused.status_code, refused.json()["type"]) == (503, "urn:tocsin:problem:too-many-downloads")
    assert (other.status_code, afterwards.status_code) == (200, 200)


MOST: int = 50_000
WORST = {"quotes": "\"'" * 400, "words": "\"' " * 300, "emoji": "\N{GRINNING FACE}" * 600}

WRITTEN = ("type", "time", "specversion", "id", "outcome", "url")


def worst(value: Any, text: str, key: str = "") -> Any:
    """The same with every text as long, and as heavy in HTML, as it can be."""
    if isinstance(value, dict):
        return {name: worst(inner, text, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [worst(inner, text, key) for inner in value] * (1 if key == "sample" else 5)
    return text if isinstance(value, str) and key not in WRITTEN else value


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
    assert isinstance(store, SqlStore)
    claim = await claim_all(store, "engine")
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
    assert isinstance(store, SqlStore)
    claim = await claim_all(store, "engine")
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
