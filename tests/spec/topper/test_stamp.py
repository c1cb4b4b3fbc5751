from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import element, metas, page, state_from, state_of, tokens
from tocsin.errors import UsageError
from tocsin.spec.html.document import Meta
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.dates import parse_token
from tocsin.spec.topper.stamp import stamp, stamped_granularity
from tocsin.spec.topper.state import read_dates, read_state

DAY = "2026-11-21"
XHTML = "application/xhtml+xml"


def minor(source: str, at: str = DAY) -> str:
    return stamp(source.encode(), major=False, at=at).decode()


def major(source: str, at: str = DAY) -> str:
    return stamp(source.encode(), major=True, at=at).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<meta name="topper-minor" content="2014">', '<meta name="topper-minor" content="2014 D">'),
        ("<meta name='topper-minor' content='2014'>", "<meta name='topper-minor' content='2014 D'>"),
        ("<meta name=topper-minor content=2014>", '<meta name=topper-minor content="2014 D">'),
        ("<META CONTENT=2014 NAME=TOPPER-MINOR>", '<META CONTENT="2014 D" NAME=TOPPER-MINOR>'),
        ("<meta name=topper-minor content = 2014 >", '<meta name=topper-minor content="2014 D" >'),
        ("<meta name=topper-minor content=2014/>", '<meta name=topper-minor content="2014/ D">'),
        ('<meta name=topper-minor content=so"on>', '<meta name=topper-minor content="so&quot;on D">'),
        ("<meta name=topper-minor content=so'on>", '<meta name=topper-minor content="so\'on D">'),
        ('<meta name=topper-minor content="  2014 \n">', '<meta name=topper-minor content="  2014 D \n">'),
        ('<meta name=topper-minor content="2014&#45;01">', '<meta name=topper-minor content="2014&#45;01 D">'),
        ('<meta name=topper-minor content="">', '<meta name=topper-minor content="D">'),
        ("<meta name=topper-minor content=' '>", "<meta name=topper-minor content='D'>"),
        ("<meta name=topper-minor content>", '<meta name=topper-minor content="D">'),
        ("<meta name=topper-minor>", '<meta name=topper-minor content="D">'),
        ('<meta name="topper-minor" />', '<meta name="topper-minor" content="D" />'),
        (
            '<meta name=topper-minor content="2014" content="x">',
            '<meta name=topper-minor content="2014 D" content="x">',
        ),
    ],
)
def test_T08_a_date_joins_the_element_that_is_there(before: str, after: str) -> None:
    for frame in ("{}", "<html>\n <head>\n  {}\n </head>\n <body>", "<title>t</title><p>{}<p>x"):
        assert minor(frame.format(before)) == frame.format(after.replace("D", DAY))


def test_T14_of_several_elements_the_last_with_a_value_is_written() -> None:
    one, other, empty = (f"<meta name=topper-minor content={part}>" for part in ('"2013"', '"2014"', '""'))

    assert minor(one + other + empty) == one + other.replace("2014", f"2014 {DAY}") + empty


def test_T06_a_date_that_stands_there_is_not_written_again() -> None:
    for source in (f'<meta name=topper-minor content="x {DAY} y">', f"<meta name=topper-minor content={DAY}><p>"):
        assert minor(source) == source


def test_T06_another_granularity_is_another_token() -> None:
    assert minor("<meta name=topper-minor content=2026-11>") == f'<meta name=topper-minor content="2026-11 {DAY}">'


@pytest.mark.parametrize("spelled", [DAY, "2026-11-21"])
def test_T11_what_is_major_is_expressed_only_as_major(spelled: str) -> None:
    source = f"<meta name=topper-major content={spelled}>"

    assert minor(source) == source


