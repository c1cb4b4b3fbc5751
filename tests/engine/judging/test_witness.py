"""How a change is known: its basis, and the witness of one that is contradicted."""

from __future__ import annotations

import pytest

from tests.engine.watching import FIRST, NEWS, SECOND, THIRD, Watched, json_ld, page
from tocsin.model import CheckResult, Witness, to_rfc3339

EDITED = (FIRST, SECOND, THIRD, NEWS)
MODIFIED = '<meta name="dcterms.modified" content="2026-11-02">'


def said(result: CheckResult) -> tuple[str, str | None, str | None]:
    return result.report.outcome, result.report.basis, result.report.rule


def test_a_page_that_declares_nothing_is_never_declared() -> None:
    watched = Watched()

    first, same, other_bytes = (watched.check(body) for body in (page(), page(), page() + b"<!-- other -->"))

    assert [said(each) for each in (first, same, other_bytes)] == [
        ("first", None, "T40"),
        ("unchanged", None, "T42"),
        ("unchanged", None, "T42"),
    ]


def test_a_page_that_declares_something_is_declared_when_it_is_unchanged() -> None:
    watched = Watched()

    assert [said(watched.check(page(head=MODIFIED)))[1] for _ in range(2)] == ["declared", "declared"]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("json-ld.modified", json_ld(dateModified="2026-11-02")),
        (
            "dcterms.modified",
            MODIFIED + json_ld(dateModified="2026-11-02"),
        ),
    ],
)
def test_a_change_that_its_declarations_contradict_names_the_one_that_stayed_and_since_when(
    name: str, head: str
) -> None:
    watched = Watched()
    first = watched.check(page(head=head))

    result = watched.check(page(*EDITED, head=head))

    since = first.state.stored_at if first.state is not None else 0
    assert (result.report.basis, result.report.witness) == ("contradicted", Witness(name, "2026-11-02", since))
    assert result.verdict is not None
    told = {"signal": name, "value": "2026-11-02", "since": to_rfc3339(since)}
    assert result.verdict.data["witness"] == told
    assert result.verdict.data["trace"][-1] == {
        "rule": "S9",
        "says": "contradicted",
        "why": f"{name} contradicts this: it says 2026-11-02 as before, since {told['since']}",
    }


def test_a_declaration_that_its_content_contradicts_names_the_content_and_since_when() -> None:
    watched = Watched()
    watched.check(page(head=json_ld(dateModified="2026-11-02")))
    edited = watched.check(page(*EDITED, head=json_ld(dateModified="2026-11-03")))

    result = watched.check(page(*EDITED, head=json_ld(dateModified="2026-11-21")))

    since = edited.state.stored_at if edited.state is not None else 0
    assert (edited.report.basis, edited.report.witness) == ("declared", None)
    assert (result.report.basis, result.report.witness) == ("contradicted", Witness("content", None, since))
