"""A page that a browser could not read says what happened and what one can do, in the reader's language."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.claiming import claim_all
from tests.contract.desk import Desk
from tests.server.web.visiting import Visitor, tree
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.model import CheckReport, FailureKind

A: Final = "https://app.example/"
# What the browser says of a failure, and what its page says in both languages.
SAID: Final = {
    "timeout": ("not read within 30 s", "it took too long", "Give it more time", "Geben Sie ihr mehr Zeit"),
    "too-complex": ("it takes 415 MiB", "it is too complex", "Raise the limit", "Erhöhen Sie die genannte Grenze"),
    "crashed": ("its process ended", "reading it ended", "It is tried again", "Sie wird von selbst noch einmal"),
    "set-aside": ("set aside until 12:06", "all browsers ended twice on it", "Check it now", "„Jetzt prüfen“"),
    "blocked-address": ("10.0.0.1", "it lies at an address", "network.allow", "network.allow"),
    "redirect": ("led on too often", "its redirects lead nowhere", "fetch.redirects", "fetch.redirects"),
    "connect": ("refused", "no connection", "If this site is reached by HTTP", "Ist diese Website über HTTP"),
}


async def banner_of(visitor: Visitor, folder: Path, kind: str, detail: str, language: str, fetch: str) -> str:
    store = visitor.rig.store
    assert isinstance(store, SqlStore)
    claim = await claim_all(store, "engine")
    assert claim is not None
    desk = Desk(store, claim, folder)
    (page_id,) = await desk.watch(A)
    await desk.edit(page_id, settings={"fetch": fetch})
    await desk.fail(A, kind, report=CheckReport(A, "unreachable", error=(FailureKind(kind), detail)))
    visitor.client.headers["accept-language"] = language
    (banner,) = tree(await visitor.get(f"/pages/{page_id}")).xpath("//p[contains(@class, 'banner') and not(@hidden)]")
    return " ".join(banner.text_content().split())


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", SAID)
async def test_a_failure_in_the_browser_is_told_with_what_one_can_do(
    visitor: Visitor, tmp_path: Path, kind: str, language: str
) -> None:
    detail, cause, english, german = SAID[kind]

    said = await banner_of(visitor, tmp_path, kind, detail, language, "browser")

    assert (english if language == "en" else german) in said
    assert language != "en" or (cause in said and detail in said)


async def test_a_page_by_http_is_told_nothing_of_browsers(visitor: Visitor, tmp_path: Path) -> None:
    said = await banner_of(visitor, tmp_path, "timeout", "no answer within 60 s", "en", "http")

    assert "browser" not in said
