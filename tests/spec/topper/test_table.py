from __future__ import annotations

import html
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import state_of, states
from tocsin.errors import TableError, UsageError
from tocsin.spec.topper.state import EMPTY, FIELDS
from tocsin.spec.topper.table import (
    RECORD_0,
    BadReference,
    TableRecord,
    check_text,
    escape,
    read_table,
    unescape,
    write_record,
    write_stored,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
URL = "https://example.org/a"
FULL = state_of(
    created="c",
    dc_created="dcc",
    dcterms_created="dtc",
    article_published_time="p",
    dc_modified="dcm",
    dcterms_modified="dtm",
    article_modified_time="m",
    page_version="1",
    refresh="30",
    topper="true",
    major="2014",
    minor="2013",
)


def record(number: int = 1, **changes: object) -> TableRecord:
    fields = {"number": number, "url": URL, "state": EMPTY, "stored": NOON, "text": None, **changes}
    return TableRecord(**fields)  # type: ignore[arg-type]  # the names are checked by the tests themselves


def lines(*records: str) -> list[bytes]:
    return [RECORD_0.encode(), *(f"{line}\n".encode() for line in records)]


def line_of(changed: TableRecord | None = None) -> str:
    return write_record(changed or record()).removesuffix("\n")


def read(source: Iterable[bytes]) -> list[TableRecord]:
    return list(read_table(source, file="t.txt"))


def refusal(source: Iterable[bytes]) -> TableError:
    with pytest.raises(TableError) as caught:
        read(source)
    return caught.value


def test_T31_record_0_holds_52_names_and_no_page() -> None:
    names = RECORD_0.removesuffix("\n").split(" ")

    assert len(names) == len(set(names)) == 52
    assert names[:3] == ["0", "url", "created/tag"]
    assert names[2::4][:12] == [f"{field}/tag" for field in FIELDS]
    assert names[-2:] == ["stored", "text"]


def test_T32_an_empty_state_has_every_cell() -> None:
    assert write_record(record(7)) == f"7 {URL}{' ' * 49}2026-11-21T12:00:00Z \n"


def test_T33_an_element_is_tag_attribute_value_and_content() -> None:
    assert write_record(record(state=FULL, text="w")) == (
        f'1 {URL} meta name created "c" meta name dc.created "dcc" meta name dcterms.created "dtc" '
        'meta property article:published_time "p" meta name dc.modified "dcm" meta name dcterms.modified "dtm" '
        'meta property article:modified_time "m" meta name page-version "1" meta http-equiv refresh 30 '
        'meta name topper "true" meta name topper-major "2014" meta name topper-minor "2013" '
        '2026-11-21T12:00:00Z "w"\n'
    )


@pytest.mark.parametrize(
    ("stored", "cell"),
    [
        (NOON, "2026-11-21T12:00:00Z"),
        (NOON.replace(microsecond=250_000), "2026-11-21T12:00:00.25Z"),
        (NOON.replace(microsecond=1), "2026-11-21T12:00:00.000001Z"),
        (NOON.replace(second=10), "2026-11-21T12:00:10Z"),
        (NOON.astimezone(timezone(timedelta(hours=2))), "2026-11-21T12:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
    ],
)
def test_T32_the_time_of_storing_is_utc_to_the_second_or_finer(stored: datetime, cell: str) -> None:
    assert write_stored(stored) == cell


def test_T32_the_machines_own_zone_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()

    written = write_stored(NOON)
    monkeypatch.undo()
    time.tzset()

    assert written == "2026-11-21T12:00:00Z"


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^2026-11-21T12:00:00 has no time zone; give an aware time$"):
        write_stored(NOON.replace(tzinfo=None))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=253)


@st.composite
def records(draw: st.DrawFn) -> list[TableRecord]:
    numbers = sorted(draw(st.sets(st.integers(1, 2**63 - 1), max_size=4)))
    return [
        record(
            number,
            url=draw(st.sampled_from([URL, "http://192.0.2.7:8080/o'hara?a=1&b=2&copy=3&lt;=4"])),
            state=draw(states()),
            stored=draw(st.datetimes(timezones=st.just(UTC))),
            text=draw(st.one_of(st.none(), texts)),
        )
        for number in numbers
    ]


def table_of(records: Iterable[TableRecord]) -> list[bytes]:
    return [RECORD_0.encode(), *(write_record(each).encode() for each in records)]


@given(records())
def test_T30_a_table_read_and_written_again_is_the_same_byte_for_byte(table: list[TableRecord]) -> None:
    written = table_of(table)

    assert read(written) == table
    assert table_of(read(written)) == written


@given(records())
def test_T32_every_record_is_one_line_of_52_cells(table: list[TableRecord]) -> None:
    for line in table_of(table):
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_T30_no_bytes_raise_anything_but_a_refusal(source: list[bytes]) -> None:
    for broken in (source, [RECORD_0.encode(), *source]):
        with suppress(TableError):
            read(broken)


@given(records(), st.integers(0), st.sampled_from(['"', " ", "\t", "'", "&#0;", "\0", "\n", "x", "0", "\u201d"]))
def test_T30_a_table_with_one_thing_in_it_too_many_is_read_or_refused(
    table: list[TableRecord], at: int, thing: str
) -> None:
    text = b"".join(table_of(table)).decode()
    at %= len(text) + 1
    broken = (text[:at] + thing + text[at:]).encode()

    with suppress(TableError):
        read([line + b"\n" for line in broken.split(b"\n")[:-1]])


def test_T30_a_table_is_read_as_it_comes() -> None:
    def endless() -> Iterable[bytes]:
        yield from lines(line_of())
        raise AssertionError("read too far")

    assert next(iter(read_table(endless(), file="t.txt"))) == record()


def test_T32_numbers_may_leave_gaps() -> None:
    source = lines(line_of(record(7)), line_of(record(9)), line_of(record(2**63 - 1)))

    assert [found.number for found in read(source)] == [7, 9, 2**63 - 1]


def test_T31_import_takes_any_names() -> None:
    names = " ".join(["0", *(f"n{place}" for place in range(51))])

    assert read([f"{names}\n".encode(), f"{line_of()}\n".encode()]) == [record()]


def test_T32_only_lf_ends_a_line() -> None:
    text = "a\x0b\x0c\x1c\x85\u2028\u2029b"

    assert read(lines(line_of(record(text=text))))[0].text == text


def test_T32_a_text_keeps_its_white_space() -> None:
    assert read(lines(line_of(record(text="  a  \n "))))[0].text == "  a  \n "


def test_import_makes_values_and_urls_canonical() -> None:
    line = line_of(record(state=state_of(topper="true", minor="2014", page_version="1 2")))
    line = line.replace('"true"', '"TRUE  2013"').replace('"2014"', '"2014 2013 2014"').replace('"1 2"', '" 1  2 "')

    assert read(lines(line.replace(URL, "HTTPS://EXAMPLE.org:443/a#f")))[0] == record(
        state=state_of(topper="2013 true", minor="2013 2014", page_version="1 2")
    )


START = len(f"1 {URL} ") + 1  # the column of the first element's first cell
STORED = START + 48


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ([], 1, 1, "no record 0: the table is empty"),
        ([b"\n"], 1, 1, "not 52 cells: 1 of them"),
        ([f"{line_of()}\n".encode()], 1, 1, "no record 0: the first line"),
        ([b'"0" ' + b" ".join([b"n"] * 51) + b"\n"], 1, 1, "no record 0: the first line"),
        ([b"\xef\xbb\xbf" + RECORD_0.encode()], 1, 1, "byte order mark; save the table as UTF-8 without one"),
        ([RECORD_0.replace("\n", "\r\n").encode()], 1, len(RECORD_0), "CR LF; lines end with LF alone"),
        (
            [RECORD_0.replace(" url", " \u00fcrl").encode()],
            1,
            3,
            "record 0: a field's name is missing, quoted or not plain ASCII",
        ),
        (
            [RECORD_0.replace(" url ", "  ").encode()],
            1,
            3,
            "record 0: a field's name is missing, quoted or not plain ASCII",
        ),
        (
            [RECORD_0.replace(" url ", ' "url" ').encode()],
            1,
            3,
            "record 0: a field's name is missing, quoted or not plain ASCII",
        ),
        ([RECORD_0.replace("\n", " x\n").encode()], 1, len(RECORD_0) + 1, "not 52 cells: 53 of them"),
        ([RECORD_0.replace(" text", "").encode()], 1, len(RECORD_0) - 5, "not 52 cells: 51 of them"),
        ([RECORD_0.encode(), RECORD_0.encode()], 2, 1, "record 0 again"),
        ([RECORD_0.encode()[:-1]], 1, len(RECORD_0), "cut off"),
        (["\u00e9".encode()], 1, 2, "cut off"),
        ([RECORD_0.encode(), "1 \u00e9".encode() + b"\xff\n"], 2, 4, f"not UTF-8 at byte {len(RECORD_0) + 4}"),
        ([*lines(line_of()), b"2\xff\n"], 3, 2, f"not UTF-8 at byte {len(RECORD_0) + len(line_of()) + 2}"),
        (lines(line_of(), line_of()), 3, 1, "record number: 1 is repeated"),
        (lines(line_of(record(5)), line_of(record(4))), 3, 1, "record number: 4 after 5 is not growing"),
        (lines(line_of(record(2**63))), 2, 1, "record number: too large"),
        (lines("9" * 5000 + line_of()[1:]), 2, 1, "record number: too large"),
        (lines("01" + line_of()[1:]), 2, 1, "record number: not a number"),
        (lines("-1" + line_of()[1:]), 2, 1, "record number: not a number"),
        (lines("\u0661" + line_of()[1:]), 2, 1, "record number: not a number"),
        (lines(line_of()[1:]), 2, 1, "record number: not a number"),
        (lines('"1"' + line_of()[1:]), 2, 1, "a cell is quoted"),
        (lines(line_of().replace(URL, "/a")), 2, 3, "URL: not an absolute"),
        (lines(line_of().replace(URL, "ftp://example.org/")), 2, 3, "URL: not an absolute"),
        (lines(line_of().replace(URL, "https://ex\u00e4mple.org/")), 2, 3, "URL: not an absolute"),
        (lines(line_of().replace(URL, "https://[1/")), 2, 3, "URL: https://[1/: not a URL"),
        (lines(line_of().replace(URL, f'"{URL}"')), 2, 3, "a cell is quoted"),
        (lines(line_of().replace(URL, "https://example.org/o'hara")), 2, 24, "raw quotation mark"),
        (
            lines(line_of().replace("00Z", "00.5")),
            2,
            STORED,
            "stored: not a time such as 2026-11-21T08:20:00Z or …:00.25Z",
        ),
        (
            lines(line_of().replace("00Z", "00.50Z")),
            2,
            STORED,
            "stored: not a time such as 2026-11-21T08:20:00Z or …:00.25Z",
        ),
        (
            lines(line_of().replace("00Z", "00.1234567Z")),
            2,
            STORED,
            "stored: not a time such as 2026-11-21T08:20:00Z or …:00.25Z",
        ),
        (lines(line_of().replace("11-21", "02-30")), 2, STORED, "stored: there is no such time"),
        (lines(line_of().replace("2026", "0000")), 2, STORED, "stored: there is no such time"),
        (lines(line_of().replace("T12", "T24")), 2, STORED, "stored: there is no such time"),
        (lines(line_of().replace("2026-11-21T12:00:00Z", '"2026-11-21T12:00:00Z"')), 2, STORED, "a cell is quoted"),
        (lines(line_of() + "w"), 2, STORED + 21, "content not quoted: the text"),
        (lines(line_of() + '""'), 2, STORED + 21, "text: it is empty"),
        (lines(line_of() + '"' + "x" * 254 + '"'), 2, STORED + 21, "text: it is too long: 254 characters"),
        (lines(line_of() + '"a\tb"'), 2, STORED + 23, "raw TAB"),
        (lines(line_of() + '"a\rb"'), 2, STORED + 23, "raw CR"),
        (lines(line_of() + '"a\0b"'), 2, STORED + 23, "U+0000; no cell holds it"),
        (lines(line_of() + '"\u2019b"'), 2, STORED + 22, "raw quotation mark"),
        (lines(line_of() + '"a"b'), 2, STORED + 23, "quotation mark out of place"),
        (lines(line_of() + '"a\u2019b"'), 2, STORED + 23, "raw quotation mark"),
        (lines(line_of() + '"a"b"'), 2, STORED + 23, "quotation mark out of place"),
        (lines(line_of() + 'a"b'), 2, STORED + 22, "quotation mark out of place"),
        (lines(line_of() + '"ab'), 2, STORED + 21, "quotation mark not closed"),
        (lines(line_of() + '"'), 2, STORED + 21, "quotation mark not closed"),
        (lines(line_of() + '"ab&#0;"'), 2, STORED + 24, "bad reference &#0;"),
        (lines(line_of().replace(URL, "https://example.org/&#0;")), 2, 23, "bad reference &#0;"),
        (lines(line_of() + '"a" "b"'), 2, STORED + 25, "not 52 cells: 53 of them"),
        (lines(line_of()[:-1]), 2, STORED + 20, "not 52 cells: 51 of them"),
    ],
)
def test_T30_a_malformed_table_is_refused_with_line_column_and_reason(
    source: list[bytes], line: int, column: int, reason: str
) -> None:
    error = refusal(source)

    assert (error.file, error.line, error.column) == ("t.txt", line, column), error.reason
    assert error.reason.startswith(reason)


