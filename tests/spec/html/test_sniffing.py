from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.sniffing import SNIFFED_BYTES, sniff

PNG = b"\x89PNG\r\n\x1a\n"


def as_text(headers: list[str], body: bytes) -> str:
    return sniff(headers, body, profile="text")


@pytest.mark.parametrize("protocol", ["ftp", "data"])
def test_CT_02_other_protocols_tell_no_type(protocol: str) -> None:
    assert sniff(["image/png"], b"<html>", protocol=protocol) == "text/html"
    assert sniff(["image/png"], b"<html>", protocol="file") == "image/png"


def test_SNF_03_a_server_may_be_taken_at_its_word() -> None:
    assert sniff(["text/html"], b"<rss>", strict=True) == "text/html"
    assert sniff(["text/plain"], b"\0", strict=True) == "text/plain"
    assert sniff([], b"%PDF-", strict=True) == "application/pdf"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("text/plain", "application/octet-stream"),
        ("text/plain; charset=ISO-8859-1", "application/octet-stream"),
        ("text/plain; charset=iso-8859-1", "application/octet-stream"),
        ("text/plain; charset=UTF-8", "application/octet-stream"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("text/plain ", "text/plain"),
        ("TEXT/PLAIN", "text/plain"),
    ],
)
def test_SNF_04_only_what_a_server_says_by_default_is_doubted(header: str, found: str) -> None:
    assert as_text([header], b"a\0") == found
    assert sniff([header], b"a\0", protocol="file") == "text/plain"


@pytest.mark.parametrize("header", ["unknown/unknown", "Application/Unknown; x=y"])
def test_SNF_05_unknown_is_no_type(header: str) -> None:
    assert as_text([header], b"%PDF-1") == sniff([header], b"%PDF-1") == "application/pdf"


def test_SNF_05_any_type_is_none_today() -> None:
    assert as_text(["*/*"], b"%PDF-1") == "*/*"
    assert sniff(["*/*"], b"%PDF-1") == "application/pdf"


@pytest.mark.parametrize("label", ["image/svg+xml", "text/xml", "application/xml", "application/xhtml+xml"])
def test_SNF_06_xml_stays_what_it_is_called(label: str) -> None:
    assert sniff([label.upper()], PNG, supported_images=[label]) == label


def test_SNF_08_a_byte_order_mark_makes_it_text() -> None:
    for mark in (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf"):
        assert as_text(["text/plain"], mark + b"\0\0") == "text/plain"


def test_C_52_the_text_looks_for_a_mark_in_four_bytes_or_more() -> None:
    assert as_text(["text/plain"], b"\xfe\xff\0") == "application/octet-stream"
    assert sniff(["text/plain"], b"\xfe\xff\0") == "text/plain"


def test_SNF_09_binary_bytes_make_it_binary() -> None:
    binary = {byte for byte in range(256) if as_text(["text/plain"], bytes([0x41, byte])) != "text/plain"}

    assert binary == {*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)}


def test_SNF_08_the_text_looks_at_512_bytes_and_today_at_1445() -> None:
    for length, as_of_text, today in [(511, "binary", "binary"), (512, "text", "binary"), (1445, "text", "text")]:
        body = b"x" * length + b"\0"
        types = {"binary": "application/octet-stream", "text": "text/plain"}
        assert as_text([], body) == types[as_of_text]
        assert sniff([], body) == types[today]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"<!DocType HTMLx", "text/html"),
        (b" \t\n\f\r<hTMLx", "text/html"),
        (b"<HEADx", "text/html"),
        (b"\n<scriptx", "text/html"),
        (b"%PDF-", "application/pdf"),
        (b"%!PS-Adobe-", "application/postscript"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (PNG, "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"BM", "image/bmp"),
        (b"\0\0\1\0", "image/vnd.microsoft.icon"),
    ],
)
def test_SNF_10_signatures_tell_what_nobody_calls_anything(body: bytes, found: str) -> None:
    assert as_text([], body) == sniff([], body) == found
    assert as_text([], body.rstrip(b"x")[:-1]) != found


