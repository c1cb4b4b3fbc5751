from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import element, metas, page
from tocsin.spec.html.document import Meta
from tocsin.spec.html.positions import FindingLevel, PageFinding
from tocsin.spec.lint.check import lint


def found(*elements: str) -> list[tuple[str, str]]:
    """The rules of the awareness specification and the levels found in a page, one for each finding."""
    return [(finding.rule, finding.level.value) for finding in lint(page(*elements)) if finding.rule.startswith("T")]


def meta(name: str, content: str) -> str:
    return element(Meta(name=name, content=content))


@pytest.mark.parametrize(
    "elements",
    [
        (),
        (meta("topper", "true"),),
        (meta("topper", "TRUE"),),
        (meta("topper", "false"),),
        (meta("topper", "2014-01-02 2014-01-03"),),
        (meta("topper-major", "2014"), meta("topper-minor", "2013"), meta("topper", "true")),
        (meta("topper-major", "2014"), meta("topper-major", "2014-03")),
        (meta("topper", "true"), meta("topper", "2014")),
        (meta("topper", "false"), meta("topper-minor", "2014")),
        (meta("topper-major", "2014-01-01"), meta("topper-minor", "2014-01")),
        (meta("created", "soon"), meta("created", ""), meta("description", "")),
        ("<template><meta name=topper content=soon></template>", "<!-- <meta name=topper content=soon> -->"),
    ],
)
def test_T16_what_the_spec_allows_is_passed_over_in_silence(elements: tuple[str, ...]) -> None:
    assert found(*elements) == []


@pytest.mark.parametrize(
    ("content", "count"), [("soon", 1), ("true 2014", 1), ("2014 false", 1), ("soon later", 2), ("true TRUE", 2)]
)
def test_T01_topper_is_one_of_true_false_and_dates(content: str, count: int) -> None:
    rules = [(rule, level) for rule, level in found(meta("topper", content)) if rule != "T07"]

    assert rules == [("T01", "error")] * count


@pytest.mark.parametrize("token", ["2o14", "2014-02-30", "20140101", "2014-01-01T24:00Z", "2014,"])
@pytest.mark.parametrize("name", ["topper", "topper-major", "topper-minor"])
def test_T05_a_date_that_the_note_does_not_know_is_an_error(name: str, token: str) -> None:
    assert found(meta(name, token)) == [("T05", "error")]


def test_T05_other_words_are_no_dates_either() -> None:
    assert found(meta("topper-major", "soon")) == [("T05", "error")]


@pytest.mark.parametrize("name", ["topper", "topper-major", "topper-minor"])
def test_T06_a_token_twice_in_one_value_is_an_error(name: str) -> None:
    assert found(meta(name, "2014 2013 2014 2014")) == [("T06", "error")] * 2
    assert found(meta(name, "2014"), meta(name, "2014")) == []


@pytest.mark.parametrize("other", ["true", "2014", "2014 2013"])
def test_T07_false_stands_beside_nothing_that_says_otherwise(other: str) -> None:
    elements = meta("topper", "FALSE"), meta("topper", other)

    assert found(*elements) == found(*reversed(elements)) == [("T07", "error")]


def test_T07_false_may_stand_beside_words_that_say_nothing() -> None:
    assert [rule for rule, _ in found(meta("topper", "false"), meta("topper", "soon"))] == ["T01"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("<meta name=topper>", "topper without a value counts as absent; give it one"),
        ("<meta name=topper content='2014 2014'>", "2014 stands twice in one value and counts once; remove one"),
        (
            "<meta name=topper-minor content=true>",
            "true has no place in topper-minor, which holds dates; write a topper element for it",
        ),
        ("<meta name=topper content='true 2014'>", "true stands alone in its value; leave out it or the rest"),
        (
            "<meta name=topper-minor content=2014-13>",
            "2014-13 is no date of the W3C note; write such as 2026, 2026-11, 2026-11-21 or 2026-11-21T08:20Z",
        ),
    ],
)
def test_a_finding_says_what_is_wrong_and_the_mend(written: str, message: str) -> None:
    assert [finding.message for finding in lint(written.encode())] == [message]


def test_T07_names_what_contradicts_it() -> None:
    (finding,) = lint(page(meta("topper", "false"), meta("topper", "2014")))

    assert finding.message == "a page says not both topper 2014 and topper false; remove one of them"


@pytest.mark.parametrize("word", ["true", "FALSE"])
@pytest.mark.parametrize("name", ["topper-major", "topper-minor"])
def test_T08_the_elements_of_dates_hold_nothing_else(name: str, word: str) -> None:
    assert found(meta(name, f"2014 {word}")) == [("T08", "error")]


@pytest.mark.parametrize("value", ["2014 2014-03", "2013 2014-03 2015-01", "2014-01-01 2014-01-02T10:00Z"])
def test_T10_two_granularities_in_one_value_are_warned_of_once(value: str) -> None:
    assert found(meta("topper-minor", value)) == [("T10", "warning")]


def test_T10_says_which_two() -> None:
    (finding,) = lint(page(meta("topper-major", "2014 2013-03")))

    assert finding.message == "2013-03 says a month, 2014 a year: write all dates of a value alike"


