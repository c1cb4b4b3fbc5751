from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import SeededChance
from tocsin.engine.judging.trial import TextOutcomes, judge_texts
from tocsin.settings import PageSettings

DAY = 86_400_000_000
LINES = (
    "Agenda of the council",
    "Meeting of the council: Friday, 18:30, in the large hall of the old town hall",
    "Menu of the day: soup of leek and bread, for guests of the town",
    *(f"Item {name}: a paragraph about the {name} that stays as it is" for name in ("bridge", "park", "school")),
)
MENU, MEETING = LINES[2], LINES[1]


def texts(*changes: tuple[str, str]) -> list[tuple[int, str]]:
    """A text a day; each change replaces a line of the text before."""
    found = ["\n".join(LINES)]
    for before, after in changes:
        found.append(found[-1].replace(before, after))
    return [(number * DAY, text) for number, text in enumerate(found)]


SOUPS = texts(("leek", "lentils"), ("lentils", "mushrooms"), ("Friday", "Monday"))


def judged(left_out: tuple[str, ...] = (), **settings: Any) -> TextOutcomes:
    return judge_texts(SOUPS, left_out, "https://a.example/", PageSettings(**settings), SeededChance())


@pytest.mark.parametrize(
    ("left_out", "settings", "outcomes"),
    [
        pytest.param((), {}, (0, 3), id="each text that differs is a change"),
        pytest.param((), {"signal_rules": ("content: major",)}, (3, 0), id="by the rules of the settings"),
        pytest.param((), {"signals": "none"}, (0, 0), id="none where content does not count"),
        pytest.param((SOUPS[-1][1].split("\n")[2],), {}, (0, 1), id="a line is left out with what was in its place"),
        pytest.param(("Something else",), {}, (0, 3), id="what no text has leaves nothing out"),
        pytest.param((), {"look_at": "#none", "ignore": "p"}, (0, 3), id="a text has no markup for selectors"),
        pytest.param((), {"mode": "off"}, (0, 3), id="as if the page were checked"),
    ],
)
def test_kept_texts_are_judged_by_the_settings_on_trial(
    left_out: tuple[str, ...], settings: dict[str, Any], outcomes: tuple[int, int]
) -> None:
    assert judged(left_out, **settings) == TextOutcomes(*outcomes)


def test_a_line_that_is_left_out_is_recognised_whatever_its_figures_are() -> None:
    numbers = texts(("18:30", "19:30"), ("19:30", "20:00"))
    judge = [
        judge_texts(numbers, out, "https://a.example/", PageSettings(), SeededChance()) for out in ((), (MEETING,))
    ]

    assert [each.minor for each in judge] == [2, 0]


def test_texts_of_any_letters_are_judged() -> None:
    odd = [(0, "<script>&amp;\ud800"), (DAY, ""), (2 * DAY, "</p>" * 300_000)]

    assert judge_texts(odd, ("\n",), "https://a.example/", PageSettings(), SeededChance()).major == 0
