"""What was found is told with its time, its values and its evidence, wherever a person looks."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page

ARTICLE = (
    "<!doctype html><title>Bridge</title><script type=application/ld+json>"
    '{{"@type": "Article", "dateModified": "2024-05-0{}"}}</script><p>{}</p>'
)
LOGIN = (
    "<!doctype html><title>Sign in</title><h1>Please sign in</h1>"
    "<form method=post><input name=user><input type=password name=password><button>Sign in</button></form>"
)


async def shown(installation: Installation, *words: str) -> str:
    """What a person sees, without the breaks of its lines."""
    config = str(installation.folder / "tocsin.toml")
    _, text = await asyncio.to_thread(on_terminal, "--config", config, *words, cwd=installation.folder)
    return " ".join(text.split())


async def checked(installation: Installation, site: Origin, *pages: str) -> str:
    """Check a page that is each of these in turn; returns its URL."""
    url = site.url("/bridge")
    await asyncio.to_thread(installation.call, "watch", "add", url, "--no-check")
    for page in pages:
        site.pages["/bridge"] = Page(page)
        await asyncio.to_thread(installation.call, "check", url)
    return url


CHANGED = (ARTICLE.format(1, "It is planned."), ARTICLE.format(2, "It is built, and people walk on it."))


async def test_history_tells_when_each_change_was_found_and_from_what_to_what(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked(installation, site, *CHANGED)
        (state,) = (await asyncio.to_thread(installation.call, "history", url, "--json")).records
        text = await shown(installation, "history", url)

    (verdict,) = state["verdicts"]
    assert f"{verdict['at'][:10]} {verdict['at'][11:19]} minor (S1: declared)" in text
    assert "json-ld.modified changed: 2024-05-01 → 2024-05-02" in text


async def test_history_and_the_check_name_what_contradicts_a_change(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked(installation, site, CHANGED[0])
        site.pages["/bridge"] = Page(ARTICLE.format(1, "It is built, and people walk on it."))
        check = await shown(installation, "check", url)
        (state,) = (await asyncio.to_thread(installation.call, "history", url, "--json")).records
        history = await shown(installation, "history", url)

    (verdict,) = state["verdicts"]
    assert "content changed, but json-ld.modified says 2024-05-01 as before, since" in check
    assert verdict["witness"]["value"] == "2024-05-01"
    assert (
        f"json-ld.modified contradicts this: it says 2024-05-01 as before, since {verdict['witness']['since']}"
        in history
    )


async def test_the_list_of_alerts_tells_how_we_know(installation: Installation) -> None:
    async with Origin() as site:
        await checked(installation, site, *CHANGED)
        text = await shown(installation, "alerts", "list")

    assert "changed: minor, declared" in text


async def test_the_watch_list_tells_what_a_page_is_suspected_of(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked(installation, site, CHANGED[0], LOGIN)
        checked_now = await shown(installation, "check", url)
        text = await shown(installation, "watch", "list")
        (page,) = (await asyncio.to_thread(installation.call, "watch", "list", "--json")).records

    assert f"Held back: {url}: login: its title says" in text
    assert page["last_check"]["problem"].startswith("login: ")
    assert "tocsin watch set URL --suspects accept" in text
    assert "tocsin watch set URL --suspects accept" in checked_now


def test_a_comparison_of_two_pages_says_that_it_looks_at_no_text(tmp_path: Path) -> None:
    for name, text in (("old.html", "It is planned."), ("new.html", "It is built.")):
        (tmp_path / name).write_text(f"<!doctype html><title>Bridge</title><p>{text}</p>", encoding="utf-8")

    _, text = on_terminal("compare", "old.html", "new.html", cwd=tmp_path)

    assert "tocsin diff OLD NEW" in text


SHELL = (
    "<!doctype html><title>App</title><body><noscript>It needs scripts.</noscript><div id=root></div>"
    "<script src=/a.js></script>"
)


async def test_a_page_that_scripts_make_is_told_when_it_is_added_and_in_the_list(installation: Installation) -> None:
    async with Origin() as site:
        site.pages["/app"] = Page(SHELL)
        added = await shown(installation, "watch", "add", site.url("/app"))
        (page,) = (await asyncio.to_thread(installation.call, "watch", "list", "--json")).records
        listed = await shown(installation, "watch", "list")

    assert "built by scripts: its text is made by scripts, which are not run" in added
    assert page["built_by_scripts"]
    for text in (added, listed):
        assert "tocsin watch set URL --fetch browser" in " ".join(text.split())
    assert "Built by scripts: 1 page; changes of this text are not seen by HTTP" in listed


async def test_adding_a_page_tells_once_that_it_declares_no_dates(installation: Installation) -> None:
    async with Origin() as site:
        site.pages["/silent"] = Page("<!doctype html><title>Bridge</title><p>It is planned.")
        text = await shown(installation, "watch", "add", site.url("/silent"))

    assert text.count("no change dates") == 1
