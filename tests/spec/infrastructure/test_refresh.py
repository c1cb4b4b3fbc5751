from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.microsyntax import read_refresh
from tocsin.spec.links.metadata import Refresh, find_target, read_whole_refresh

PAGE = "https://a.example/dir/page"


@pytest.mark.parametrize(
    ("content", "seconds", "url"),
    [
        ("30", "30", None),
        (" 007 ;\n", "7", None),
        ("30,next", "30", "next"),
        ("30 next", "30", "next"),
        ("30; Url = next", "30", "next"),
        ("30;URL='ne\"xt' and more", "30", 'ne"xt'),
        ('30;url="next', "30", "next"),
        ("30;'next'", "30", "next"),
        ("30;url=", "30", ""),
        ("30;url=''", "30", ""),
        ("30;urn:x", "30", "urn:x"),
        ("30;url next", "30", "url next"),
        ("30; ;next", "30", ";next"),
        ("30.7.8;next", "30", "next"),
        (".9 , url=next", "0", "next"),
        ("30;url=url=next", "30", "url=next"),
    ],
)
def test_LM19_a_refresh_says_when_and_where_to(content: str, seconds: str, url: str | None) -> None:
    assert read_whole_refresh(content) == Refresh(seconds, url)


@pytest.mark.parametrize("content", ["", "soon", "-1", "+1;next", "30s", "30url=next", ";30", "\v30", "url=next;30"])
def test_LM19_what_does_not_begin_with_a_number_is_no_refresh(content: str) -> None:
    assert read_whole_refresh(content) is None


@given(st.text(st.sampled_from("0123456789.,; \t\v'\"=urlURL") | st.characters()))
def test_both_readings_agree_on_the_seconds(content: str) -> None:
    whole = read_whole_refresh(content)

    assert (whole and whole.seconds) == read_refresh(content)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (None, PAGE),
        ("", "https://b.example/base"),
        ("next", "https://b.example/next"),
        ("?\u00e9", "https://b.example/base?%E9"),
        ("JavaScript:alert(1)", None),
        ("http://[", None),
    ],
)
def test_a_refresh_loads_a_page_and_runs_nothing(url: str | None, target: str | None) -> None:
    assert find_target(Refresh("3", url), PAGE, "https://b.example/base", "windows-1252") == target


@pytest.mark.parametrize(("url", "target"), [(None, None), ("next", None), ("https://c.example", "https://c.example/")])
def test_a_refresh_of_a_page_of_unknown_address_loads_what_it_names_whole(url: str | None, target: str | None) -> None:
    assert find_target(Refresh("3", url), None, None) == target
