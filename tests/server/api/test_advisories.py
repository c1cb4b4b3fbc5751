"""Published advisories for other APIs do not apply to ours; each test names its advisory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claiming import claim_all
from tests.contract.desk import NOW, Desk
from tests.server.api.talk import Api
from tocsin.model import Snapshot
from tocsin.spec.signals.texts import pack_text

A = "https://a.example/"
BOMB = (
    b'<!DOCTYPE opml [<!ENTITY a "https://a.example/"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><opml><body><outline url="&c;"/></body></opml>'
)
DEEP = b"<opml><body>" + b"<outline>" * 5000 + b"</outline>" * 5000 + b"</body></opml>"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "source:https://a.example/"]
)
async def test_GHSA_44pq_9929_f8mq_only_links_of_the_web_are_kept(api: Api, url: str) -> None:
    assert (await api.refused("POST", "/pages", {"url": url}))["status"] == 422

    job = await api.ended(await api.do("POST", "/imports?format=list", f"{url}\n".encode()))

    assert (job["result"]["added"], job["result"]["refused"]) == (0, 1)


@pytest.mark.parametrize("body", [BOMB, DEEP])
async def test_GHSA_83jp_rww3_57rr_a_crafted_outline_is_refused(api: Api, body: bytes) -> None:
    job = await api.ended(await api.do("POST", "/imports?format=opml", body))

    assert job["state"] == "failed" or job["result"]["added"] == 0
    assert await api.urls() == []


@pytest.mark.parametrize(
    "line", ["https://a.example/,../../etc,", "https://a.example/,a\u202eb,", "https://a.example/,news,now"]
)
async def test_GHSA_mh42_m7cg_49fr_an_import_judges_like_the_api(api: Api, line: str) -> None:
    job = await api.ended(await api.do("POST", "/imports?format=csv", f"url,group,every\n{line}\n".encode()))

    groups = {group["name"] for group in (await api.get("/groups"))["items"]}
    # A group is a name and nothing else; no path is made of it.
    assert job["result"]["refused"] == 1 or groups == {"main", "../../etc"}


async def test_CVE_2023_22481_no_secret_reaches_the_log(api: Api) -> None:
    await api.do("POST", "/pages", {"url": "https://me:in-the-url@a.example/", "settings": {"auth": "me:in-the-body"}})
    made = await api.do("POST", "/tokens", {"name": "grafana", "scope": "read"})

    told = repr([(each.name, each.values) for each in api.rig.telemetry.happenings])

    assert "access.changed" in told
    for secret in ("in-the-url", "in-the-body", made["token"]):
        assert secret not in told


async def test_a_kept_text_is_never_served_as_a_page(api: Api, tmp_path: Path) -> None:
    """The counterpart of changedetection.io's #4158: a snapshot that a browser ran."""
    claim = await claim_all(api.store, "engine")
    assert claim is not None
    desk = Desk(api.store, claim, tmp_path)  # type: ignore[arg-type]  # a store like any other
    await desk.watch(A)
    await desk.check(A, snapshot=Snapshot(*pack_text("<script>alert(1)</script>"), at=NOW))
    (text,) = (await api.get("/pages/1/texts"))["items"]

    answer = await api.call("GET", f"/pages/1/texts/{text['id']}")

    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("url", "host", "taken"),
    [
        ("http://inside.example\\@public.example/", "inside.example", "http://inside.example/@public.example/"),
        ("http://public.example#@inside.example/", "public.example", "http://public.example/"),
        ("http://public.example:80@inside.example/", "inside.example", "http://inside.example/"),
        ("http://0x7f.1/", "127.0.0.1", "http://127.0.0.1/"),
        ("http://2130706433/", "127.0.0.1", "http://127.0.0.1/"),
    ],
)
async def test_GHSA_rph4_96w6_q594_one_reading_of_a_url_holds_from_its_adding_on(
    api: Api, url: str, host: str, taken: str
) -> None:
    """Also CVE-2026-27696: what is dialled, and judged, is the host that is shown here."""
    page = await api.do("POST", "/pages", {"url": url})

    assert (page["host"], page["url"]) == (host, taken)


@pytest.mark.parametrize(
    "selector",
    [
        "unparsed-text('file:///etc/passwd')",
        "json-doc('file:///etc/passwd')",
        "//a[document('x')]",
        "env(PATH)",
        "$ENV",
    ],
)
async def test_CVE_2026_29039_a_selector_has_no_functions_that_read_files(api: Api, selector: str) -> None:
    """CVE-2026-33981 for the environment: selectors are CSS, and are judged where they are set."""
    problem = await api.refused("POST", "/pages", {"url": "http://a.example/", "settings": {"look_at": selector}})

    assert problem["status"] == 422


async def test_CVE_2025_31483_what_a_page_says_is_never_served_as_a_page_of_ours(busy: Api) -> None:
    """CVE-2024-34061, too: a text is plain, is not sniffed, and could run nothing."""
    found = [
        f"/pages/{page['id']}/texts/{text['id']}"
        for page in (await busy.get("/pages?limit=200"))["items"]
        for text in (await busy.get(f"/pages/{page['id']}/texts"))["items"]
    ]

    answer = await busy.call("GET", found[0])

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