@pytest.mark.parametrize(
    "body", [b" <!DOCTYPE HTML>", b"<\x68\x74\x6d>", b"\x1c\x28TML", b"<!DOCTYPE\nHTML>", b"hello", b""]
)
def test_SNF_11_the_rest_is_text_or_binary(body: bytes) -> None:
    assert as_text([], body) in {"text/plain", "application/octet-stream"}


@pytest.mark.parametrize(
    "tag",
    [
        *("!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table"),
        *("a", "style", "title", "b", "body", "br", "p", "!--"),
    ],
)
def test_SNF_12_today_more_tags_begin_a_page(tag: str) -> None:
    name = tag.encode()
    assert sniff([], b" \n<" + name + b">") == sniff([], b"<" + name.upper() + b" x") == "text/html"


@pytest.mark.parametrize("body", [b"<bodyx>", b"<b\n", b"<b", b"<meta ", b"<!--x"])
def test_SNF_12_a_tag_must_end_there(body: bytes) -> None:
    assert sniff([], body) == "text/plain"


MP3_FRAME = b"\xff\xfb\x90\x00" + b"\0" * 413


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b" <?xml", "text/xml"),
        (b"\xfe\xffx\0", "text/plain"),
        (b"\xff\xfex\0", "text/plain"),
        (b"\xef\xbb\xbf\0", "text/plain"),
        (b"\0\0\2\0", "image/x-icon"),
        (b"RIFF\1\2\3\4WEBPVP8", "image/webp"),
        (b"RIFF\1\2\3\4WAVE", "audio/wave"),
        (b"RIFF\1\2\3\4AVI ", "video/avi"),
        (b"FORM\1\2\3\4AIFF", "audio/aiff"),
        (b"ID3", "audio/mpeg"),
        (b"OggS\0", "application/ogg"),
        (b"MThd\0\0\0\6", "audio/midi"),
        (b".snd", "audio/basic"),
        (b"\0\0\0\x14ftypisom\0\0\0\1mp42", "video/mp4"),
        (b"\0\0\0\x0cftypmp42", "video/mp4"),
        (b"\x1a\x45\xdf\xa3\x9fB\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9fB\x82\x40\x06\0\0webm", "video/webm"),
        (MP3_FRAME + MP3_FRAME, "audio/mpeg"),
        (b"\x1f\x8b\x08", "application/x-gzip"),
        (b"PK\3\4", "application/zip"),
        (b"Rar \x1a\x07\0", "application/x-rar-compressed"),
    ],
)
def test_SNF_12_today_more_signatures_are_known(body: bytes, found: str) -> None:
    assert sniff([], body) == found
    assert as_text([], body) in {"text/plain", "application/octet-stream"}


@pytest.mark.parametrize(
    "body",
    [
        b"\0\0\0\x14ftypisom\0\0\0\1avc1",
        b"\0\0\1\0\0ftypmp42",
        b"\0\0\0\x0dftypmp42\0",
        b"\x1a\x45\xdf\xa3\x9fB\x82\x88matroska",
        b"\x1a\x45\xdf\xa3" + b"\1" * 40 + b"B\x82\x84webm",
        b"\x1a\x45\xdf\xa3\x9fB\x82",
        MP3_FRAME,
        MP3_FRAME + b"\xff\xe0\0\0",
        b"\xff\xfb\xf0\0" + b"\0" * 999,
        b"\xff\xfb\x9c\0" + b"\0" * 999,
        b"\xff\xfb\x00\0" + MP3_FRAME,
    ],
)
def test_what_only_looks_like_sound_or_film_is_binary(body: bytes) -> None:
    assert sniff([], body) not in {"video/mp4", "video/webm", "audio/mpeg"}


def test_SNF_13_an_image_is_what_its_bytes_are() -> None:
    assert as_text(["image/jpeg"], PNG) == "image/png"
    assert as_text(["image/png"], b"<html>") == "image/png"
    assert as_text(["image/tiff"], PNG) == "image/tiff"
    assert sniff(["image/gif"], PNG, supported_images=["image/gif"]) == "image/gif"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"<rss", "application/rss+xml"),
        (b"\t\n\r <feed>", "application/atom+xml"),
        (b"\xef\xbb\xbf<?xml?><!DOCTYPE rss><!-- <feed> - -- --><!><rss>", "application/rss+xml"),
        (b"<?x?y?><feed>", "application/atom+xml"),
        (b"<!-->--><rss>", "application/rss+xml"),
        (b"\f<rss>", "text/html"),
        (b"<RSS>", "text/html"),
        (b"< rss>", "text/html"),
        (b"x<rss>", "text/html"),
        (b"<!--><rss>", "text/html"),
        (b"<?><rss>", "text/html"),
        (b"<?xml?><html>", "text/html"),
        (b"<rs", "text/html"),
        (b"", "text/html"),
    ],
)
def test_SNF_14_C_35_a_feed_may_be_called_a_page(body: bytes, found: str) -> None:
    assert as_text(["text/html; charset=utf-8"], body) == sniff(["text/html"], body) == found