def test_T11_a_time_is_the_same_however_it_is_spelled() -> None:
    source = "<meta name=topper-major content=2026-11-21T10:00+01:00>"

    assert minor(source, "2026-11-21T09:00Z") == source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"2014 D"', '"2014"'),
        ('"D 2014"', '"2014"'),
        ("'2013  D\n2014'", "'2013  2014'"),
        ('" D 2014 "', '" 2014 "'),
        ('" 2014 D "', '" 2014 "'),
        ('"2014 D D"', '"2014"'),
        ('"2014&#45;01 D"', '"2014-01"'),
        ('"a&amp;b&lt; D"', '"a&amp;b&lt;"'),
        ("'a&amp;b D \"c'", '"a&amp;b &quot;c"'),
    ],
)
def test_T11_a_minor_date_that_becomes_major_is_moved(before: str, after: str) -> None:
    others = "<meta name=topper-major content='2013'>"

    moved = major(f"<meta name=topper-minor content={before.replace('D', DAY)}>{others}")

    assert moved == f"<meta name=topper-minor content={after}>{others.replace('2013', f'2013 {DAY}')}"


def test_T11_a_date_is_moved_from_topper_too() -> None:
    others = "<meta name=topper-major content='2013'>"

    assert major(f"<meta name=topper content='{DAY} 2014'>{others}").startswith("<meta name=topper content='2014'>")


@pytest.mark.parametrize("content", [f'"{DAY}"', DAY, f"'{DAY}'"])
def test_T04_a_topper_that_loses_its_only_date_says_true(content: str) -> None:
    source = major(f"<meta name=topper content={content}><meta name=topper-major content='2013'>")

    assert state_from(source.encode()) == state_of(topper="true", major=f"2013 {DAY}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>x\n  <meta name=topper-minor content=D>  \n<p>y", "<p>x\n<p>y"),
        ("<p>x\r\n\t<meta name=topper-minor content=D>\r\n<p>y", "<p>x\r\n<p>y"),
        ("<p>x<meta name=topper-minor content=D>\n<p>y", "<p>x\n<p>y"),
        ("<p>X  <meta name=topper-minor content=D>\n<p>y", "<p>X  \n<p>y"),
        ("  <meta name=topper-minor content=D>", "  "),
        ("<p>x\n<meta name=topper-minor content=D><p>y", "<p>x\n<p>y"),
        ("<p>x\n<meta name=topper-minor content='D' ></meta>\n<p>y", "<p>x\n<p>y"),
    ],
)
def test_T12_an_element_that_loses_its_only_date_goes(before: str, after: str) -> None:
    others = "<meta name=topper-major content='2013'>"

    assert major(others + before.replace("D", DAY)) == others.replace("2013", f"2013 {DAY}") + after


NEW = f'<meta name="topper-minor" content="{DAY}">'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<head>\n  <meta charset=utf-8>\n</head>", "<head>\n  <meta charset=utf-8>\n  NEW\n</head>"),
        ("<head>\r\n\t<meta charset=utf-8>\r\n</head>", "<head>\r\n\t<meta charset=utf-8>\r\n\tNEW\r\n</head>"),
        ("<head>\r <meta charset=utf-8>\r</head>", "<head>\r <meta charset=utf-8>\r NEW\r</head>"),
        ("<head><meta charset=utf-8><title>t</title>", "<head><meta charset=utf-8>NEW<title>t</title>"),
        ("<meta charset=utf-8>\n<title>t</title>", "<meta charset=utf-8>\nNEW\n<title>t</title>"),
        ("<meta charset=utf-8>", "<meta charset=utf-8>NEW"),
        ("  <meta charset=utf-8>", "  <meta charset=utf-8>NEW"),
        ("\r\n <meta charset=utf-8>", "\r\n <meta charset=utf-8>\r\n NEW"),
        ("\n <meta charset=utf-8>", "\n <meta charset=utf-8>\n NEW"),
        ("\n\r\n <meta charset=utf-8> ", "\n\r\n <meta charset=utf-8>\r\n NEW "),
        ("\r\n\n <meta charset=utf-8>", "\r\n\n <meta charset=utf-8>\n NEW"),
        ("<html>\n\t <body>", "<html>\n\t NEW\n\t <body>"),
        ("<html> \n<body>", "<html>NEW \n<body>"),
        ("  <meta charset=utf-8></meta>\n<p>", "  <meta charset=utf-8></meta>\n  NEW\n<p>"),
        ("<meta charset=utf-8 />\n<p>", "<meta charset=utf-8 />\nNEW/\n<p>"),
        ("<head>\n <title>t</title>\n</head>", "<head>\n <title>t</title>\n NEW\n</head>"),
        ("<head><title>t</title></head>", "<head><title>t</title>NEW</head>"),
        ("<html>\n<head>\n  <style></style>\n</head>", "<html>\n<head>\n  NEW\n  <style></style>\n</head>"),
        ("<html><head></head>", "<html><head>NEW</head>"),
        ("<html lang=en>\n <p>x", "<html lang=en>\n NEW\n <p>x"),
        ("<!DOCTYPE html>\n<p>x", "<!DOCTYPE html>\nNEW\n<p>x"),
        ("<!-- a --> <!-- b -->\n<!doctype html><p>x", "<!-- a --> <!-- b -->\n<!doctype html>NEW<p>x"),
        ("<p>x", "NEW<p>x"),
        ("<p>x\n", "NEW\n<p>x\n"),
        ("", "NEW"),
        ("<p><svg><title>t</title></svg>", "NEW<p><svg><title>t</title></svg>"),
        ("<head><noscript><meta name=a></noscript></head>", "<head>NEW<noscript><meta name=a></noscript></head>"),
        ("<head><template><meta name=a></template></head>", "<head>NEW<template><meta name=a></template></head>"),
    ],
)
def test_T08_without_an_element_one_is_made_in_the_head_as_its_neighbours_are(before: str, after: str) -> None:
    assert minor(before) == after.replace("NEW/", NEW.replace(">", " />")).replace("NEW", NEW)


