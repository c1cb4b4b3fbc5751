"""Pickers of digests and quiet hours: settings as a form has them, and as sentences."""

from __future__ import annotations

import pytest

from tests.server.web.test_notifications import ROUTE, channel, text_of
from tests.server.web.visiting import Visitor, tree
from tocsin.server.web.week_picker import (
    DigestChoice,
    QuietRow,
    read_digest,
    read_quiet,
    tell_digest,
    tell_quiet,
    write_digest,
    write_quiet,
)

WORKDAYS = ("mon", "tue", "wed", "thu", "fri")


@pytest.mark.parametrize(
    ("digest", "choice", "said"),
    [
        ("", DigestChoice("once"), "at once"),
        ("1h30m", DigestChoice("wait", wait="1h30m"), "one digest 1h30m after its first alert"),
        (
            "0 8 * * mon-fri",
            DigestChoice("times", days=WORKDAYS, times=("08:00",)),
            "one digest each weekday at 08:00 Europe/Berlin",
        ),
        ("0 7 * * *", DigestChoice("times", times=("07:00",)), "one digest each day at 07:00 Europe/Berlin"),
        (
            "30 8,17 * * sat,sun",
            DigestChoice("times", days=("sat", "sun"), times=("08:30", "17:30")),
            "one digest each Saturday and Sunday at 08:30 and 17:30 Europe/Berlin",
        ),
        (
            "0,30 8 * * mon,wed,fri",
            DigestChoice("times", days=("mon", "wed", "fri"), times=("08:00", "08:30")),
            "one digest each Monday, Wednesday and Friday at 08:00 and 08:30 Europe/Berlin",
        ),
        (
            "0 7 1 * *",
            DigestChoice("cron", cron="0 7 1 * *"),
            "one digest at the times of 0 7 1 * * Europe/Berlin",
        ),
        (
            "*/5 * * * *",
            DigestChoice("cron", cron="*/5 * * * *"),
            "one digest at the times of */5 * * * * Europe/Berlin",
        ),
    ],
)
def test_a_digest_is_read_written_and_told(digest: str, choice: DigestChoice, said: str) -> None:
    assert read_digest(digest) == choice
    assert write_digest(choice) == digest
    assert tell_digest(digest, (), "Europe/Berlin") == said


@pytest.mark.parametrize(
    ("digest", "same"),
    [("0 8 * * 1-5", "0 8 * * mon-fri"), ("0 9 * * 0", "0 9 * * sun"), ("5 8-10 * * 6,7", "5 8,9,10 * * sat,sun")],
)
def test_cron_that_says_the_same_otherwise_is_shown_as_days_and_times(digest: str, same: str) -> None:
    assert write_digest(read_digest(digest)) == same


@pytest.mark.parametrize(
    ("choice", "mend"),
    [
        (DigestChoice("times", times=("08:00", "17:30")), "share their minutes"),
        (DigestChoice("times"), "give one, such as 08:00"),
        (DigestChoice("times", times=("25:00",)), "allowed is a time"),
        (DigestChoice("wait"), "nothing is filled in"),
    ],
)
def test_what_a_digest_cannot_be_says_the_mend(choice: DigestChoice, mend: str) -> None:
    with pytest.raises(ValueError, match=mend):
        write_digest(choice)


@pytest.mark.parametrize(
    ("quiet", "rows", "said"),
    [
        (["22:00-07:00"], (QuietRow((), "22:00", "07:00"),), "between 22:00 and 07:00"),
        (["sat,sun"], (QuietRow(("sat", "sun")),), "on Saturdays and Sundays"),
        (
            ["mon-fri 18:00-24:00", "sun"],
            (QuietRow(WORKDAYS, "18:00", "24:00"), QuietRow(("sun",))),
            "on weekdays between 18:00 and 24:00, or on Sundays",
        ),
    ],
)
def test_quiet_hours_are_read_written_and_told(quiet: list[str], rows: tuple[QuietRow, ...], said: str) -> None:
    assert read_quiet(quiet) == rows
    assert write_quiet(rows) == quiet
    assert tell_quiet(quiet) == said


def test_days_with_the_same_times_share_a_line() -> None:
    assert read_quiet(["sat", "sun"]) == (QuietRow(("sat", "sun")),)


def test_a_line_without_its_end_is_refused() -> None:
    with pytest.raises(ValueError, match="both, or none"):
        write_quiet([QuietRow((), "22:00", "")])


PICKED = ROUTE | {
    "when": "times", "digest-days": list(WORKDAYS), "digest-at": ["08:00", "", ""],
    "quiet-days-0": ["sat", "sun"], "quiet-from-1": "22:00", "quiet-to-1": "07:00",
}  # fmt: skip


async def test_a_route_is_made_with_the_pickers_and_they_show_it_again(visitor: Visitor) -> None:
    await channel(visitor)

    preview = await visitor.post("/notifications/route", **PICKED | {"do": "preview"})
    await visitor.done("/notifications/route", **PICKED)

    (sentence,) = tree(preview.text).xpath("//*[@id='sentence']/text()")
    assert sentence.startswith("One digest each weekday at 08:00 UTC, the next on ")
    assert sentence.endswith(
        "Nothing is sent on Saturdays and Sundays, or between 22:00 and 07:00: it is sent afterwards."
    )
    settings = (await visitor.store.saved()).routes[0].settings
    assert (settings["digest"], settings["quiet"]) == ("0 8 * * mon-fri", ["sat,sun", "22:00-07:00"])
    form = tree(await visitor.get("/notifications/route?name=press"))
    assert form.xpath("//input[@name='digest-days'][@checked]/@value") == list(WORKDAYS)
    assert form.xpath("//input[@name='digest-at']/@value") == ["08:00", "", ""]
    assert form.xpath("//input[@name='quiet-days-0'][@checked]/@value") == ["sat", "sun"]
    # An empty line is there for a further time.
    assert form.xpath("//input[starts-with(@name, 'quiet-from-')]/@value") == ["", "22:00", ""]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"digest-at": ["08:00", "17:30"]}, "share their minutes"),
        ({"quiet-to-1": ""}, "both, or none"),
        ({"when": "cron", "digest": "soon"}, "cron expression"),
        ({"quiet-days-0": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}, "all of the week"),
    ],
)
async def test_a_mistake_in_a_picker_is_said_and_what_was_picked_stays(
    visitor: Visitor, change: dict[str, str], words: str
) -> None:
    await channel(visitor)

    answer = await visitor.post("/notifications/route", **PICKED | change)

    assert answer.status_code == 422
    assert words in text_of(answer.text)
    assert 'value="22:00"' in answer.text
