"""`tocsin channel` for channels that are made at run time."""

from __future__ import annotations

import asyncio

import pytest

from tests.cli.calling import Installation
from tocsin.adapters.stores import open_store

OUT = '[channels.log]\ntype = "stdout"\n[http]\nlisten = ""\n'


def test_a_channel_is_added_shown_muted_and_removed(installation: Installation) -> None:
    installation.configure(OUT)
    path = str(installation.folder / "x.jsonl")

    installation.call("channel", "add", "file", "--type", "file", f"path={path}")
    (record,) = installation.call("channel", "show", "file").records
    assert (record["source"], record["settings"]) == ("saved", {"type": "file", "path": path})
    assert [each["name"] for each in installation.call("channel", "list").records] == ["log", "file"]

    installation.call("channel", "test", "file")
    assert "tocsin.channel.test.v1" in (installation.folder / "x.jsonl").read_text("utf-8")

    installation.call("channel", "mute", "log", "--until", "7d")
    (record,) = installation.call("channel", "show", "log").records
    assert (record["state"], record["muted_by"]) == ("muted", "command line")
    installation.call("channel", "unmute", "log")
    installation.call("channel", "remove", "file")
    assert [each["state"] for each in installation.call("channel", "list").records] == ["ok"]


def test_what_cannot_work_is_not_saved(installation: Installation) -> None:
    installation.configure(OUT)
    hook = ("--type", "webhook", "url=http://10.0.0.7/", "secret=raw:a-key-of-24-bytes-or-more")

    for arguments, words in (
        (("channel", "add", "log", "--type", "stdout"), "the configuration has one of this name"),
        (("channel", "add", "ops", *hook), "10.0.0.7"),
        (("channel", "add", "ops", "--type", "webhook", "ulr=x"), "nearest known key is url"),
        (("channel", "remove", "log"), "it is in the configuration"),
        (("channel", "mute", "nope"), "no such channel"),
        (("channel", "unmute", "log"), "it is not muted"),
        (("route", "remove", "press"), "none of this name was made at run time"),
    ):
        answer = installation.call(*arguments)
        assert answer.status != 0, arguments
        assert words in answer.err, (arguments, answer.err)


@pytest.mark.parametrize("of", ["store", "one that is left out"])
async def test_a_channel_that_a_route_names_is_not_removed(installation: Installation, of: str) -> None:
    installation.configure(OUT)
    await asyncio.to_thread(installation.call, "channel", "add", "ops", "--type", "stdout")
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
        # One that also names a channel that is gone is left out: it is listed all the same.
        names = ["ops"] if of == "store" else ["ops", "gone"]
        await store.save_entry("route", "press", {"channels": names}, 0, who="kim", if_revision=0)

    answer = await asyncio.to_thread(installation.call, "channel", "remove", "ops")

    assert answer.status != 0
    assert "these routes send to it: press; edit or remove them first" in answer.err


async def test_the_doctor_examines_what_was_made_at_run_time(installation: Installation) -> None:
    installation.configure('[http]\nlisten = ""\n')
    assert "No channel is configured" in (await asyncio.to_thread(installation.call, "doctor", "--no-settings")).out
    path = installation.folder / "x.jsonl"
    await asyncio.to_thread(installation.call, "channel", "add", "ops", "--type", "file", f"path={path}")
    path.mkdir()
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
        await store.save_entry("channel", "loft", {"type": "pigeon"}, 0, who="kim", if_revision=0)
        await store.save_entry("route", "press", {"channels": ["gone"]}, 0, who="kim", if_revision=0)

    found = (await asyncio.to_thread(installation.call, "doctor", "--no-settings")).out

    assert f"Channel ops cannot be opened: channels.ops.path: {path} is a folder" in found
    assert "Channel loft cannot be opened: channels.loft.type: there is no channel of type 'pigeon'" in found
    assert "Route press is left out: " in found
    assert "No channel is configured" not in found


def test_a_name_that_is_in_both_places_is_an_error_that_names_the_mend(installation: Installation) -> None:
    installation.configure("")
    installation.call("channel", "add", "ops", "--type", "stdout")
    installation.configure('[channels.ops]\ntype = "stdout"\n')

    answer = installation.call("channel", "list")

    assert answer.status != 0
    assert "tocsin channel remove ops" in answer.err
    installation.call("channel", "remove", "ops")
    assert [each["source"] for each in installation.call("channel", "list").records] == ["configuration"]


PREVIEWED = """
[messages]
folder = "templates"
[channels.chat]
type = "webhook"
url = "https://hooks.example.org/T0K3N"
format = "slack"
[channels.pager]
type = "webhook"
url = "https://hooks.example.org/T0K3N"
format = "template"
template = "pager.json"
[channels.desk]
type = "mail"
host = "smtp.example.org"
sender = "tocsin@example.org"
to = ["desk@example.org"]
[channels.log]
type = "stdout"
[[routes]]
name = "german"
channels = ["chat"]
language = "de"
"""


def test_a_message_is_shown_as_each_channel_sends_it(installation: Installation) -> None:
    installation.configure(PREVIEWED)
    folder = installation.folder / "templates"
    folder.mkdir()
    (folder / "pager.json").write_text('{"title": "{{ alert.title }}"}')

    found = {
        name: installation.call("channel", "preview", name).records[0] for name in ("chat", "pager", "desk", "log")
    }
    german = installation.call("channel", "preview", "chat", "--route", "german").records[0]

    short = installation.call("channel", "preview", "chat", "--part", "subject").out

    assert short == "Notices of the town hall: 2 lines changed\n"
    assert found["chat"]["subject"] == "Notices of the town hall: 2 lines changed"
    assert found["chat"]["body"].startswith('{"text":"Notices of the town hall\\n2 lines changed')
    assert found["pager"]["body"] == '{"title": "Notices of the town hall"}'
    assert found["desk"]["body"].startswith("From: tocsin@example.org\r\nTo: desk@example.org\r\n")
    assert '"type":"tocsin.page.changed.v1"' in found["log"]["body"]
    assert german["text"].startswith("Notices of the town hall\n2 Zeilen wurden geändert")


def test_a_preview_of_a_template_that_fails_names_its_line(installation: Installation) -> None:
    installation.configure(PREVIEWED)
    folder = installation.folder / "templates"
    folder.mkdir()
    (folder / "pager.json").write_text('{\n"title": "{{ alert.titel }}"}')

    answer = installation.call("channel", "preview", "pager")

    assert answer.status == 2
    assert "pager.json, line 2: UndefinedError: 'dict object' has no attribute 'titel'" in answer.err