def test_a_major_change_has_an_element_of_its_own() -> None:
    assert major("<p>x") == f'<meta name="topper-major" content="{DAY}"><p>x'


@pytest.mark.parametrize("encoding", ["windows-1252", "shift_jis", "gb18030", "utf-8", "iso-8859-2"])
def test_a_page_keeps_its_encoding_and_bytes_that_mean_nothing(encoding: str) -> None:
    source = f"<meta charset={encoding}><p>".encode() + b"\xe9\xff\x81\x0d\x0a\x00\xfe"

    assert stamp(source, major=False, at=DAY) == source.replace(b"><p>", f">{NEW}<p>".encode())


def test_a_utf8_page_keeps_its_byte_order_mark() -> None:
    assert stamp(b"\xef\xbb\xbf<p>\xc3\xa9", major=False, at=DAY) == b"\xef\xbb\xbf" + NEW.encode() + b"<p>\xc3\xa9"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_a_utf16_page_stays_one(encoding: str, mark: str) -> None:
    source = f"{mark}<title>\u00e9\U0001f600</title>\r\n<p>".encode(encoding)
    label = encoding.replace("-le", "le").replace("-be", "be")

    written = stamp(source, major=False, at=DAY, content_type=f"text/html; charset={label}")

    assert written.decode(encoding) == f"{mark}<title>\u00e9\U0001f600</title>\r\n{NEW}\r\n<p>"


def test_a_page_that_cannot_be_written_back_is_refused() -> None:
    for source, label in ((b"\xff\xfe<\0\xd8", "utf-16le"), (b"<p>", "replacement"), (b"\x1b$B\xff", "iso-2022-jp")):
        declared = "hz-gb-2312" if label == "replacement" else label
        with pytest.raises(UsageError, match=rf"^the page is not valid {label}; save it as UTF-8$"):
            stamp(source, major=False, at=DAY, content_type=f"text/html; charset={declared}")


def test_T17_xhtml_stays_xhtml() -> None:
    source = b'<html xmlns="http://www.w3.org/1999/xhtml">\n<head>\n <title>t</title>\n</head>\n<body/></html>'

    written = stamp(source, major=True, at=DAY, content_type=XHTML)

    assert written == source.replace(
        b"</title>\n", f'</title>\n <meta name="topper-major" content="{DAY}" />\n'.encode()
    )
    assert read_dates(read_state(read_page(written, XHTML).metas)).major == (DAY,)


@pytest.mark.parametrize("at", ["", "soon", "2026-02-30", "2026-11-21T10:00", "2026-11-21 "])
def test_T05_what_is_no_date_is_not_written(at: str) -> None:
    with pytest.raises(UsageError, match=rf"^{re.escape(at)}: not a date; write such as 2026, "):
        stamp(b"<p>", major=False, at=at)


def test_a_long_text_is_shown_shortened() -> None:
    with pytest.raises(UsageError, match=r"^x{40}: not a date; "):
        stamp(b"<p>", major=False, at="x" * 5000)


