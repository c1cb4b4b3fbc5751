from __future__ import annotations

import pytest

from tocsin.spec.links.copies import may_name_copies


@pytest.mark.parametrize(
    "sign",
    ["mset=''", "MSET\n = x", "rel=x/mset=", 'rel="x"mset=""', "rel=memento", "rel='TimeMap'", "rel=original timemap"],
)
@pytest.mark.parametrize("encoding", ["ascii", "utf-16-le", "utf-16-be"])
def test_a_page_with_a_sign_of_copies_is_looked_into_in_any_case_and_encoding(sign: str, encoding: str) -> None:
    assert may_name_copies(f"<p>members only</p><a href=/ {sign}>".encode(encoding))


@pytest.mark.parametrize(
    "text",
    ["", "<a href=/>members remember</a>", "<a href=/ rel=original>time map</a>", "\0", "Umsetzung", "formset ="],
)
def test_a_page_without_a_sign_of_copies_is_not_looked_into(text: str) -> None:
    assert not may_name_copies(text.encode())
