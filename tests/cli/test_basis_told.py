"""How we know of a change is told with it: by the check, and in the page's history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.cli.calling import Answer, Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.cli.check import basis_in_words
from tocsin.model import CheckReport

ARTICLE = (
    "<!doctype html><title>Bridge</title><script type=application/ld+json>"
    '{{"@type": "Article", "dateModified": "2024-05-0{}"}}</script><p>{}</p>'
)


def report(
    basis: str, *signals: str, changed: tuple[str, ...] = (), outcome: str = "minor", rule: str = "S1"
) -> CheckReport:
    return CheckReport("https://example.org/", outcome, changed=changed, rule=rule, basis=basis, signals=signals)


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (report("declared", changed=("topper",), rule="T47"), ""),
        (report("declared", "json-ld.modified", changed=("topper",), rule="T47"), ""),
        (report("declared", "content", outcome="major", rule="T45"), ""),
        (report("declared", "content", "json-ld.modified"), "declared by json-ld.modified"),
        (report("inferred", "content"), "inferred: content"),
        (report("inferred", "header.etag"), "inferred: header.etag"),
        (report("contradicted", "content"), "contradicted: content changed, but nothing that the page declares"),
        (report("contradicted", "sitemap"), "contradicted: sitemap changed, but the content is as before"),
        (
            report("contradicted", changed=("topper",), rule="T47"),
            "contradicted: topper changed, but the content is as before",
        ),
        (report("declared", outcome="first"), ""),
    ],
)
def test_the_basis_is_told_in_words_where_the_fields_do_not_plainly_declare_it(told: CheckReport, words: str) -> None:
    assert basis_in_words(told) == words


async def checked_twice(installation: Installation, site: Origin) -> str:
    """A page whose article says that it was changed, and was; returns its URL."""
    url = site.url("/bridge")
    for day, text in ((1, "It is planned."), (2, "It is built, and people walk on it.")):
        site.pages["/bridge"] = Page(ARTICLE.format(day, text))
        await call(installation, "check", url)
    return url


async def test_history_shows_the_basis_the_signals_and_how_the_verdict_came_about(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked_twice(installation, site)
        (state,) = (await call(installation, "history", url, "--json")).records

    (verdict,) = [each for each in state["verdicts"] if each["outcome"] == "minor"]
    assert verdict["basis"] == "declared"
    modified: dict[str, Any] = next(each for each in verdict["signals"] if each["signal"] == "json-ld.modified")
    assert (modified["previous"], modified["latest"], modified["says"]) == ("2024-05-01", "2024-05-02", "minor")
    assert [step["rule"] for step in verdict["trace"]][:2] == ["T42", "S1"]


async def test_history_tells_people_what_each_signal_said(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked_twice(installation, site)
        config = str(installation.folder / "tocsin.toml")
        _, shown = await asyncio.to_thread(on_terminal, "--config", config, "history", url, cwd=installation.folder)

    assert "minor (S1: declared)" in shown
    assert "json-ld.modified changed" in shown


async def test_a_check_tells_people_how_we_know(installation: Installation) -> None:
    async with Origin() as site:
        url = await checked_twice(installation, site)
        site.pages["/bridge"] = Page(ARTICLE.format(3, "It is closed, and people walk around it."))
        config = str(installation.folder / "tocsin.toml")
        _, shown = await asyncio.to_thread(on_terminal, "--config", config, "check", url, cwd=installation.folder)

    assert f"minor        {url} (S1; declared by json-ld.modified)" in shown
