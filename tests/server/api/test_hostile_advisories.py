"""What was published of others' services, tried on ours: counterparts over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.server.api.talk import Api


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
