from __future__ import annotations

import asyncio

import pytest

from tests.cli.calling import Installation
from tests.origin import Origin, Page
from tests.receivers import Answer, WebhookReceiver
from tocsin.adapters.channels.signing import read_secrets

MAJOR = '<!doctype html><title>x</title><meta name="topper-major" content="{}">'
README = '[channels.ops]\ntype = "webhook"\nurl = "https://127.0.0.1:1/hook"\nsecret_file = "ops.secret"\n'
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('type = "webhook"', "a webhook needs the URL"),
        ('type = "webhook"\nurl = "https://127.0.0.1:1/"', "a webhook signs what it sends"),
        (
            'type = "webhook"\nurl = "https://127.0.0.1:1/T0K3N"\nsecret = "whsec_!"',
            "channels.ops.secret: the secret is not base64",
        ),
        ('type = "file"', "a file channel needs the path"),
        ('type = "file"\npath = "."', "is a folder"),
    ],
)
def test_the_doctor_finds_each_channel_that_the_service_would_refuse(
    installation: Installation, section: str, words: str
) -> None:
    installation.configure(f"[channels.ops]\n{section}\n")

    answer = installation.call("doctor", "--no-settings")

    found = [record for record in answer.records if words in record["finding"]]
    assert answer.status == 1
    assert [(record["wrong"], bool(record["mend"])) for record in found] == [(True, True)]
    assert "T0K3N" not in answer.out


@pytest.mark.parametrize("status", [400, 503])
async def test_alerts_that_a_channel_refused_are_told_by_list_and_doctor(
    installation: Installation, status: int
) -> None:
    async with Origin() as site, WebhookReceiver(Answer(status)) as receiver:
        installation.configure(f'[channels.ops]\ntype = "webhook"\nurl = "{receiver.url}"\nsecret = "{SECRET}"\n')
        for date in ("2026-01-02", "2026-01-02 2026-02-03"):
            site.pages["/a"] = Page(MAJOR.format(date))
            await asyncio.to_thread(installation.call, "check", site.url("/a"))
        (listed,) = (await asyncio.to_thread(installation.call, "channel", "list")).records
        doctor = await asyncio.to_thread(installation.call, "doctor", "--no-settings")

    assert listed["waiting"] == 1
    assert f"answered {status}" in listed["error"]
    found = " ".join(record["finding"] for record in doctor.records if record["wrong"])
    assert f"answered {status}" in found


@pytest.mark.parametrize(
    "command",
    [
        ("watch", "list"),
        ("watch", "set", "--all", "--every", "6h"),
        ("channel", "list"),
        ("token", "list"),
        ("token", "add", "me"),
        ("alerts", "list"),
        ("attention", "list"),
        ("table", "export"),
        ("store", "check"),
        ("check",),
    ],
    ids=" ".join,
)
def test_a_secret_that_is_not_there_stops_no_command_that_does_not_need_it(
    installation: Installation, command: tuple[str, ...]
) -> None:
    installation.call("token", "add", "other")
    installation.configure(README)

    answer = installation.call(*command)

    assert (answer.status, "ops.secret" in answer.err) == (0, False)


def test_a_secret_that_is_not_there_is_told_where_channels_are_told_of(installation: Installation) -> None:
    installation.call("token", "add", "other")
    installation.configure(README)

    (listed,) = installation.call("channel", "list").records
    tried = installation.call("channel", "test", "ops")
    doctor = installation.call("doctor")

    assert "ops.secret: there is no such file; `tocsin channel secret ops` makes a secret" in listed["error"]
    assert (tried.status, "`tocsin channel secret ops`" in tried.err) == (2, True)
    (found,) = [each for each in doctor.records if "cannot be opened" in each.get("finding", "")]
    assert (found["wrong"], found["mend"]) == (True, "`tocsin channel secret ops` makes a secret, or mend the name")
    (shown,) = [each["value"] for each in doctor.records if each.get("key") == "channels.ops.secret"]
    assert shown == "(its file cannot be read)"


