"""`tocsin signals`: what is muted as noise on a page, and how it is heard again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.cli.bridge import call, page, restless, seen
from tests.cli.calling import Installation
from tests.origin import Origin


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        origin.pages["/bridge"] = page()
        yield origin


async def test_what_changes_from_check_to_check_is_listed_with_a_number(
    installation: Installation, site: Origin
) -> None:
    url = await restless(installation, site)

    noise = (await seen(installation, url))["noise"]

    (counter,) = [place for place in noise if "Visitors" in place["what"]]
    assert (counter["state"], counter["changes"]) == ("muted", 3)
    assert counter["since"]
    assert [place["number"] for place in noise] == list(range(1, len(noise) + 1))


async def test_what_is_about_to_be_muted_is_listed(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site, times=3)

    (counter,) = [place for place in (await seen(installation, url))["noise"] if "Visitors" in place["what"]]

    assert (counter["state"], counter["changes"], counter["since"]) == ("watched", 2, None)


async def test_a_place_is_unmuted_by_its_number_and_muted_again(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)
    number = next(place["number"] for place in (await seen(installation, url))["noise"] if "Visitors" in place["what"])
    asked = len(site.log)

    unmuted = await seen(installation, url, "--unmute", str(number))
    after = await seen(installation, url)
    muted = await seen(installation, url, "--mute", str(number))

    assert [record["noise"][number - 1]["state"] for record in (unmuted, after, muted)] == [
        "heard",
        "heard",
        "muted",
    ]
    assert len(site.log) == asked + 1


async def test_all_places_are_unmuted_at_once(installation: Installation, site: Origin) -> None:
    url = await restless(installation, site)

    record = await seen(installation, url, "--unmute", "all")

    assert {place["state"] for place in record["noise"]} == {"heard"}


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

    assert before[number - 1]["state"] == "muted-on-host"
    assert after[number - 1]["state"] == "heard"
    assert [place["state"] for place in elsewhere if "Visitors" in place["what"]] == ["heard"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--unmute", "7"], "--unmute '7': no noise has this number; there are none"),
        (["--mute", "x"], "--mute 'x': no noise has this number"),
        (["--unmute", "1", "--look-at", "p"], "do not go with --look-at and --ignore"),
        (["--on-host"], "--on-host needs --mute or --unmute"),
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
