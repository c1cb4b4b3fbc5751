from __future__ import annotations

import pytest

from tocsin.spec.html.document import find_landmarks


@pytest.mark.parametrize("name", ["<meta>", "<META/", "<mEtA ", "<meta\t", "<meta\n", "<meta\f", "<meta\r"])
def test_the_last_meta_element_is_found_whatever_follows_its_name(name: str) -> None:
    body = f"<meta>x{name}".encode()

    assert find_landmarks(body) == (7, -1)


@pytest.mark.parametrize("other", ["<metas", "<metal>", "<meta\0", "<meta", "<metas" * 8, "</meta>"])
def test_what_only_begins_as_a_meta_element_does_is_none(other: str) -> None:
    assert find_landmarks(f"<p><meta>{other}".encode()) == (3, -1)
    assert find_landmarks(other.encode()) == (-1, -1)


def test_of_many_names_that_begin_so_only_the_last_are_looked_at() -> None:
    assert find_landmarks(b"<meta>" + b"<metas" * 100) == (6 + 91 * 6, -1)


def test_the_last_frameset_is_found_wherever_it_stands() -> None:
    assert find_landmarks(b"<frameset><meta><FrameSets") == (10, 16)
