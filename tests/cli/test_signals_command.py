"""`tocsin signals`: what each signal sees on a page, tried without touching any state, and what is muted there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.cli.dry_run import InForce, look, to_record
from tocsin.cli.sources import Source
from tocsin.settings import PageSettings
from tocsin.spec.signals import SIGNALS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.cli.calling import Answer, Installation

PAGE = """<!doctype html><title>The bridge</title>
<script type=application/ld+json>{{"@type": "Article", "dateModified": "{modified}"}}</script>
<main><h1>The bridge</h1><p>{text}</p><p>Visitors: {visitors}</p><p id=price>12.50</p>
<nav><a href=/>Home</a> <a href=/all>All the other pages</a></nav></main>"""
PLANNED = "The council has planned a bridge over the river, and nobody knows when it will come."
BUILT = "The bridge over the river was built in spring, and people walk on it every day."


def page(text: str = PLANNED, *, modified: str = "2024-05-01", visitors: int = 1) -> Page:
    body = PAGE.format(text=text, modified=modified, visitors=visitors)
    return Page(body, etag=f'"{visitors}"', last_modified="Wed, 01 May 2024 10:00:00 GMT")


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        origin.pages["/bridge"] = page()
        yield origin


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def seen(installation: Installation, *arguments: str) -> dict[str, Any]:
    answer = await call(installation, "signals", *arguments, "--json")
    assert answer.status == 0, answer.err
    (record,) = answer.records
    return record


async def shown(installation: Installation, *arguments: str) -> str:
    config = str(installation.folder / "tocsin.toml")
    status, text = await asyncio.to_thread(
        on_terminal, "--config", config, "signals", *arguments, cwd=installation.folder
    )
    assert status == 0, text
    return text


def value_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in record["signals"] if each["signal"] == name)
    return found


async def restless(installation: Installation, site: Origin, path: str = "/bridge", times: int = 4) -> str:
    """Check a page whose counter of visitors changes each time; returns its URL."""
    url = site.url(path)
    for visitors in range(times):
        site.pages[path] = page(visitors=10 + visitors)
        await call(installation, "check", url)
    return url


def test_a_file_is_looked_at_without_a_store(installation: Installation) -> None:
    file = installation.write("bridge.html", PAGE.format(text=PLANNED, modified="2024-05-01", visitors=1))

    (record,) = installation.call("signals", file, "--json").records

    assert [each["signal"] for each in record["signals"]] == [signal.name for signal in SIGNALS]
    assert value_of(record, "json-ld.modified") == {
        "signal": "json-ld.modified",
        "source": "author",
        "what": "dateModified of the page's main node in JSON-LD",
        "value": "2024-05-01",
        "last": None,
        "muted": False,
    }
    assert value_of(record, "sitemap")["value"] is None
    assert (record["watched"], record["check"], record["noise"]) == (False, None, [])
    assert not (installation.folder / "tocsin.db").exists()


def test_the_content_is_shown_as_it_would_be_compared(installation: Installation) -> None:
    file = installation.write("bridge.html", PAGE.format(text=PLANNED, modified="2024-05-01", visitors=1))

    (record,) = installation.call("signals", file, "--json").records

    content = record["content"]
    assert PLANNED in content["blocks"]
    assert content["letters"] == sum(map(len, content["blocks"]))
    reasons = {each["text"]: each["why"] for each in content["left_out"]}
    assert "navigation" in reasons["Home All the other pages"]
    assert "counter" in reasons["Visitors: 1"]


def test_selectors_are_tried(installation: Installation) -> None:
    file = installation.write("bridge.html", PAGE.format(text=PLANNED, modified="2024-05-01", visitors=1))

    (chosen,) = installation.call("signals", file, "--look-at", "#price", "--json").records
    (ignored,) = installation.call("signals", file, "--ignore", "p", "--json").records
    (nothing,) = installation.call("signals", file, "--look-at", "#cost", "--json").records

    assert chosen["content"]["blocks"] == ["12.50"]
    assert chosen["settings"]["look_at"] == "#price"
    assert PLANNED not in ignored["content"]["blocks"]
    assert "#cost" in nothing["problems"][0]


@pytest.mark.parametrize("option", ["--look-at", "--ignore"])
def test_a_bad_selector_is_a_wrong_call_with_the_mend(option: str, installation: Installation) -> None:
    file = installation.write("bridge.html", "<p>A bridge.")

    answer = installation.call("signals", file, option, "p[")

    assert answer.status == 2
    assert 'allowed is CSS selectors such as "main, #price"' in answer.err
    assert answer.out == ""


async def test_a_page_is_fetched_and_its_headers_are_signals(installation: Installation, site: Origin) -> None:
    record = await seen(installation, site.url("/bridge"))

    assert value_of(record, "header.etag")["value"] == "1"
    assert value_of(record, "header.last-modified")["value"] == "2024-05-01T10:00:00Z"


async def test_a_page_that_cannot_be_had_is_an_exit_status_of_1(installation: Installation, site: Origin) -> None:
    answer = await call(installation, "signals", site.url("/none"))

    assert answer.status == 1


async def test_what_the_last_check_found_stands_beside(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01")

    record = await seen(installation, url)

    modified = value_of(record, "json-ld.modified")
    assert (modified["last"], modified["value"]) == ("2024-05-01", "2024-06-01")
    check = record["check"]
    assert (check["outcome"], check["rule"], check["basis"]) == ("minor", "S1", "declared")
    assert check["changed"] == ["json-ld.modified", "content"]
    assert [step["rule"] for step in check["trace"]] == ["T42", "S1", "S2"]
    assert (check["heeds_signals"], check["begins_anew"]) == (True, False)


async def test_a_look_touches_no_state(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    before = (await call(installation, "history", url, "--json")).out
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01")

    await seen(installation, url)
    await seen(installation, url, "--look-at", "#price")

    assert (await call(installation, "history", url, "--json")).out == before
    assert (await seen(installation, url))["check"]["outcome"] == "minor"


async def test_a_page_that_was_never_checked_would_be_a_first_one(installation: Installation, site: Origin) -> None:
    await call(installation, "watch", "add", site.url("/bridge"), "--no-check")

    record = await seen(installation, site.url("/bridge"))

    assert (record["check"]["outcome"], record["check"]["begins_anew"]) == ("first", True)


async def test_the_pages_own_settings_hold(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--look-at", "#price", "--signal-rules", "etag: major")
    await call(installation, "watch", "set", url, "--header", "X-Reader: me")

    record = await seen(installation, url)

    assert record["content"]["blocks"] == ["12.50"]
    assert record["settings"]["signal_rules"] == ["etag: major"]
    assert site.log[-1].headers["x-reader"] == "me"
    assert record["check"]["begins_anew"]


async def test_selectors_that_are_tried_take_the_place_of_the_pages_own(
    installation: Installation, site: Origin
) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--look-at", "#price")

    record = await seen(installation, url, "--look-at", "h1")

    assert record["content"]["blocks"] == ["The bridge"]
    assert record["check"]["begins_anew"]


async def test_signals_that_a_check_would_not_heed_are_shown_and_said_so(
    installation: Installation, site: Origin
) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--signals", "none")
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01")

    record = await seen(installation, url)

    assert value_of(record, "json-ld.modified")["value"] == "2024-06-01"
    assert (record["check"]["outcome"], record["check"]["heeds_signals"]) == ("unchanged", False)


async def test_the_specification_decides_first(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    site.pages["/bridge"] = Page("<meta name=topper-major content=2024-05-01><p>A bridge over the river.")
    await call(installation, "check", url)
    site.pages["/bridge"] = Page("<meta name=topper-major content='2024-05-01 2024-06-01'><p>A bridge over the river.")

    check = (await seen(installation, url))["check"]

    assert (check["outcome"], check["rule"], check["basis"]) == ("major", "T44", "contradicted")


async def test_what_is_no_page_is_compared_by_its_bytes(installation: Installation, site: Origin) -> None:
    site.pages["/report"] = Page(b"%PDF-1.4 a report", content_type="application/pdf", etag='"1"')

    record = await seen(installation, site.url("/report"))

    assert record["content"] == {"by_bytes": True, "letters": 0, "blocks": [], "left_out": []}
    assert value_of(record, "header.etag")["value"] == "1"


async def test_what_changes_from_check_to_check_is_listed_with_a_number(
    installation: Installation, site: Origin
) -> None:
    url = await restless(installation, site)

    noise = (await seen(installation, url))["noise"]

    (counter,) = [place for place in noise if "Visitors" in place["what"]]
    assert (counter["standing"], counter["changes"]) == ("muted", 3)
    assert counter["since"]
    assert [place["number"] for place in noise] == list(range(1, len(noise) + 1))


async def test_what_is_about_to_be_muted_is_listed(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site, times=3)

    (counter,) = [place for place in (await seen(installation, url))["noise"] if "Visitors" in place["what"]]

    assert (counter["standing"], counter["changes"], counter["since"]) == ("watched", 2, None)


async def test_a_place_is_unmuted_by_its_number_and_muted_again(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)
    number = next(place["number"] for place in (await seen(installation, url))["noise"] if "Visitors" in place["what"])
    asked = len(site.log)

    unmuted = await seen(installation, url, "--unmute", str(number))
    after = await seen(installation, url)
    muted = await seen(installation, url, "--mute", str(number))

    assert [record["noise"][number - 1]["standing"] for record in (unmuted, after, muted)] == [
        "heard",
        "heard",
        "muted",
    ]
    assert len(site.log) == asked + 1


async def test_all_places_are_unmuted_at_once(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)

    record = await seen(installation, url, "--unmute", "all")

    assert {place["standing"] for place in record["noise"]} == {"heard"}


async def test_what_is_muted_on_a_whole_host_is_listed_and_can_be_heard_there(
    installation: Installation, site: Origin
) -> None:
    for path in ("/a", "/b", "/c", "/d", "/e"):
        await restless(installation, site, path)
    site.pages["/quiet"] = page()
    url = site.url("/quiet")
    await call(installation, "check", url)

    before = (await seen(installation, url))["noise"]
    (number,) = [place["number"] for place in before if "Visitors" in place["what"]]
    after = (await seen(installation, url, "--unmute", str(number), "--on-host"))["noise"]
    elsewhere = (await seen(installation, site.url("/a")))["noise"]

    assert before[number - 1]["standing"] == "muted-on-host"
    assert after[number - 1]["standing"] == "heard"
    assert [place["standing"] for place in elsewhere if "Visitors" in place["what"]] == ["heard"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--unmute", "7"], "--unmute '7': no place has this number; there are none"),
        (["--mute", "x"], "--mute 'x': no place has this number"),
        (["--unmute", "1", "--look-at", "p"], "leave --look-at and --ignore out"),
        (["--on-host"], "give one of them"),
    ],
)
async def test_a_call_that_cannot_be_meant_is_wrong(
    arguments: list[str], said: str, installation: Installation, site: Origin
) -> None:
    await call(installation, "check", site.url("/bridge"))

    answer = await call(installation, "signals", site.url("/bridge"), *arguments)

    assert answer.status == 2
    assert said in answer.err


async def test_nothing_can_be_unmuted_of_a_page_that_is_not_watched(installation: Installation, site: Origin) -> None:
    await call(installation, "check", site.url("/bridge"))

    answer = await call(installation, "signals", site.url("/other"), "--unmute", "all")

    assert answer.status == 2
    assert f"add it with: tocsin watch add {site.url('/other')}" in answer.err


async def test_a_person_is_shown_all_of_it(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01", visitors=99)

    text = await shown(installation, url, "--ignore", "#cost")

    for words in (
        "2024-06-01",
        "Not there: json-ld.version",
        BUILT,
        "changing by itself: a counter",
        "Ignored: #cost",
        "Your rules: none",
        "Problem:",
        "A check now would say: unchanged",
        "would be the new baseline",
        "muted since",
    ):
        assert words in text


async def test_a_person_is_told_what_a_check_would_say_and_how(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01")

    text = await shown(installation, url)

    assert "A check now would say: minor (S1, declared)" in text
    assert "S1 minor: json-ld.modified changed" in text
    assert "Nothing is known to change from check to check." in text


async def test_a_person_is_told_why_signals_would_not_be_heeded(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--signals", "none")

    assert "would not be heeded: signals = none" in await shown(installation, url)


async def test_a_long_content_is_cut_for_people_and_whole_for_programs(installation: Installation) -> None:
    texts = [f"The {number}th bridge over the river was built, and people walk on it." for number in range(30)]
    file = installation.write("bridges.html", "".join(f"<p>{text}</p>" for text in texts))

    (record,) = (await call(installation, "signals", file, "--json")).records

    assert record["content"]["blocks"] == texts
    assert "… and 10 more; --json shows them all" in await shown(installation, Path(file).name)


def test_letters_that_a_terminal_would_obey_are_harmless(installation: Installation) -> None:
    file = installation.write("bad.html", "<p>A bridge \x1b[31mover the river was built, and people walk on it.")

    status, text = on_terminal("signals", file, cwd=installation.folder)

    assert status == 0
    assert "\x1b" not in text
    assert json.dumps(text).count("\\u001b") == 0


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"<!doctype html><p>{text}".encode()))
def test_a_look_takes_any_bytes(body: bytes) -> None:
    in_force = InForce(PageSettings())

    record = to_record(look(Source("-", body, None), in_force, 0), in_force, "-")

    assert len(record["signals"]) == len(SIGNALS)
    assert json.dumps(record)
