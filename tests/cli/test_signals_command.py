"""`tocsin signals`: what each signal sees on a page, tried without touching any state, and what is muted there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.bridge import BUILT, PAGE, PLANNED, call, page, restless, seen, shown, value_of
from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.cli.signals import to_record
from tocsin.engine.visiting.dry_run import PageInForce, look
from tocsin.model.records.fields import to_json
from tocsin.settings import PageSettings
from tocsin.spec.signals import SIGNALS


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        origin.pages["/bridge"] = page()
        yield origin


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


@pytest.mark.parametrize(("suspects", "outcome"), [("hold", "suspect"), ("accept", "minor")])
async def test_what_is_no_HTML_is_foreseen_as_a_check_takes_it(
    installation: Installation, site: Origin, suspects: str, outcome: str
) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--suspects", suspects)
    site.pages["/bridge"] = Page(b"PK\x03\x04", content_type="application/zip")

    foreseen = (await seen(installation, url))["check"]
    (checked, *_) = (await call(installation, "check", url, "--json")).records

    assert foreseen["outcome"] == checked["outcome"] == outcome
    if outcome == "suspect":
        assert foreseen["reason"] == "not HTML: its server calls it application/zip"


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
    await call(installation, "watch", "set", url, "--signals", "all")
    await call(installation, "check", url)
    site.pages["/bridge"] = Page("<meta name=topper-major content='2024-05-01 2024-06-01'><p>A bridge over the river.")

    check = (await seen(installation, url))["check"]

    assert (check["outcome"], check["rule"], check["basis"]) == ("major", "T44", "contradicted")


async def test_what_is_no_page_is_compared_by_its_bytes(installation: Installation, site: Origin) -> None:
    site.pages["/report"] = Page(b"PK\x03\x04 a report", content_type="application/zip", etag='"1"')

    record = await seen(installation, site.url("/report"))

    assert record["content"] == {"by_bytes": True, "letters": 0, "blocks": [], "left_out": []}
    assert value_of(record, "header.etag")["value"] == "1"


async def test_a_person_is_shown_all_of_it(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01", visitors=99)

    text = await shown(installation, url, "--ignore", "#cost")

    for words in (
        "2024-06-01",
        "Not on the page: json-ld.version",
        BUILT,
        "changing by itself: a counter",
        "Left out: #cost",
        "Your rules: none",
        "Problem:",
        "A check now would find: unchanged",
        "would become the new baseline",
        "muted since",
    ):
        assert words in text


async def test_a_person_is_told_what_a_check_would_say_and_how(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    site.pages["/bridge"] = page(BUILT, modified="2024-06-01")

    text = await shown(installation, url)

    assert "A check now would find: minor (S1, declared)" in text
    assert "S1 minor: json-ld.modified changed" in text
    assert "No noise is known: nothing changes from check to check." in text


async def test_a_person_is_told_why_signals_would_not_be_heeded(installation: Installation, site: Origin) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)
    await call(installation, "watch", "set", url, "--signals", "none")

    assert "would not be used: signals = none" in await shown(installation, url)


OWN = '<!doctype html><title>x</title><meta name="topper-major" content="{}"><p>{}'


async def test_of_a_page_that_speaks_for_itself_is_told_when_else_its_changes_are_told(
    installation: Installation, site: Origin
) -> None:
    url = site.url("/bridge")
    site.pages["/bridge"] = Page(OWN.format("2026-01-01", PLANNED))
    await call(installation, "check", url)

    text = " ".join((await shown(installation, url)).split())

    assert "would not be used: the page declares its changes in topper elements" in text
    assert "with the next declared one; to report them at once: tocsin watch set URL --signals all" in text


async def test_of_a_page_that_begins_to_speak_for_itself_the_same_is_foreseen_as_found(
    installation: Installation, site: Origin
) -> None:
    url = site.url("/bridge")
    site.pages["/bridge"] = Page(f"<!doctype html><title>x</title><p>{PLANNED}")
    await call(installation, "check", url)
    site.pages["/bridge"] = Page(OWN.format("2026-02-02", BUILT))

    (record,) = (await call(installation, "signals", url, "--json")).records
    await call(installation, "check", url)

    found = [
        verdict["trace"]
        for state in (await call(installation, "history", url, "--json")).records
        for verdict in state["verdicts"]
    ]
    assert [record["check"]["trace"]] == found


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
    in_force = PageInForce(PageSettings())

    record = to_record(look(body, None, (), None, in_force, 0), in_force, "-")

    assert len(record.signals) == len(SIGNALS)
    assert to_json(record)


async def test_the_content_is_shown_of_a_page_that_is_as_its_last_check_found_it(
    installation: Installation, site: Origin
) -> None:
    url = site.url("/bridge")
    await call(installation, "check", url)

    record = await seen(installation, url)

    assert PLANNED in [block["text"] if isinstance(block, dict) else block for block in record["content"]["blocks"]]