def test_SNF_15_a_feed_is_found_within_512_bytes() -> None:
    assert as_text(["text/html"], b" " * 508 + b"<rss") == "application/rss+xml"
    assert as_text(["text/html"], b" " * 509 + b"<rss") == "text/html"
    assert sniff(["text/html"], b" " * 509 + b"<rss") == "application/rss+xml"


RDF = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RSS = b"http://purl.org/rss/1.0/"


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        (b'xmlns:rdf="' + RDF + b"\"\n xmlns = '" + RSS + b"'", "application/rss+xml"),
        (b'xmlns:a="' + RSS + b'" x="y" xmlns:b="' + RDF + b'"', "application/rss+xml"),
        (b'xmlns:rdf="' + RDF + b'"', "text/html"),
        (b'xmlns="' + RSS + b'" xmlns:x="' + RSS + b'"', "text/html"),
        (b'about="' + RDF + b'" xmlns="' + RSS + b'"', "text/html"),
        (b'xmlns:rdf="' + RDF + b'"><x xmlns="' + RSS + b'"', "text/html"),
    ],
)
def test_SNF_16_rdf_is_a_feed_with_both_namespaces(attributes: bytes, found: str) -> None:
    assert as_text(["text/html"], b"<rdf:RDF " + attributes + b">") == found
    assert as_text(["text/html"], b"<rdf:RDF " + attributes) == "text/html"


@pytest.mark.parametrize("headers", [["text/html"], ["text/plain"], ["image/png"], ["video/mp4"]])
def test_a_server_that_forbids_sniffing_is_taken_at_its_word(headers: list[str]) -> None:
    for body in (b"<rss>", b"\0", PNG, b"GIF89a"):
        assert sniff(headers, body, nosniff=True) == headers[0]


def test_where_sniffing_is_forbidden_nothing_becomes_a_page() -> None:
    for body in (b"<html>", b"<!doctype html>", b"<p>", b"<?xml", b"%PDF-"):
        assert sniff([], body, nosniff=True) == sniff(["unknown/unknown"], body, nosniff=True) == "text/plain"
    assert sniff([], PNG, nosniff=True) == "image/png"


headers = st.lists(
    st.one_of(
        st.sampled_from(["text/html", "text/plain", "unknown/unknown", "*/*", "image/png", "image/gif", "a/b+xml"]),
        st.text(max_size=12),
    ),
    max_size=2,
)
starts = st.sampled_from(
    [b"", b" ", b"<", b"<!--", b"<?xml?>", b"<rdf:RDF ", b"<html>", b"\x1a\x45\xdf\xa3B\x82", b"\0\0\0\x14ftyp"]
)


@given(headers, starts, st.binary(max_size=60), st.booleans())
def test_any_bytes_have_a_type_and_a_label_never_becomes_html(
    headers: list[str],
    start: bytes,
    rest: bytes,
    nosniff: bool,  # noqa: FBT001 - drawn
) -> None:
    body = start + rest
    for profile in ("text", "living"):
        found = sniff(headers, body, profile=profile, nosniff=nosniff)

        assert "/" in found
        if found == "text/html" and headers and "/" in headers[0]:
            assert headers[0] not in {"text/plain", "image/png", "image/gif", "a/b+xml"}


@given(st.binary(min_size=SNIFFED_BYTES, max_size=SNIFFED_BYTES + 200), headers)
def test_SNF_17_the_first_1445_bytes_decide(body: bytes, headers: list[str]) -> None:
    assert sniff(headers, body) == sniff(headers, body[:SNIFFED_BYTES])
