"""What is learnt to be noise over checks of whole pages, and what never is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.watching import FIRST, NEWS, SECOND, Watched
from tocsin.engine.judging.noise import HEARD_AT, MOST, MUTED_AT, WINDOW, learn, muted_keys, muted_signals, signal_place
from tocsin.model import Instant, PageKnowledge, PageNoise, SignalContext
from tocsin.spec.signals.fingerprint import ContentPlace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WORDS = (
    "anchor",
    "beacon",
    "compass",
    "dinghy",
    "ensign",
    "fender",
    "galley",
    "hawser",
    "inlet",
    "jetty",
    "keel",
    "lee",
)
CHECKS = len(WORDS)
TOLD, QUIET = "minor", "unchanged"


def sentence(word: str, number: int = 0) -> str:
    return f"Never sail without the {word}, said the old captain, who had seen all there is to see of it{'!' * number}."


def among_many(box: str, *, paragraphs: int = 12) -> bytes:
    """A page of many paragraphs, with a box in their midst."""
    lines = [f"<p>{sentence(f'{word} of the harbour')}</p>" for word in WORDS[:paragraphs]]
    half = len(lines) // 2
    inner = "".join([*lines[:half], box, *lines[half:]])
    return f"<!doctype html><title>The harbour</title><main><h1>The harbour and its boats</h1>{inner}</main>".encode()


def outcomes_of(bodies: Sequence[bytes]) -> list[str]:
    watched = Watched()
    return [str(watched.check(body).report.outcome) for body in bodies]


BOXES: dict[str, Callable[[int], str]] = {
    "a link": lambda n: f"<div><a href=/{n}>Read about the {WORDS[n]}</a></div>",
    "a quotation": lambda n: f"<blockquote>{sentence(WORDS[n])}</blockquote>",
    "a quotation with its author": lambda n: (
        f"<blockquote><p>{sentence(WORDS[n])}</p><cite>The {WORDS[n]}</cite></blockquote>"
    ),
    "a line with other words and another figure": lambda n: f"<div>Place {n * 7}: the {WORDS[n]}</div>",
    "a long line with other words and another figure": lambda n: (
        f"<p><a href=/>Place {n * 7}: {sentence(WORDS[n])}</a></p>"
    ),
    "one entry of a list": lambda n: (
        f"<ul><li>Anna</li><li>Ben</li><li>The {WORDS[n]}</li><li>Cleo</li><li>Dan</li></ul>"
    ),
    "a quotation and a link elsewhere": lambda n: (
        f"<blockquote>{sentence(WORDS[n])}</blockquote><p>{FIRST}</p><p>{SECOND}</p><div><a href=/>{WORDS[n]}</a></div>"
    ),
    "entries with a date": lambda n: (
        f"<div><p>{n + 1} June: {WORDS[n]}</p><p>{n + 2} May: the {WORDS[n - 1]}</p></div>"
    ),
    "all entries of a list": lambda n: (
        f"<ul><li>{WORDS[n]}</li><li>{WORDS[n - 1]}s</li><li>{WORDS[n - 2]} too</li></ul>"
    ),
}


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("shown", [range(CHECKS), (0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7)], ids=["each", "two of three"])
def test_a_box_that_shows_another_one_of_a_set_is_told_three_times(name: str, shown: Sequence[int]) -> None:
    found = outcomes_of([among_many(BOXES[name](number)) for number in shown])

    third = [number for number, (one, other) in enumerate(pairwise(shown), 1) if one != other][2]
    assert found.count(TOLD) == 3
    assert set(found[third + 1 :]) == {QUIET}


EDITS: dict[str, Callable[[int], bytes]] = {
    "new entries at the top of a list": lambda n: among_many(
        f"<ul>{''.join(f'<li>The {word}</li>' for word in WORDS[n::-1])}</ul>"
    ),
    "a teaser of a heading and a sentence": lambda n: among_many(
        f"<div><h3>The {WORDS[n]}</h3><p>{sentence(WORDS[n])}</p></div>"
    ),
    "a linked teaser": lambda n: among_many(f"<div><a href=/{n}>{sentence(WORDS[n])}</a></div>"),
    "two sentences at a time": lambda n: among_many(
        f"<p>{sentence(WORDS[n])}</p><h3>Beside</h3><p>{sentence(WORDS[n], 1)}</p>"
    ),
    "a sentence of a page of few": lambda n: among_many(f"<p>{sentence(WORDS[n])}</p>", paragraphs=4),
    "sentences of many positions": lambda n: among_many("").replace(WORDS[n].encode(), b"other " + WORDS[n].encode()),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_at_each_check_is_told_each_time(name: str) -> None:
    found = outcomes_of([EDITS[name](number) for number in range(CHECKS)])

    assert found[1:] == [TOLD] * (CHECKS - 1)


def test_an_edit_beside_a_muted_box_is_told() -> None:
    watched = Watched()
    for number in range(6):
        watched.check(among_many(BOXES["a quotation"](number)))

    result = watched.check(among_many(BOXES["a quotation"](6)).replace(b"</main>", f"<p>{NEWS}</p></main>".encode()))

    assert result.report.outcome == TOLD
    assert result.verdict is not None
    assert "1 new of" in result.verdict.data["trace"][-1]["why"]


def test_a_muted_box_that_rests_is_heard_again() -> None:
    watched = Watched()
    for number in range(6):
        watched.check(among_many(BOXES["a quotation"](number)))
    for number in range(8):
        # Other bytes, so that the page is read.
        watched.check(among_many(BOXES["a quotation"](6)) + f"<!-- {number} -->".encode())

    assert watched.check(among_many(BOXES["a quotation"](7))).report.outcome == TOLD


def test_a_muted_position_is_named_to_the_user() -> None:
    watched = Watched()
    for number in range(4):
        result = watched.check(among_many(BOXES["a quotation"](number)))

    assert result.learnt.known is not None
    assert [each.what for each in result.learnt.known.noise if each.since is not None] == [
        f"text: “{sentence(WORDS[3])[:60]}”"
    ]


def test_versions_of_a_page_are_the_same_but_for_its_muted_positions() -> None:
    watched = Watched()
    for number in range(5):
        watched.check(among_many(BOXES["a quotation"](number)))
    pages = (FIRST, SECOND)

    found = [
        watched.check(among_many(f"{BOXES['a quotation'](5 + n)}<p>{pages[n % 2]}</p>")).report.outcome
        for n in range(5)
    ]

    # There, back, and then only counted.
    assert found == [TOLD, TOLD, TOLD, QUIET, QUIET]


HOUR, DAY, WEEK = 3_600_000_000, 86_400_000_000, 604_800_000_000
COUNTER = ContentPlace(7, "p.counter: 12 visitors")
TEASER = ContentPlace(8, "aside: read also")


def known_of(noise: tuple[PageNoise, ...], learnt_at: Instant = 0) -> PageKnowledge:
    return PageKnowledge("1", {}, noise=noise, learnt_at=learnt_at)


def taught(*readings: tuple[ContentPlace, ...]) -> tuple[PageNoise, ...]:
    noise: tuple[PageNoise, ...] = ()
    for at, differing in enumerate(readings, 1):
        noise = learn(known_of(noise, at - 1), differing, at)
    return noise


def seen(checks: str, *, every: Instant = DAY) -> tuple[PageNoise, ...]:
    """What is learnt of checks: the place differs (x), or does not (-), or the bytes are equal and not read (=)."""
    noise: tuple[PageNoise, ...] = ()
    learnt_at = 0
    for number, found in enumerate(checks, 1):
        if found != "=":
            noise = learn(
                known_of(noise, learnt_at), (COUNTER,) if found == "x" else (), number * every, (number - 1) * every
            )
            learnt_at = number * every
    return noise


def muted(noise: tuple[PageNoise, ...]) -> list[int]:
    return [each.key for each in noise if each.since is not None]


@pytest.mark.parametrize(
    ("checks", "is_muted"),
    [
        ("xx", False),
        ("xxx", True),
        ("xx-x", True),
        ("x-x--x-", True),
        ("x--x--x", True),
        ("xx------x", False),
        ("x---x---x", False),
        ("xx=x", True),
        ("x==x==x", True),
        ("x===x===x", False),
        ("xx======x", False),
    ],
)
def test_what_differs_in_three_of_the_last_seven_checks_is_muted_from_then_on(checks: str, *, is_muted: bool) -> None:
    assert bool(muted(seen(checks))) is is_muted


@pytest.mark.parametrize(("checks", "is_muted"), [("xxx", True), ("xx-x", False), ("x-x-x-x", False)])
def test_of_checks_weeks_apart_only_changes_in_a_row_make_noise(checks: str, *, is_muted: bool) -> None:
    assert bool(muted(seen(checks, every=4 * WEEK))) is is_muted


def test_a_muted_place_remembers_since_when_and_how_often_it_changed() -> None:
    assert taught(*[(COUNTER,)] * 4) == (PageNoise(7, COUNTER.what, 4, 0, since=MUTED_AT, at=4, recent=0b1111),)


def test_what_has_not_changed_in_the_last_seven_checks_is_forgotten() -> None:
    assert seen("x" + "-" * (WINDOW - 1)) != ()
    assert seen("x" + "-" * WINDOW) == ()


def test_a_muted_place_stays_muted_while_it_rests_a_little() -> None:
    noise = taught(*[(COUNTER,)] * MUTED_AT, *[()] * (HEARD_AT - 1))

    assert muted(noise) == [7]


def test_a_muted_place_that_has_become_quiet_is_heard_again() -> None:
    assert taught(*[(COUNTER,)] * MUTED_AT, *[()] * HEARD_AT) == ()


def test_each_place_is_learnt_by_itself() -> None:
    noise = taught((COUNTER, TEASER), (COUNTER,), (COUNTER, TEASER))

    assert [(each.key, each.changes) for each in noise] == [(7, 3), (8, 2)]


def test_what_the_user_wants_to_hear_is_not_muted_whoever_muted_it() -> None:
    known = PageKnowledge("1", {}, noise=(PageNoise(7, "", 3, 0, 1), PageNoise(8, "", 2)))

    assert muted_keys(SignalContext(known, host_muted=(9, 10))) == {7, 9, 10}
    assert muted_keys(SignalContext(known, heard=(7, 9), host_muted=(9, 10))) == {10}
    assert muted_keys(None) == frozenset()


def test_a_signal_is_muted_by_its_own_key() -> None:
    keys = {signal_place("json-ld.modified").key}

    assert muted_signals(("json-ld.modified", "json-ld.version"), keys) == {"json-ld.modified"}


def test_a_change_after_checks_that_found_the_same_bytes_is_not_in_a_row() -> None:
    noise: tuple[PageNoise, ...] = ()
    for week in range(1, 9):
        # Each hour the page was checked, and its bytes were the same; once a week its price changes.
        known = known_of(noise, (week - 1) * WEEK)
        noise = learn(known, (COUNTER,), week * WEEK, checked_before=week * WEEK - HOUR)

    assert noise == (PageNoise(7, COUNTER.what, 1, at=8 * WEEK, recent=1),)


def test_a_place_that_differs_at_each_check_is_in_a_row() -> None:
    noise: tuple[PageNoise, ...] = ()
    for hour in range(1, MUTED_AT + 1):
        known = known_of(noise, (hour - 1) * HOUR + 5)
        noise = learn(known, (COUNTER,), hour * HOUR + 5, checked_before=(hour - 1) * HOUR)

    assert muted(noise) == [7]


def test_what_was_muted_and_has_not_changed_for_a_month_is_heard_again_at_once() -> None:
    known = known_of((PageNoise(7, "", 3, 0, since=0, at=0, recent=7),))
    beside = SignalContext(known)

    assert muted_keys(beside, 29 * DAY) == {7}
    assert muted_keys(beside, 31 * DAY) == set()
    assert muted(learn(known, (COUNTER,), 31 * DAY, 30 * DAY)) == []


@given(st.lists(st.lists(st.integers(0, 200).map(lambda key: ContentPlace(key, "")), max_size=150), max_size=8))
def test_what_is_remembered_of_a_page_is_bounded(readings: list[list[ContentPlace]]) -> None:
    noise = taught(*map(tuple, readings))

    assert len(noise) <= MOST
    assert len({each.key for each in noise}) == len(noise)


def test_a_place_whose_text_is_gone_keeps_the_words_that_stood_there() -> None:
    gone = ContentPlace(COUNTER.key, "text, gone")

    assert [each.what for each in taught((COUNTER,), (gone,))] == [COUNTER.what]