def element(*cells: str) -> list[bytes]:
    """A table whose record has these four cells for the field `created`."""
    return lines(line_of().replace(URL + "    ", f"{URL} {' '.join(cells)}", 1))


@pytest.mark.parametrize(
    ("cells", "column", "reason"),
    [
        (("META", "name", "created", '"x"'), START, "cells of created: meta must stand here"),
        (("", "name", "created", '"x"'), START, "cells of created: meta must stand here"),
        (("meta", "property", "created", '"x"'), START + 5, "cells of created: name must stand here"),
        (("meta", "name", "Created", '"x"'), START + 10, "cells of created: created must stand here"),
        (("meta", "name", '"created"', '"x"'), START + 10, "a cell is quoted"),
        (("meta", "name", "created", ""), START + 18, "cells of created: no content"),
        (("", "", "", '"x"'), START, "cells of created: meta must stand here"),
        (("", "", "", '""'), START, "cells of created: meta must stand here"),
        (("meta", "name", "created", '""'), START + 18, "cells of created: no content"),
        (("meta", "name", "created", "x"), START + 18, "content not quoted: that of created"),
        (("meta", "name", "created", '" &#9; "'), START + 18, "cells of created: a content that is only white space"),
        (("meta", "name", "created", '"a&#xD800;"'), START + 20, "bad reference &#xD800;"),
    ],
)
def test_T33_an_element_is_four_right_cells_or_none(cells: tuple[str, ...], column: int, reason: str) -> None:
    error = refusal(element(*cells))

    assert (error.line, error.column) == (2, column), error.reason
    assert error.reason.startswith(reason)


