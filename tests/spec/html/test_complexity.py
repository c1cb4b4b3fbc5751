"""Formatting elements that are opened again and again are refused, whatever is closed in between."""

from __future__ import annotations

import pytest

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import refuse_reopening

_OPEN = "".join(f"<i class=c{number}>" for number in range(200))


@pytest.mark.parametrize("closed", ["", "<b>x</b>", "<b class='a'>x</b>", "<B id=x>y</B >", '<em title="a">x</em>'])
def test_CI08_what_is_closed_at_once_hides_nothing_that_is_not(closed: str) -> None:
    page = _OPEN + f"{closed}<p>" * 5000

    with pytest.raises(TooComplex, match="formatting"):
        refuse_reopening(page.encode())


@pytest.mark.parametrize("html", ["<b itemprop=a>x</b>", "<b itemprop='a'>x</b> <i>y</i>", "<B>x</B><p>"])
def test_CI08_what_is_closed_at_once_is_never_too_much(html: str) -> None:
    refuse_reopening((html * 50_000).encode())
