from __future__ import annotations

import asyncio

import pytest

from tests.fakes import RecordingTelemetry
from tocsin.engine.visiting.visit import contained
from tocsin.errors import FetchFailed, FetchRefused, StaleClaim

URL = "https://example.org/a"


def test_an_unforeseen_error_is_the_failure_of_its_page() -> None:
    telemetry = RecordingTelemetry()

    with pytest.raises(FetchRefused, match="ZeroDivisionError") as caught, contained(7, URL, telemetry):
        _ = 1 // 0

    assert (caught.value.url, caught.value.kind) == (URL, "crashed")
    (told,) = telemetry.happenings
    assert (told.level, told.values["page_id"]) == ("error", 7)
    assert "test_containment.py" in told.values["where"][-1]


@pytest.mark.parametrize(
    "error", [FetchFailed(URL, "connect", "refused"), StaleClaim("lost"), asyncio.CancelledError(), KeyboardInterrupt()]
)
def test_what_is_raised_on_purpose_passes_through(error: BaseException) -> None:
    telemetry = RecordingTelemetry()

    with pytest.raises(type(error)) as caught, contained(7, URL, telemetry):
        raise error

    assert caught.value is error
    assert telemetry.happenings == []