def test_what_is_no_page_is_not_written() -> None:
    with pytest.raises(UsageError, match=r"^not HTML: a PDF document; only a page can be stamped$"):
        stamp(b"%PDF-1.7", major=False, at=DAY)


@pytest.mark.parametrize(
    "source", [b'{"a":1}', b"plain words, 1 < 2", b"<a>\0", "<p>".encode("utf-16-le"), b"\x93\x01\xfe"]
)
def test_what_no_author_of_pages_wrote_is_not_written(source: bytes) -> None:
    with pytest.raises(UsageError, match=r"^not HTML: .*; only a page can be stamped$"):
        stamp(source, major=True, at=DAY)


def test_an_empty_file_may_become_a_page() -> None:
    assert stamp(b"", major=False, at=DAY) == NEW.encode()


def test_a_page_that_would_not_show_the_date_is_not_written() -> None:
    with pytest.raises(UsageError, match=r"^the page would not show the date, "):
        stamp(b"<frameset><meta name=topper-minor", major=False, at=DAY, content_type=XHTML)


def test_many_comments_before_the_doctype_take_no_time() -> None:
    source = b"<!-- x --> " * 5000 + b"<p>"

    assert stamp(source, major=False, at=DAY) == NEW.encode() + source


@pytest.mark.parametrize(
    ("source", "rank"),
    [
        (b"<p>", None),
        (b"<meta name=topper-minor content='2014-01 2013'>", 1),
        (b"<meta name=topper content=2014-01-02>", 2),
        (b"<meta name=topper-major content=2014-01-02T10:00Z>", None),
    ],
)
def test_T10_a_page_says_how_finely_its_dates_speak(source: bytes, rank: int | None) -> None:
    assert stamped_granularity(source, major=False) == rank


def test_T10_major_dates_are_looked_at_apart() -> None:
    assert stamped_granularity(b"<meta name=topper-major content=2014-01-02T10:00Z>", major=True) == 3


def test_T10_dates_are_looked_at_in_the_pages_own_encoding() -> None:
    source = "<meta name=topper-minor content=2014>".encode("utf-16-le")

    assert stamped_granularity(source, major=False, content_type="text/html; charset=utf-16le") == 0


@given(st.lists(metas(), max_size=4), st.booleans(), tokens)
def test_a_stamped_page_shows_the_date(elements: list[Meta], is_major: bool, at: str) -> None:  # noqa: FBT001 - drawn
    source = page(*map(element, elements))
    before = read_dates(state_from(source))

    after = read_dates(state_from(stamp(source, major=is_major, at=at)))

    known = {parse_token(token) for token in before.major}
    shown = after.major if is_major or parse_token(at) in known else after.minor
    assert parse_token(at) in {parse_token(token) for token in shown}
    if is_major:
        assert at in after.major
        assert parse_token(at) not in {parse_token(token) for token in after.minor}


@given(st.lists(metas(), max_size=4), st.booleans(), tokens)
def test_a_page_stamped_again_is_the_same(elements: list[Meta], is_major: bool, at: str) -> None:  # noqa: FBT001 - drawn
    once = stamp(page(*map(element, elements)), major=is_major, at=at)

    assert stamp(once, major=is_major, at=at) == once


@given(st.binary(max_size=60), st.binary(max_size=60), tokens)
def test_a_stamp_changes_nothing_but_its_element(head: bytes, body: bytes, at: str) -> None:
    source = head + b'<meta name="topper-minor" content="">' + body

    try:
        written = stamp(source, major=False, at=at, content_type="text/html; charset=utf-8")
    except UsageError:
        return  # the bytes before it hide the element, or are no page
    filled = source.replace(b'content=""', f'content="{at}"'.encode(), 1)
    added = f'<meta name="topper-minor" content="{at}">'.encode()
    assert written == filled or re.sub(rb"[\r\n \t]*" + re.escape(added) + rb"[\r\n]*", b"", written, count=1) in source


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise_anything_but_a_refusal(body: bytes, is_major: bool) -> None:  # noqa: FBT001 - drawn
    try:
        stamp(body, major=is_major, at=DAY)
    except UsageError as exc:
        assert str(exc)  # noqa: PT017 - nothing else may be raised
