"""`tocsin route`, `tocsin silence`, and the route that the settings of pages name."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store

CHANNELS = """
[channels.chat]
type = "stdout"
[channels.mail]
type = "stdout"
"""
ROUTES = f"""{CHANNELS}
[[routes]]
name = "major"
channels = "chat"
match = {{ outcome = "major", host = "*.example.org" }}
[[routes]]
name = "press"
channels = "mail"
match = {{ group = "press" }}
digest = "0 7 * * *"
"""
URL = "https://www.example.org/a"


def watch(installation: Installation, **settings: str) -> None:
    """Watch the page without a check of it."""
    lines = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    assert (
        installation.call("apply", installation.write("pages.toml", f'[[pages]]\nurl = "{URL}"\n{lines}')).status == 0
    )


def said(installation: Installation, *arguments: str) -> list[tuple[str, bool, str]]:
    answer = installation.call("route", "test", *arguments)
    assert answer.status == 0, answer.err
    return [(record["route"], record["takes"], record["why"]) for record in answer.records]


def test_each_route_says_whether_it_takes_an_alert_and_why_without_a_store(installation: Installation) -> None:
    installation.configure(ROUTES)

    assert said(installation, "--url", URL) == [
        ("major", True, "it matches"),
        ("press", False, "its group is main, not press"),
    ]
    assert said(installation, "--url", URL, "--outcome", "minor")[0] == (
        "major", False, "its outcome is minor, not major",
    )  # fmt: skip
    assert said(installation, "--url", URL, "--kind", "recovered")[0] == ("major", False, "it has no outcome")


def test_the_group_the_route_and_the_silences_of_a_page_count(installation: Installation) -> None:
    installation.configure(ROUTES)
    watch(installation, group="press")
    assert said(installation, "--url", URL, "--outcome", "minor")[1] == ("press", True, "it matches")
    watch(installation, route="press")
    installation.call("silence", "add", "--host", "www.example.org")

    (record,) = installation.call("route", "test", "--url", URL, "--outcome", "minor").records[1:]

    assert record["why"] == "the settings of its page name this route"
    assert record["deliveries"] == [{"channel": "mail", "due_at": None, "digest": False, "key": "", "silence": "1"}]


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        ((), "name an alert"),
        (("01KAKQ4ZC8N2V3J5R7T9WXYZ00", "--url", URL), "name an alert"),
        (("--url", "ftp://x"), "ftp"),
    ],
)
def test_one_alert_is_tested_at_a_time(installation: Installation, arguments: tuple[str, ...], mend: str) -> None:
    installation.configure(ROUTES)

    answer = installation.call("route", "test", *arguments)

    assert answer.status == 2
    assert mend in answer.err


def test_an_alert_that_is_not_stored_is_named(installation: Installation) -> None:
    installation.configure(ROUTES)
    watch(installation)

    answer = installation.call("route", "test", "01KAKQ4ZC8N2V3J5R7T9WXYZ00")

    assert (answer.status, "no such alert; see: tocsin alerts list" in answer.err) == (2, True)


def test_a_route_that_does_not_exist_is_refused_with_its_nearest(installation: Installation) -> None:
    installation.configure(ROUTES)
    file = installation.write("pages.toml", f'[groups.news]\nroute = "pres"\n[[pages]]\nurl = "{URL}"\n')

    set_, planned, applied = (
        installation.call(*call)
        for call in (("watch", "set", "--all", "--route", "pres"), ("plan", file), ("apply", file, "--yes"))
    )

    assert "--route: there is no route 'pres'; the nearest is 'press'" in set_.err
    for answer in (planned, applied):
        assert answer.status == 2
        assert "there is no route 'pres'; the nearest is 'press'" in answer.err


def test_a_declared_list_sets_the_route_of_a_page_and_of_a_group(installation: Installation) -> None:
    installation.configure(ROUTES)
    file = installation.write(
        "pages.toml", f'[groups.news]\nroute = "press"\n[[pages]]\nurl = "{URL}"\ngroup = "news"\n'
    )

    assert installation.call("apply", file, "--yes").status == 0

    assert said(installation, "--url", URL, "--outcome", "minor")[1] == (
        "press", True, "the settings of its page name this route",
    )  # fmt: skip


def test_a_configuration_that_names_an_unknown_route_for_all_pages_is_refused(installation: Installation) -> None:
    installation.configure(f'route = "pres"\n{ROUTES}')

    answer = installation.call("route", "list")

    assert "pages.route: there is no route 'pres'; the nearest is 'press'" in answer.err


def test_silences_are_added_listed_and_ended(installation: Installation) -> None:
    (added,) = installation.call("silence", "add", "--host", "*.example.org", "--kind", "changed", "--kind", "suspect",
                                 "--until", "7d", "--reason", "relaunch").records  # fmt: skip
    assert added["match"] == {"kind": ["changed", "suspect"], "host": ["*.example.org"]}
    assert (added["id"], added["reason"], added["who"], added["ended_at"]) == ("1", "relaunch", "command line", None)
    assert installation.call("silence", "list").records == [added]

    assert installation.call("silence", "end", "1").status == 0

    assert installation.call("silence", "list").records == []
    (ended,) = installation.call("silence", "list", "--all").records
    assert ended == {**added, "ended_at": ended["ended_at"]} != added
    again = installation.call("silence", "end", "1")
    assert (again.status, "no such silence is in force" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        ((), "say which alerts"),
        (("--kind", "change"), "match.kind: found \"change\"; the nearest is 'changed'"),
        (("--kind", "outage", "--host", "*"), "it can never match: an alert of kind outage has no host"),
        (("--group", "a", "--until", "yesterday"), "--until"),
    ],
)
def test_a_silence_that_would_hold_nothing_back_is_refused(
    installation: Installation, arguments: tuple[str, ...], mend: str
) -> None:
    answer = installation.call("silence", "add", *arguments)

    assert answer.status == 2
    assert mend in answer.err


def test_routes_are_listed_from_top_to_bottom(installation: Installation) -> None:
    installation.configure(ROUTES)

    records = installation.call("route", "list").records

    assert [record["name"] for record in records] == ["major", "press"]
    assert records[1] == {
        "name": "press", "channels": ["mail"], "match": {"group": ["press"]}, "unless": None, "digest": "0 7 * * *",
        "group_by": [], "quiet": [], "at_most": "", "say_nothing": False, "continue": False,
        "template": "", "language": "", "source": "configuration", "error": None,
    }  # fmt: skip


MAJOR = '<!doctype html><title>News</title><meta name="topper-major" content="{}">'
LOG = '[channels.log]\ntype = "file"\npath = "alerts.jsonl"\n[channels.rest]\ntype = "file"\npath = "rest.jsonl"\n'


async def change(installation: Installation, site: Origin, dates: str) -> list[str]:
    """Change the page, and check it; returns the ids of the alerts that each file has by then."""
    site.pages["/a"] = Page(MAJOR.format(dates))
    answer = await asyncio.to_thread(installation.call, "check", site.url("/a"))
    assert answer.status in {0, 1}, answer.err
    files = (installation.folder / name for name in ("alerts.jsonl", "rest.jsonl"))
    return [json.loads(line)["id"] for file in files if file.exists() for line in file.read_text().splitlines()]


async def test_what_no_route_takes_is_counted_by_the_doctor(installation: Installation) -> None:
    async with Origin() as site:
        installation.configure(f'{LOG}[[routes]]\nname = "a"\nchannels = "log"\nmatch = {{ outcome = "minor" }}\n')
        await change(installation, site, "2026-01-02")
        assert await change(installation, site, "2026-01-02 2026-03-04") == []
        records = (await asyncio.to_thread(installation.call, "doctor", "--no-settings")).records

    (found,) = [record for record in records if "matched no route" in record["finding"]]
    assert found["finding"] == "1 alert of the last week matched no route: no channel got it."
    assert not found["wrong"]


async def test_a_silence_holds_an_alert_back_and_a_replay_sends_it(installation: Installation) -> None:
    async with Origin() as site:
        installation.configure(LOG)
        await change(installation, site, "2026-01-02")
        await asyncio.to_thread(installation.call, "silence", "add", "--outcome", "major")
        assert await change(installation, site, "2026-01-02 2026-03-04") == []
        (alert,) = (await asyncio.to_thread(installation.call, "alerts", "list")).records
        assert [(each["channel"], each["state"], each["silence"]) for each in alert["deliveries"]] == [
            ("log", "silenced", "1"), ("rest", "silenced", "1"),
        ]  # fmt: skip

        await asyncio.to_thread(installation.call, "silence", "end", "1")
        latest = await change(installation, site, "2026-01-02 2026-03-04 2026-05-06")
        assert len(latest) == 2
        assert alert["id"] not in latest

        await asyncio.to_thread(installation.call, "alerts", "replay", alert["id"], "--yes")
        assert (await change(installation, site, "2026-01-02 2026-03-04 2026-05-06")).count(alert["id"]) == 2


async def test_routes_send_an_alert_to_their_channels_only(installation: Installation) -> None:
    async with Origin() as site:
        installation.configure(
            f'{LOG}[[routes]]\nname = "news"\nchannels = "rest"\nmatch = {{ words = "news" }}\n'
            '[[routes]]\nname = "log"\nchannels = "log"\n'
        )
        await change(installation, site, "2026-01-02")

        (sent,) = await change(installation, site, "2026-01-02 2026-03-04")

        assert sent in (installation.folder / "rest.jsonl").read_text()
        records = (await asyncio.to_thread(installation.call, "route", "test", sent)).records
        assert [(record["route"], record["takes"]) for record in records] == [("news", True), ("log", False)]
        # The matchers of routes filter the list, too.
        found = {
            options: len((await asyncio.to_thread(installation.call, "alerts", "list", *options)).records)
            for options in (
                ("--words", "news", "--words", "nothing"),
                ("--outcome", "minor"),
                ("--url", site.url("/a")),
                ("--url", "*/a", "--kind", "changed"),
                ("--url", "*/b"),
            )
        }
        assert list(found.values()) == [1, 0, 1, 1, 0]


def test_the_doctor_names_settings_with_a_route_that_is_gone(installation: Installation) -> None:
    installation.configure(ROUTES)
    installation.call("apply", installation.write("pages.toml", '[groups.news]\nroute = "press"\n'), "--yes")
    installation.configure("")

    records = installation.call("doctor", "--no-settings").records

    (found,) = [record for record in records if "name the route" in record["finding"]]
    assert found["finding"] == "The settings of group news name the route 'press', which does not exist."
    assert "tocsin watch set --group news --unset route" in found["mend"]


def test_a_person_reads_tables(installation: Installation) -> None:
    installation.configure(
        f'{ROUTES}[[routes]]\nname = "rest"\nchannels = "mail"\nquiet = "sat"\nat_most = "2 per hour"\n'
    )
    installation.call("silence", "add", "--group", "a", "--group", "b", "--reason", "relaunch")
    installation.call("silence", "add", "--kind", "storm", "--until", "7d")
    installation.call("silence", "end", "2")

    shown = {
        call: on_terminal(*call.split(), cwd=installation.folder, columns=140)[1]
        for call in ("route list", f"route test --url {URL} --outcome minor", "silence list --all")
    }

    listed, tested, silences = shown.values()
    assert "outcome major, host *.example.org" in listed
    assert "digest: 0 7 * * *" in listed
    assert "at once; at most 2 per hour; not sat" in listed
    assert "its outcome is minor, not major" in tested
    assert "group a or b" in silences
    assert "you end it" in silences
    assert "ended 20" in silences


def test_where_nothing_is_configured_it_is_said(installation: Installation) -> None:
    installation.configure("")
    watch(installation)

    said_of = {
        call: on_terminal(*call.split(), cwd=installation.folder)[1]
        for call in ("route list", f"route test --url {URL}", "silence list")
    }

    for call, what in zip(
        said_of, ("There is no route", "No route is configured", "No silence is in force"), strict=True
    ):
        assert what in said_of[call]


async def test_a_route_that_was_made_at_run_time_is_known_to_lists_settings_and_the_doctor(
    installation: Installation,
) -> None:
    installation.configure(LOG)
    await asyncio.to_thread(watch, installation)
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
        await store.save_entry("route", "made", {"channels": ["log"]}, 0, who="kim", if_revision=0)
    file = installation.write("groups.toml", '[groups.news]\nroute = "made"\n')

    answers = [
        await asyncio.to_thread(installation.call, *call)
        for call in (("watch", "set", "--all", "--route", "made", "--yes"), ("apply", file, "--yes"))
    ]
    doctor = await asyncio.to_thread(installation.call, "doctor", "--no-settings")
    refused = await asyncio.to_thread(installation.call, "watch", "set", "--all", "--route", "mad")

    assert [answer.status for answer in answers] == [0, 0]
    assert "name the route" not in doctor.out
    assert "there is no route 'mad'; the nearest is 'made'" in refused.err


def test_a_route_is_added_replaced_moved_and_removed(installation: Installation) -> None:
    installation.configure(CHANNELS)
    added = installation.call(
        "route", "add", "press", "--channel", "chat", "--channel", "mail", "--group", "press", "--group", "law",
        "--outcome", "major", "--unless", "basis=inferred", "--digest", "0 7 * * mon-fri", "--group-by", "host",
        "--quiet", "22:00-07:00", "--quiet", "sat", "--say-nothing", "--language", "de", "--continue",
    )  # fmt: skip
    assert added.status == 0, added.err
    (press,) = installation.call("route", "list").records
    assert added.records == [press]
    assert press == {
        "name": "press", "channels": ["chat", "mail"], "match": {"group": ["press", "law"], "outcome": ["major"]},
        "unless": {"basis": ["inferred"]}, "digest": "0 7 * * mon-fri", "group_by": ["host"],
        "quiet": ["22:00-07:00", "sat"], "at_most": "", "say_nothing": True, "template": "", "language": "de",
        "continue": True, "source": "saved", "error": None,
    }  # fmt: skip

    for arguments in (
        ("add", "rest", "--channel", "mail", "--at-most", "20 per hour"),
        ("add", "press", "--channel", "mail", "--replace"),
        ("move", "press"),
    ):
        assert installation.call("route", *arguments).status == 0, arguments
    rest, press = installation.call("route", "list").records
    assert (rest["name"], rest["at_most"]) == ("rest", "20 per hour")
    assert (press["name"], press["channels"], press["match"], press["continue"]) == ("press", ["mail"], {}, False)

    for before, order in (("rest", ["press", "rest"]), ("press", ["press", "rest"])):
        assert installation.call("route", "move", "press", "--before", before).records == [{"routes": order}]
    assert installation.call("route", "remove", "press").status == 0
    assert [route["name"] for route in installation.call("route", "list").records] == ["rest"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "major", "--channel", "chat"), "the configuration has one of this name"),
        (("add", "law", "--channel", "nope"), "there is no channel 'nope'"),
        (("add", "law", "--channel", "chat", "--unless", "basis"), "write KEY=VALUE"),
        (("add", "law", "--channel", "chat", "--unless", "bases=inferred"), "the nearest is 'basis'"),
        (("add", "law", "--channel", "chat", "--quiet", "noon"), "allowed are times such as"),
        (("add", "law", "--channel", "chat", "--template", "law.txt"), "messages.folder"),
        (("add", "saved", "--channel", "chat"), "replace it with --replace"),
        (("move", "major"), "none of this name was made at run time"),
        (("move", "saved", "--before", "major"), "none of this name was made at run time"),
    ],
)
def test_a_route_that_cannot_work_is_not_saved(
    installation: Installation, arguments: tuple[str, ...], words: str
) -> None:
    installation.configure(ROUTES)
    assert installation.call("route", "add", "saved", "--channel", "chat").status == 0

    answer = installation.call("route", *arguments)

    assert answer.status != 0
    assert words in answer.err
    assert [route["name"] for route in installation.call("route", "list").records] == ["major", "press", "saved"]