async def test_a_check_keeps_the_alerts_of_a_channel_whose_secret_is_not_there(installation: Installation) -> None:
    async with Origin() as site, WebhookReceiver() as receiver:
        configuration = f'[channels.ops]\ntype = "webhook"\nurl = "{receiver.url}"\nsecret_file = "ops.secret"\n'
        installation.configure(configuration)
        for date in ("2026-01-02", "2026-01-02 2026-02-03"):
            site.pages["/a"] = Page(MAJOR.format(date))
            checked = await asyncio.to_thread(installation.call, "check", site.url("/a"))
        (waiting,) = (await asyncio.to_thread(installation.call, "channel", "list")).records
        installation.write("ops.secret", SECRET)
        await asyncio.to_thread(installation.call, "check", site.url("/a"))
        (taken,) = (await asyncio.to_thread(installation.call, "channel", "list")).records

    assert (checked.status, checked.records[0]["outcome"]) == (0, "major")
    assert "ops.secret: there is no such file" in checked.err
    assert (waiting["waiting"], waiting["accepted"]) == (1, 0)
    assert (taken["waiting"], taken["accepted"], taken["error"]) == (0, 1, None)
    assert len(receiver.got) == 1


def test_pages_that_need_a_file_that_is_not_there_are_told_by_the_doctor_and_not_asked_for(
    installation: Installation,
) -> None:
    installation.write("tocsin.toml", '[pages]\nauth_file = "a.secret"\n')

    state = installation.call("state", "https://127.0.0.1:1/")
    doctor = installation.call("doctor", "--no-settings")

    assert (state.status, "pages.auth_file" in state.err) == (2, True)
    assert any("Pages that inherit pages.auth are not checked" in each["finding"] for each in doctor.records)


def test_a_secret_is_made_for_the_file_that_the_configuration_names(installation: Installation) -> None:
    installation.configure(README)

    (made,) = installation.call("channel", "secret", "ops").records

    file = installation.folder / "ops.secret"
    assert (made["channel"], made["file"]) == ("ops", str(file))
    assert file.read_text() == made["secret"] + "\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(read_secrets(made["secret"])[0]) == 32
    assert not [each for each in installation.call("doctor").records if "ops.secret" in each.get("finding", "")]


def test_a_secret_is_replaced_only_where_it_is_asked_for_and_both_sign_then(installation: Installation) -> None:
    installation.configure(README)
    installation.write("ops.secret", SECRET + "\n")

    refused = installation.call("channel", "secret", "ops")
    (made,) = installation.call("channel", "secret", "ops", "--replace").records

    assert (refused.status, "--replace" in refused.err) == (2, True)
    text = (installation.folder / "ops.secret").read_text()
    assert text == f"{made['secret']}\n{SECRET}\n"
    assert len(read_secrets(text)) == 2


def test_a_secret_of_a_channel_without_a_file_is_only_printed(installation: Installation) -> None:
    (made,) = installation.call("channel", "secret", "new").records

    assert (made["file"], made["secret"].startswith("whsec_")) == (None, True)
    assert not (installation.folder / "new.secret").exists()


def test_a_secret_that_cannot_be_written_says_why_and_the_mend(installation: Installation) -> None:
    installation.configure(README.replace("ops.secret", "nowhere/ops.secret"))

    answer = installation.call("channel", "secret", "ops")

    assert (answer.status, "channels.ops.secret_file" in answer.err) == (2, True)


async def test_a_test_says_what_a_receiver_may_think_of_the_secret(installation: Installation) -> None:
    async with WebhookReceiver(Answer(401)) as receiver:
        installation.configure(f'[channels.ops]\ntype = "webhook"\nurl = "{receiver.url}"\nsecret = "c2hvcnQ="\n')
        tried = await asyncio.to_thread(installation.call, "channel", "test", "ops")
        doctor = await asyncio.to_thread(installation.call, "doctor", "--no-settings")

    assert tried.status != 0
    for words in ("has no whsec_", "shorter than 24 bytes", "another secret than channels.ops.secret"):
        assert words in tried.err
    found = [record for record in doctor.records if "Channel ops: the secret" in record["finding"]]
    assert [(record["wrong"], bool(record["mend"])) for record in found] == [(False, True)] * 2
