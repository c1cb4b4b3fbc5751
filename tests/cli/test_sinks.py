from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.origin import Origin, Page
from tests.receivers import Answer, WebhookReceiver

if TYPE_CHECKING:
    from tests.cli.calling import Installation

MAJOR = '<!doctype html><title>x</title><meta name="topper-major" content="{}">'
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('type = "webhook"', "a webhook needs the URL"),
        ('type = "webhook"\nurl = "https://127.0.0.1:1/"', "a webhook signs what it sends"),
        ('type = "webhook"\nurl = "https://127.0.0.1:1/T0K3N"\nsecret = "whsec_!"', "sinks.ops.secret"),
        ('type = "file"', "a file sink needs the path"),
        ('type = "file"\npath = "."', "is a folder"),
        ('type = "webhok"', "there is no sink of type"),
    ],
)
def test_the_doctor_finds_each_sink_that_the_service_would_refuse(
    installation: Installation, section: str, words: str
) -> None:
    installation.configure(f"[sinks.ops]\n{section}\n")

    answer = installation.call("doctor", "--no-settings")

    found = [record for record in answer.records if words in record["finding"]]
    assert answer.status == 1
    assert [(record["wrong"], bool(record["mend"])) for record in found] == [(True, True)]
    assert "T0K3N" not in answer.out


@pytest.mark.parametrize("status", [400, 503])
async def test_alerts_that_a_sink_refused_are_told_by_list_and_doctor(installation: Installation, status: int) -> None:
    async with Origin() as site, WebhookReceiver(Answer(status)) as receiver:
        installation.configure(f'[sinks.ops]\ntype = "webhook"\nurl = "{receiver.url}"\nsecret = "{SECRET}"\n')
        for date in ("2026-01-02", "2026-01-02 2026-02-03"):
            site.pages["/a"] = Page(MAJOR.format(date))
            await asyncio.to_thread(installation.call, "check", site.url("/a"))
        (listed,) = (await asyncio.to_thread(installation.call, "sink", "list")).records
        doctor = await asyncio.to_thread(installation.call, "doctor", "--no-settings")

    assert listed["waiting"] == 1
    assert f"answered {status}" in listed["error"]
    found = " ".join(record["finding"] for record in doctor.records if record["wrong"])
    assert f"answered {status}" in found
