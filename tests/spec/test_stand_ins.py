"""Which answers are another page in the watched page's place, where the content before is known."""

from __future__ import annotations

import pytest

from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.signals.content import compare_contents, read_content
from tocsin.spec.signals.fingerprint import Content
from tocsin.spec.stand_ins import ComparedContents, find_stand_in
from tocsin.spec.suspicion.kinds import Suspicion

_TOP = """<header><a href=/>Rose &amp; Spade</a></header>
<nav><ul><li><a href=/a>Guides</a><li><a href=/b>Plants</a><li><a href=/c>Tools for every season</a></ul></nav>"""
_FOOT = """<footer><p>Written by gardeners in three countries.</p>
<p><a href=/i>Imprint</a> <a href=/p>Privacy</a></p></footer>"""
_LONG = "".join(
    f"<p>Of the {n} roses that we planted in year {n}, most are still there, and {n} of them flower until autumn.</p>"
    for n in range(100, 130)
)
_LIST = "".join(f"<li>Gardener in town {n}: thirty hours a week, from spring on.</li>" for n in range(40))
_SORRY = "<p>Níor éirigh linn an leathanach a thaispeáint.</p>"


def _page(body: str, *, title: str = "Roses", framed: bool = True) -> str:
    top, foot = (_TOP, _FOOT) if framed else ("", "")
    return f"<!doctype html><html lang=en><title>{title}</title><body>{top}<main>{body}</main>{foot}</html>"


def _read(text: str) -> tuple[Whole, Content]:
    whole = parse_whole(text.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return whole, read_content(whole, "", "")


def find(old: str, new: str) -> Suspicion | None:
    (_, before), (whole, latest) = _read(old), _read(new)
    change = compare_contents(before.fingerprint, latest)
    contents = ComparedContents(before.fingerprint, latest, change)
    return find_stand_in(whole, body=new.encode(), url="", final_url="", contents=contents)


_GONE = {
    "nothing at all came": " ",
    "an empty body": "<!doctype html><title>Roses</title><body></body>",
    "its frame without its text": _page("<h1>Roses</h1>"),
    "a sentence in no language that is known": _page(_SORRY, title="x", framed=False),
    "a sentence under its title": _page(_SORRY, framed=False),
    "a sentence under another title in its frame": _page(_SORRY, title="Earráid"),
    "some sentences of another site": _page(_SORRY * 5, title="x", framed=False),
}


@pytest.mark.parametrize("name", _GONE)
def test_what_is_empty_or_says_little_where_a_long_page_was_is_a_suspect_whatever_it_says(name: str) -> None:
    found = find(_page(f"<h1>Roses</h1>{_LONG}"), _GONE[name])

    assert found is not None
    assert found.kind == "empty"


_EDITS = {
    "a list that is empty, and says so": (
        _page(f"<ul>{_LIST}</ul>"),
        _page("<p>There are no vacancies at present.</p>"),
    ),
    "a page that was cut to its introduction": (
        _page(f"<p>All our vacancies. We answer every letter within a week.</p><ul>{_LIST}</ul>"),
        _page("<p>All our vacancies. We answer every letter within a week, and we like to meet you before that.</p>"),
    ),
    "a page that was short": (_page("<p>Opened at nine, closed at five.</p>"), _page(_SORRY, title="x", framed=False)),
    "half of a page": (_page(_LONG), _page(_LONG[: len(_LONG) // 2], title="x", framed=False)),
    "a page that was written anew, at a new design": (_page(_LONG), _page(f"<p>{'Tulips. ' * 120}</p>", title="x")),
}


@pytest.mark.parametrize("name", _EDITS)
def test_what_its_author_may_have_done_is_an_edit(name: str) -> None:
    assert find(*_EDITS[name]) is None


def test_the_evidence_says_how_much_is_left() -> None:
    found = find(_page(_LONG), _page(_SORRY, title="Earráid"))

    assert found is not None
    assert found.evidence == "51 of 3065 letters are left; its title changed"


def test_a_page_that_is_known_is_believed_where_most_of_it_is_as_before() -> None:
    login = "<h1>Log in</h1><form><input name=u><input type=password name=p></form><p>{}</p>"

    assert (
        find(_page(login.format("Write to us."), title="Log in"), _page(login.format("Call."), title="Log in")) is None
    )
    assert find(_page(_LONG), _page(login.format("Call."), title="Log in")) is not None
