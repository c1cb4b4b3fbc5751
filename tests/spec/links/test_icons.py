from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.links.links import ANY, Icon, Size, rank_icons, read_sizes


def ranked(*icons: Icon, wanted: int = 32) -> str:
    return "".join(icon.url for icon in rank_icons(icons, wanted))


def test_LK25_sizes_are_read_in_order() -> None:
    assert read_sizes("64x32\tany 1X2") == [Size(64, 32), ANY, Size(1, 2)]


@pytest.mark.parametrize("bad", ["064x64", "64x064", "64x", "x64", "64", "1x2x3", "0x0", "-1x1", "\u0661x1", "big"])
def test_LK25_what_represents_nothing_is_left_out(bad: str) -> None:
    assert read_sizes(f"16x16 {bad} any") == [Size(16, 16), ANY]


def test_a_number_of_any_length_is_harmless() -> None:
    assert read_sizes("9" * 10_000 + "x1") == []


@given(st.text())
def test_no_sizes_raise(sizes: str) -> None:
    read_sizes(sizes)


def test_LK24_of_equal_icons_the_last_comes_first() -> None:
    assert ranked(Icon("a"), Icon("b"), Icon("c")) == "cba"


def test_LK24_the_nearest_size_that_need_not_grow_comes_first() -> None:
    icons = (
        Icon("a", sizes="16x16 24x24"),
        Icon("b", sizes="512x512"),
        Icon("c", sizes="48x48"),
        Icon("d", sizes="any"),
    )

    assert ranked(*icons) == "cbda"
    assert ranked(*icons, wanted=16) == "acbd"


def test_LK24_an_unknown_size_comes_after_a_fitting_one_and_before_a_small_one() -> None:
    assert ranked(Icon("a"), Icon("b", sizes="16x16"), Icon("c", sizes="any"), Icon("d", sizes="?")) == "cabd"


def test_LK24_an_icon_for_another_medium_or_of_no_image_comes_late() -> None:
    icons = (Icon("a", media_type="text/plain", sizes="32x32"), Icon("b", media="print", sizes="32x32"), Icon("c"))

    assert ranked(*icons, Icon("d", media_type="image/png", media="Screen")) == "dcba"
