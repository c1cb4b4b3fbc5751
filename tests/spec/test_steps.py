"""Steps of a page are data: what can be written, what is refused, and the mend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.whole import check_selector
from tocsin.spec.steps import (
    KEYS,
    LONGEST_STEP,
    MOST_STEPS,
    ReadyRule,
    Step,
    find_login,
    read_ready,
    read_steps,
    secrets_of,
    split_steps,
)


def _read(*texts: str) -> tuple[Step, ...]:
    return read_steps(texts, check_selector)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("click .more", Step("click .more", "click", selector=".more")),
        ("click ul > li:first-child a, .more", Step("", "click", selector="ul > li:first-child a, .more")),
        ("  hide   #banner  ", Step("hide   #banner", "hide", selector="#banner")),
        ("fill form input[name=user] USER", Step("", "fill", selector="form input[name=user]", secret="USER")),
        (
            "fill #password PASSWORD at https://Login.example.org/",
            Step("", "fill", selector="#password", secret="PASSWORD", origin="https://login.example.org"),
        ),
        ("press Enter", Step("", "press", key="Enter")),
        ("wait main .price", Step("", "wait", selector="main .price")),
        ("wait 2s", Step("", "wait", seconds=2.0)),
        ("wait 300ms", Step("", "wait", seconds=0.3)),
        ("wait 1.5s", Step("", "wait", seconds=1.5)),
        ("scroll", Step("", "scroll")),
    ],
)
def test_a_step_is_read_from_one_line(text: str, step: Step) -> None:
    (found,) = _read(text)

    assert found == Step(text.strip(), *[getattr(step, name) for name in Step.__struct_fields__[1:]])


@pytest.mark.parametrize(
    ("text", "column", "mend"),
    [
        ("klick .more", 1, "write one of: click SELECTOR"),
        ("", 1, "write one of: click SELECTOR"),
        ("  javascript:alert(1)", 3, "is no step"),
        ("click", 6, "a selector is missing; write click SELECTOR"),
        ("hide a[", 6, '"a\\[" is no CSS selector'),
        ("click >> text=More", 7, "is no CSS selector"),
        ("click //button", 7, "is no CSS selector"),
        ("fill #user", 11, "the name of a secret is missing; write fill SELECTOR NAME"),
        ("fill #user p,w", 12, "cannot name a secret, write a name of letters"),
        ("fill a[ USER", 6, "is no CSS selector"),
        ("fill #p P at ftp://example.org", 14, "is no origin"),
        ("fill #p P at https://example.org/login", 14, "write https://example.org"),
        ("fill #p P at https://me@example.org", 14, "write https://example.org"),
        ("press Return", 7, "write one of Enter"),
        ("press Control+W", 7, "is no key"),
        ("press", 6, "nothing is no key"),
        ("wait 61s", 6, "at most 60s"),
        ("wait 0s", 6, "at most 60s"),
        ("wait 2h", 6, "at most 60s, such as 2s"),
        ("wait 5", 6, "at most 60s, such as 2s"),
        ("wait", 5, "write wait SELECTOR, or wait 2s"),
        ("scroll 300", 8, "nothing follows scroll"),
        ("click a\nclick b", 8, "in one line"),
        ("click " + "a" * LONGEST_STEP, LONGEST_STEP + 1, f"at most {LONGEST_STEP} characters"),
    ],
)
def test_a_step_that_cannot_be_read_is_refused_with_its_number_its_column_and_the_mend(
    text: str, column: int, mend: str
) -> None:
    with pytest.raises(ValueError, match=f"^step 2, column {column}: .*{mend}"):
        _read("scroll", text)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("click .more, wait #list", ["click .more", "wait #list"]),
        ("click a, .more,scroll", ["click a, .more", "scroll"]),
        ("\n click .more\r\n\r\nwait 2s \n", ["click .more", "wait 2s"]),
        ("hide .clicked, .waiting", ["hide .clicked, .waiting"]),
        ("", []),
    ],
)
def test_steps_in_one_text_are_split_where_a_step_begins(text: str, steps: list[str]) -> None:
    assert split_steps(text) == steps


def test_a_value_in_the_place_of_a_name_is_not_repeated() -> None:
    with pytest.raises(ValueError, match="--secret NAME=VALUE") as caught:
        _read("fill #password p4ss!word")

    assert "p4ss" not in str(caught.value)


def test_a_page_has_at_most_twenty_steps() -> None:
    assert len(_read(*["scroll"] * MOST_STEPS)) == MOST_STEPS
    with pytest.raises(ValueError, match="21 steps; at most 20"):
        _read(*["scroll"] * (MOST_STEPS + 1))


@pytest.mark.parametrize("key", KEYS)
def test_each_key_of_the_list_can_be_pressed(key: str) -> None:
    assert _read(f"press {key}")[0].key == key


@given(st.text())
def test_any_text_is_a_step_or_is_refused(text: str) -> None:
    try:
        (found,) = _read(text)
    except ValueError as exc:
        assert str(exc).startswith("step 1, column ")  # noqa: PT017 - either of the two
    else:
        assert found.text == text.strip()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("network", ReadyRule("network")),
        ("dom", ReadyRule("dom")),
        ("css: main .price", ReadyRule("css", selector="main .price")),
        ("css:main", ReadyRule("css", selector="main")),
        ("3s", ReadyRule("time", seconds=3.0)),
        ("500ms", ReadyRule("time", seconds=0.5)),
    ],
)
def test_when_a_page_is_ready_is_read(text: str, rule: ReadyRule) -> None:
    assert read_ready(text, check_selector) == rule


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("load", "network"),
        ("", "network"),
        ("3", "such as"),
        ("css:", "css: main"),
        ("css: a[", "a\\["),
        ("2m", "60s"),
        ("0s", "60s"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused_with_the_mend(text: str, mend: str) -> None:
    with pytest.raises(ValueError, match=mend):
        read_ready(text, check_selector)


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        (["click .more", "scroll"], 0),
        (["fill #u U", "fill #p P", "click #go", "wait main"], 3),
        (["click .login", "fill #u U", "press Enter", "fill #p P", "wait 1s", "press Enter", "click .more"], 6),
        (["fill #u U", "wait main"], 1),
    ],
)
def test_a_login_ends_with_the_click_or_key_behind_the_last_field(steps: list[str], number: int) -> None:
    assert find_login(_read(*steps)) == number


def test_the_secrets_of_steps_are_named_once_each() -> None:
    assert secrets_of(_read("fill #a USER", "fill #b PASSWORD", "fill #c USER", "scroll")) == ("USER", "PASSWORD")
