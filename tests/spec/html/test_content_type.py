from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.content_type import MediaType, extract_encoding, is_nosniff, parse_media_type, read_content_types


@pytest.mark.parametrize(
    ("headers", "essence"),
    [
        (["text/html"], "text/html"),
        ([" Text/HTML ; charset=utf-8"], "text/html"),
        (["image/png", "text/html"], "image/png"),
        (["gibberish", "text/html"], None),
        (["text/html, text/plain"], None),
        ([""], None),
        ([], None),
    ],
)
def test_CT_01_only_the_first_header_counts(headers: list[str], essence: str | None) -> None:
    assert read_content_types(headers).essence == essence


def test_CT_01_several_headers_are_counted() -> None:
    told = read_content_types(["a/b", "text/html", "c/d"])

    assert (told.value, told.count) == ("a/b", 3)


@pytest.mark.parametrize(
    ("text", "essence", "parameters"),
    [
        ("a/b;C=D;c=e", "a/b", (("c", "D"),)),
        ("a/b ; ;; c = d;e=f", "a/b", (("e", "f"),)),
        ('a/b;c="d;e\\"f\\\\" g;h=i', "a/b", (("c", 'd;e"f\\'), ("h", "i"))),
        ('a/b;c="d', "a/b", (("c", "d"),)),
        ('a/b;c="d\\', "a/b", (("c", "d\\"),)),
        ('a/b;c="";d=', "a/b", (("c", ""),)),
        ("a/b;c=d \t", "a/b", (("c", "d"),)),
        ("a/b;c= d", "a/b", (("c", " d"),)),
        ("a/b;c=\u0100;\u212a=1;d=\u00ff", "a/b", (("d", "\u00ff"),)),
        ("a/b;c", "a/b", ()),
        ("*/*;", "*/*", ()),
    ],
)
def test_a_media_type_has_its_parameters(text: str, essence: str, parameters: tuple[tuple[str, str], ...]) -> None:
    assert parse_media_type(text) == MediaType(essence, parameters)


@pytest.mark.parametrize("text", ["", "a", "a/", "/b", "a/b/c", "a /b", "a/ b", "\u00e9/b", "\fa/b", "a/b(", '"a/b"'])
def test_what_is_no_media_type_is_none(text: str) -> None:
    assert parse_media_type(text) is None


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("image/svg+xml", {"image", "XML", "scriptable"}),
        ("text/html;x=image/png", {"HTML", "scriptable"}),
        ("application/zip", {"ZIP-based", "archive"}),
        ("application/ogg", {"audio or video"}),
        ("application/font-woff", {"font"}),
        ("x/font-woff", set()),
        ("text/javascript1.2", {"JavaScript"}),
        ("application/ld+json", {"JSON"}),
        ("application/pdf", {"scriptable"}),
        ("text/plain", set()),
    ],
)
def test_a_media_type_is_in_its_groups(text: str, groups: set[str]) -> None:
    media_type = parse_media_type(text)

    assert media_type is not None
    assert media_type.groups() == groups


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("text/html; charset=Big5; x", "Big5"),
        ("a ChArSeT\t\n\f\r = \t'koi8 r' x", "koi8 r"),
        ("charset=utf-8 x", "utf-8"),
        ("mycharset=x\u00e9'", "x\u00e9'"),
        ("charset=''", ""),
        ("charset=;", ""),
        ("charset='x\"", None),
        ('charset="x; charset=y', None),
        ("charset=", None),
        ("charset", None),
        ("char set=x", None),
        ("char\u017fet=x", None),
        ("", None),
    ],
)
def test_CT_03_CT_04_the_label_is_what_stands_after_charset(text: str, label: str | None) -> None:
    assert extract_encoding(text, "text") == extract_encoding(text, "living") == label


def test_C_31_today_the_later_ones_are_tried_too() -> None:
    text = "charset charset; charsetcharset = x"

    assert extract_encoding(text) == "x"
    assert extract_encoding(text, "text") is None


@pytest.mark.parametrize(
    ("headers", "forbids"),
    [
        (["nosniff"], True),
        ([" NoSniff\t, x"], True),
        (["nosniff", "x"], True),
        (["x, nosniff"], False),
        (["no sniff"], False),
        ([""], False),
        ([], False),
    ],
)
def test_a_server_may_forbid_to_sniff(headers: list[str], forbids: bool) -> None:  # noqa: FBT001 - a parameter of cases
    assert is_nosniff(headers) is forbids


pieces = st.sampled_from(
    ["text/html", "/", ";", "charset", "=", '"', "'", "\\", " ", "\t", "utf-8", "\u00ff", "\ud800"]
)


@given(st.one_of(st.text(max_size=40), st.lists(pieces, max_size=12).map("".join)))
def test_no_header_raises(text: str) -> None:
    told = read_content_types([text])

    assert told.media_type == parse_media_type(text)
    assert extract_encoding(text) is None or isinstance(extract_encoding(text), str)
    assert is_nosniff([text]) in {True, False}


@pytest.mark.parametrize("piece", [";", "=", '"', "\\", 'x="', "a=b;", "charset", "charset =", " ", "charset  ", ";a"])
def test_a_header_of_a_million_letters_is_read_in_no_time(piece: str) -> None:
    text = "a/b;" + piece * (1_000_000 // len(piece))

    read_content_types([text])
    extract_encoding(text)