@pytest.mark.parametrize("name", ["topper", "topper-minor"])
def test_T11_a_date_both_minor_and_major_is_warned_of_where_it_is_minor(name: str) -> None:
    major = meta("topper-major", "2014-03-05T10:00Z")

    (finding,) = lint(page(major, meta(name, "2014-03-05T11:00+01:00 2014-03-05T10:01Z")))

    assert (finding.rule, finding.level) == ("T11", FindingLevel.WARNING)
    assert finding.message == (
        "2014-03-05T11:00+01:00 is a major change too (2014-03-05T10:00Z in topper-major); say it only there"
    )


def test_T11_is_not_about_words_that_are_no_dates() -> None:
    assert [rule for rule, _ in found(meta("topper-major", "soon"), meta("topper-minor", "soon"))] == ["T05", "T05"]


@pytest.mark.parametrize(
    "written", ["<meta name=topper>", "<meta name=Topper-Minor content>", "<meta content=' ' name=topper-major>"]
)
def test_T12_an_element_without_a_value_is_an_error(written: str) -> None:
    assert found(written) == [("T12", "error")]


def test_a_finding_has_line_and_column_from_1_in_code_points() -> None:
    source = '<title>\u00e9\U0001f600</title>\r\n<p>\r<meta\n name="topper" content="soon\n  2014-13">'

    assert [finding[:3] for finding in lint(source.encode(), "text/html; charset=utf-8")] == [
        (4, 25, "T01"),
        (5, 3, "T05"),
    ]


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("<meta name=topper content=soon>", 27),
        ("<meta name=topper content = 'soon'>", 30),
        ("<meta content=soon name=topper>", 15),
        ("<meta content=x=y name=topper>", 15),
        ("<meta name=topper content='so&#111;n'>", 28),
        ("<meta name=topper content='&#32;soon'>", 28),
        ("<meta name=topper content='x=y'>", 28),
        ("<meta name=topper content=   soon id=x>", 30),
        ("<meta name=topper>", 1),
    ],
)
def test_a_finding_stands_where_its_token_does(written: str, column: int) -> None:
    (finding,) = lint(written.encode())

    assert (finding.line, finding.column) == (1, column)


def test_tokens_parted_by_a_reference_stand_where_their_value_begins() -> None:
    findings = lint(b"<meta name=topper content='soon&#32;later'>")

    assert [(finding.column, finding.message.split()[0]) for finding in findings] == [(28, "later"), (28, "soon")]


def test_findings_come_in_the_order_of_the_text() -> None:
    findings = lint(page(meta("topper-minor", "2014 soon"), meta("topper-major", "2014 later")))

    assert [(finding.rule, finding.column) for finding in findings] == sorted(
        ((finding.rule, finding.column) for finding in findings), key=lambda pair: pair[1]
    )
    assert [finding.rule for finding in findings] == ["T11", "T05", "T05"]


def test_a_long_token_is_shown_shortened() -> None:
    (finding,) = lint(page(meta("topper-minor", "x" * 5000)))

    assert finding.message.startswith("x" * 40 + " is no date")


def test_a_page_in_another_encoding_is_read_in_it() -> None:
    source = "\ufeff<meta name=topper content=soon>".encode("utf-16-le")

    assert [finding[:3] for finding in lint(source)] == [(1, 27, "T01")]


def test_T17_xhtml_is_judged_too() -> None:
    source = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><meta name="topper" content="x"/></head></html>'

    assert [finding.rule for finding in lint(source, "application/xhtml+xml")] == ["T01"]


def test_the_type_that_http_tells_is_heeded() -> None:
    source = "<meta name=topper content=soon>"

    assert lint(source.encode(), "application/json") == ()
    assert [finding.rule for finding in lint(source.encode("utf-16-le"), "text/html; charset=utf-16")] == ["T01"]


def test_what_is_no_page_breaks_no_rule() -> None:
    assert lint(b"%PDF-1.7 <meta name=topper content=soon>") == ()


def test_a_finding_is_what_the_command_prints() -> None:
    assert lint(b"<meta name=topper content=soon>") == (
        PageFinding(
            1,
            27,
            "T01",
            FindingLevel.ERROR,
            "soon is neither true nor false nor a date such as 2026-11-21; write one of them",
        ),
    )


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    lint(b"<meta name=topper content=x>" + body)


@given(st.lists(metas(), max_size=5))
def test_every_finding_stands_in_the_text(elements: list[Meta]) -> None:
    source = page(*(f"{element(meta)}\n" for meta in elements))
    lines = source.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")

    for finding in lint(source):
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1


def test_a_token_of_any_length_makes_a_short_message() -> None:
    long = "2014-01-01T00:00:00." + "0" * 1000 + "Z"
    source = page(meta("topper", f"{long} {long} 2014 false"), meta("topper-major", long))

    assert all(len(finding.message) < 200 for finding in lint(source))
    assert {finding.rule for finding in lint(source)} == {"T01", "T06", "T07", "T10", "T11"}
