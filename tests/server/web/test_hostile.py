"""Whatever pages, servers, receivers and users say is text in our pages, and nothing but text.

Counterparts: CVE-2025-52558, CVE-2025-62780, CVE-2026-27645, CVE-2026-29038 (what pages and errors said ran as script),
CVE-2023-27592 (an error's text), CVE-2023-24769 (names of groups), CVE-2024-32651 (template braces),
GHSA-4j9m-cxq4-9c36 (CSS), GHSA-44pq-9929-f8mq (`javascript:` links), CVE-2025-32015 (form actions).
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest

from tests.alert_examples import examples
from tests.contract.desk import ALL, HOUR, LEASE, Desk
from tests.fakes import START, SeededChance
from tests.server.web.busy import NEWS
from tests.server.web.visiting import tree
from tocsin.adapters.stores.sqlite.store import SqliteStore
from tocsin.model import (
    ActivityRow,
    AlertDraft,
    Attempt,
    AuditEntry,
    ChannelState,
    DeliveryResult,
    Failure,
    JobRow,
    Scope,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.web.visiting import Visitor

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
    assert names.isdisjoint({"img", "iframe", "object", "embed", "base", "textarea"}), path
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
    claim = await store.claim(ALL, START + HOUR, LEASE, "engine")
    assert claim is not None
    assert isinstance(store, SqliteStore)
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
