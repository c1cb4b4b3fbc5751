"""What receivers are told in `docs/alert-receivers.md` is true."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.alert_examples import examples, show
from tests.receivers import EVENT
from tocsin import events
from tocsin.adapters.channels.signing import read_secrets, sign
from tocsin.engine.alerting.backoff import LAST_STEP, STEPS
from tocsin.model import JsonObject

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "alert-receivers.md").read_text("utf-8")
SECRET = "whsec_" + base64.b64encode(b"twenty-four bytes, or so").decode()


def code(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", DOCUMENT, re.DOTALL)


def named(event: JsonObject) -> str:
    kind: str = event["type"]
    return kind


@pytest.mark.parametrize("event", examples(), ids=named)
def test_every_example_is_what_the_program_makes(event: JsonObject) -> None:
    assert show(event) in code("json"), "print it anew with: python -m tests.alert_examples"


def test_every_type_of_event_has_one_example() -> None:
    types = {value for name, value in vars(events).items() if name.isupper() and isinstance(value, str)}

    assert sorted(types) == sorted(event["type"] for event in examples())
    assert len(code("json")) == len(types)


@pytest.mark.parametrize("secret", [SECRET, SECRET.removeprefix("whsec_"), "bm8gcGFkZGluZw"])
def test_the_signature_is_checked_as_shown(secret: str) -> None:
    scope: dict[str, Any] = {}
    exec(code("python")[0], scope)  # noqa: S102 - the lines that receivers are to copy
    verify: Callable[[str, dict[str, str], bytes], bool] = scope["verify"]
    headers = sign(read_secrets(secret), EVENT["id"], time.time_ns() // 1000, b"{}")
    late = sign(read_secrets(secret), EVENT["id"], 1_000_000, b"{}")

    assert verify(secret, headers, b"{}")
    assert not verify(secret, headers, b"{ }")
    assert not verify("YW5vdGhlcg==", headers, b"{}")
    assert not verify(secret, late, b"{}")


def test_the_steps_of_a_failed_delivery_are_those_that_are_told() -> None:
    told = re.search(r"sent again after (.*?), then every (.*?);", DOCUMENT, re.DOTALL)
    units = {"s": 1, "min": 60, "h": 3600}

    assert told is not None
    steps = [int(step.split()[0]) * units[step.split()[1]] for step in re.split(r",\s+", told[1])]
    assert steps == [step.total_seconds() for step in STEPS]
    assert told[2] == f"{int(LAST_STEP.total_seconds()) // 3600} h"