def test_T03_a_topper_that_only_says_false_is_refused() -> None:
    line = line_of(record(state=state_of(topper="true"))).replace('"true"', '"FALSE false"')

    assert refusal(lines(line)).reason.startswith("cells of topper: a content that only says false")


@pytest.mark.parametrize("seconds", ["007", "-1", "1.5", "x", "\u0665", "5s"])
def test_T34_the_refresh_is_plain_seconds(seconds: str) -> None:
    line = line_of(record(state=state_of(refresh="30"))).replace("refresh 30", f"refresh {seconds}")

    error = refusal(lines(line))

    assert error.reason == "seconds: digits without leading zeros must stand here"
    assert error.column == START + 32 + 24


def test_T36_the_refresh_is_not_quoted() -> None:
    line = line_of(record(state=state_of(refresh="30"))).replace("refresh 30", 'refresh "30"')

    assert refusal(lines(line)).reason == "a cell is quoted that must not be"


def test_the_refresh_may_be_0_or_of_any_length() -> None:
    for digits in ("0", "9" * 5000):
        assert read(lines(line_of(record(state=state_of(refresh=digits)))))[0].state["refresh"] == digits


@pytest.mark.parametrize("text", ["x", "x" * 253, "\U0001f600" * 253, " ", "a\nb"])
def test_T24_a_text_of_up_to_253_characters_is_taken_as_it_is(text: str) -> None:
    assert check_text(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty; leave it out to have none"),
        ("x" * 254, "is too long: 254 characters, and 253 are the most; shorten it"),
        ("a\0", "holds U+0000; leave that out"),
        ("a\udc80", "holds bytes that are not UTF-8; write it in UTF-8"),
        ("\ud800", "holds bytes that are not UTF-8; write it in UTF-8"),
        ("x\udfff", "holds bytes that are not UTF-8; write it in UTF-8"),
    ],
)
def test_T24_any_other_text_is_refused_never_cut(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_text(text)

    assert str(caught.value) == f"the text {problem}"


@pytest.mark.parametrize(
    ("datum", "cell"),
    [
        ("\"'", "&quot;&#39;"),
        ("\u201c\u201d\u2018\u2019\u201e\u201a", "&ldquo;&rdquo;&lsquo;&rsquo;&bdquo;&sbquo;"),
        ("\u00ab\u00bb\u2039\u203a", "&laquo;&raquo;&lsaquo;&rsaquo;"),
        ("\t\n\r", "&#9;&#10;&#13;"),
        ("\u201b\u201f\u2013<>\u00a0\x0b\x85\u2028", "\u201b\u201f\u2013<>\u00a0\x0b\x85\u2028"),
        ("R&D, a & b, && &", "R&D, a & b, && &"),
        ("&# &#x &#g &; &a b; &1;", "&# &#x &#g &; &a b; &1;"),
        ("&#1 &#xf &#XA", "&amp;#1 &amp;#xf &amp;#XA"),
        ("&c; &zz9; &A1b2;", "&amp;c; &amp;zz9; &amp;A1b2;"),
        ("&copy=3 &ltx &AMP &curren", "&amp;copy=3 &amp;ltx &amp;AMP &amp;curren"),
        ("&Copy &hellip &apos", "&Copy &hellip &apos"),
    ],
)
def test_T35_only_what_a_reader_would_take_for_something_else_is_written_as_a_reference(datum: str, cell: str) -> None:
    assert escape(datum) == cell
    assert unescape(cell) == datum


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_T35_any_reader_of_html_reads_a_cell_as_we_do(datum: str) -> None:
    assert html.unescape(escape(datum)) == unescape(escape(datum)) == datum


@given(st.text("&#x;acoptlD9 mn"))
def test_T35_ampersands_survive_every_reader(datum: str) -> None:
    assert html.unescape(escape(datum)) == unescape(escape(datum)) == datum


@pytest.mark.parametrize(
    ("cell", "datum"),
    [
        ("&hellip;&euro;&#8364;&#x20aC;&#X20AC;", "\u2026\u20ac\u20ac\u20ac\u20ac"),
        ("&#128;&#x9f;&#129;", "\u20ac\u0178\x81"),
        ("&#0000000000065;&#1114111;&#x10fffF;", "A\U0010ffff\U0010ffff"),
        ("&#1;&#55295;&#57344;", "\x01\ud7ff\ue000"),
        ("&unknown; &copy &#65 &#x41 &Copy;", "&unknown; &copy &#65 &#x41 &Copy;"),
    ],
)
def test_T35_references_are_read_with_their_semicolon_only(cell: str, datum: str) -> None:
    assert unescape(cell) == datum


@pytest.mark.parametrize(
    "reference",
    ["&#0;", "&#x0;", "&#xD800;", "&#57343;", "&#1114112;", "&#x110000;", f"&#{'9' * 5000};", "&#99999999;"],
)
def test_T35_a_number_that_is_no_character_is_refused(reference: str) -> None:
    with pytest.raises(BadReference, match=r"^bad reference &#\w{1,18};?: it names no character$") as caught:
        unescape(f"ab{reference}")

    assert caught.value.place == 2
