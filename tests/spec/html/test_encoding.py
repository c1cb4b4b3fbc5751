from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.decoding import decode, encoding_for, prescan, xml_declaration
from tocsin.spec.html.document import read_metas
from tocsin.spec.html.page import find_encoding, find_xml_encoding, is_undeclared_utf8, read_html

PIECES = [
    *(
        b"<!doctype html>",
        b"<html lang=en>",
        b"<br/>",
        b"<a b='>'>",
        b"<a b=c/>",
        b"<a/b=c>",
        b"<a b = 'c' d>",
        b"</a b>",
    ),
    *(b"<meta charset='koi8-r'>", b'<meta charset="KOI8-R" />', b"<meta charset=bogus>", b"<meta charset=koi8-r/>"),
    *(b"<meta charset=\"koi8-r'>", b'<meta charset="koi8-r"x>', b"<meta  charset=koi8-r x>"),
    *(
        b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r" />',
        b"<!--->",
        b"<!-- <meta charset=utf-8> -->",
    ),
    *(b'<meta http-equiv=content-type content="text/html;charset=bogus">', b"--", b"<meta name=x content='<a>'>"),
    *(b'<meta http-equiv=content-type" content="text/html; charset=utf-8">', b"<1 a='<a b=\"'>"),
    *(b"<a b='", b'<a b="', b"<a b='c'd>", b"<meta charset=koi8-r>", b"<META CHARSET='utf-8'>", b"<metal>", b"<meta"),
    *(b"<meta name=x>", b"</meta charset=koi8-r>", b"<!--", b"-->", b"<!x>", b"<?x>", b"</>", b"<", b"> ", b"x", b"'"),
    *(b"<title>", b"<a <b>", b"<a =>", b"<a b==c>", b"<1>", b"<a\x00b>", b"<a b\t=\nc\f>", b"charset"),
]


def test_a_page_that_declares_nothing_is_windows_1252() -> None:
    assert find_encoding(b"<p>x", None) == find_encoding(b"", "text/html") == "windows-1252"


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be")]
)
def test_a_byte_order_mark_stands_above_all(mark: bytes, encoding: str) -> None:
    body = mark + b"<meta charset=koi8-r>"

    assert find_encoding(body, "text/html; charset=iso-8859-2") == encoding
    assert find_xml_encoding(body, "application/xhtml+xml; charset=iso-8859-2") == encoding


def test_http_stands_above_the_page() -> None:
    assert find_encoding(b"<meta charset=koi8-r>", "text/html; charset=utf-8") == "utf-8"


def test_an_unknown_charset_in_http_is_passed_over() -> None:
    assert find_encoding(b"<meta charset=koi8-r>", "text/html; charset=bogus") == "koi8-r"
    assert find_encoding(b"<meta charset=koi8-r>", "text/html; charset=\udce9") == "koi8-r"


@pytest.mark.parametrize(
    "declaration",
    [
        "<meta charset=koi8-r>",
        "<META CharSet='KOI8-R'>",
        '<meta name=x charset=" koi8-r ">',
        "<meta/charset=koi8-r>",
        "<meta charset=bogus><meta charset=koi8-r>",
        "<meta http-equiv=content-type content='text/html; charset=koi8-r'>",
        "<meta content='text/html; charset=koi8-r' http-equiv=Content-Type>",
        "<meta content='charset=bogus' charset=koi8-r>",
        "<meta charset=koi8-r content='charset=utf-8'>",
        "<meta charset=koi8-r charset=utf-8>",
        "<!-- <meta charset=utf-8> --><meta charset=koi8-r>",
        "<!--><meta charset=koi8-r>",
        "<a title='<meta charset=utf-8>'><meta charset=koi8-r>",
        "</a title='<meta charset=utf-8>'><meta charset=koi8-r>",
        "<!doctype x><?pi <x?></ x><meta charset=koi8-r>",
        "< <1 <meta charset=koi8-r>",
        "<metal charset=utf-8><meta charset=koi8-r>",
        "<?xml version='1.0' encoding='koi8-r'?>",
        '<?xml version="1.0" encoding="koi8-r"?>',
    ],
)
def test_the_first_bytes_of_a_page_declare_its_encoding(declaration: str) -> None:
    assert find_encoding(declaration.encode(), None) == "koi8-r"


@pytest.mark.parametrize(
    "declaration",
    [
        "<meta content='text/html; charset=koi8-r'>",
        "<meta http-equiv=refresh content='text/html; charset=koi8-r'>",
        "<meta http-equiv=x http-equiv=content-type content='charset=koi8-r'>",
        "<meta name=charset content=koi8-r>",
        "<!-- <meta charset=koi8-r>",
        "<!x <meta charset=koi8-r",
        "<meta charset='koi8-r>",
        "<meta charset>",
        "<meta charset=>",
        " <?xml version='1.0' encoding='koi8-r'?>",
    ],
)
def test_what_only_looks_like_a_declaration_is_none(declaration: str) -> None:
    assert find_encoding(declaration.encode(), None) == "windows-1252"


def test_a_declaration_that_could_be_read_is_not_utf_16() -> None:
    assert find_encoding(b"<meta charset=utf-16>", None) == "utf-8"
    assert find_encoding(b"<meta charset=utf-16be>", None) == "utf-8"
    assert find_encoding(b"x", "text/html; charset=utf-16") == "utf-16le"


def test_x_user_defined_in_a_page_is_windows_1252() -> None:
    assert find_encoding(b"<meta charset=x-user-defined>", None) == "windows-1252"
    assert find_encoding(b"x", "text/html; charset=x-user-defined") == "x-user-defined"


@pytest.mark.parametrize(("start", "encoding"), [(b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be")])
def test_the_start_of_an_xml_declaration_tells_utf_16(start: bytes, encoding: str) -> None:
    assert find_encoding(start, None) == find_xml_encoding(start, None) == encoding


def test_the_prescan_ends_after_1024_bytes() -> None:
    declaration = b"<meta charset=koi8-r>"

    assert prescan(b" " * (1024 - len(declaration)) + declaration) == "koi8-r"
    assert prescan(b" " * (1026 - len(declaration)) + declaration) is None


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ("<meta charset=iso-8859-15>", "iso-8859-15"),
        ("<meta charset=koi8-u>", "koi8-u"),
        ("<meta charset = 'koi8-u' />", "koi8-u"),
        ("<meta name=x charset=koi8-u charset=koi8-r>", "koi8-u"),
        ("<meta http-equiv=content-type content=charset=koi8-u>", "koi8-u"),
        ("<meta content='text/html; charset=koi8-u' http-equiv=content-type>", "koi8-u"),
        ("<meta charset=koi8-u content>", "koi8-u"),
    ],
)
def test_a_declaration_that_the_1024_bytes_cut_is_not_read_before_its_end(declaration: str, encoding: str) -> None:
    for kept in range(1, len(declaration)):
        body = (" " * (1024 - kept) + declaration + "<p>").encode()
        assert prescan(body) is None, kept
        assert find_encoding(body, None) == encoding, kept


@pytest.mark.parametrize(
    "opened",
    [
        "<a title='",
        '<a title="',
        "<a b=c title='",
        "</a title='",
        "<meta name='",
        "<a b = '",
        "<meta charset=x content='",
    ],
)
def test_a_meta_within_a_value_that_the_1024_bytes_leave_open_declares_nothing(opened: str) -> None:
    quote = opened[-1]
    body = f"{opened}<meta charset=koi8-u>{' ' * 1024}{quote}>".encode()

    assert prescan(body) is None
    assert find_encoding(body, None) == "windows-1252"


@pytest.mark.parametrize(
    "source", ["<meta charset=koi8-u", "<meta charset=koi8-u ", "<meta charset='koi8-u'", "<meta charset=koi8-u /"]
)
def test_a_tag_without_an_end_declares_nothing(source: str) -> None:
    assert prescan(source.encode()) is None
    assert find_encoding(source.encode(), None) == "windows-1252"


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.integers(0, 1100))
def test_what_the_prescan_finds_in_a_part_it_finds_in_the_whole(pieces: list[bytes], cut: int) -> None:
    body = b"".join(pieces)

    assert prescan(body[:cut]) in {None, prescan(body)}


@pytest.mark.parametrize(
    "declaration",
    ["<meta charset=koi8-r>", "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>"],
)
def test_a_declaration_beyond_the_prescan_changes_the_encoding(declaration: str) -> None:
    head = f"<script>//{'x' * 1024}\n'<meta charset=utf-8>'</script><meta charset=bogus><meta name=a>"

    assert find_encoding(f"{head}{declaration}<meta charset=utf-8>".encode(), None) == "koi8-r"


@pytest.mark.parametrize("tail", ["<meta name=a content='charset=koi8-r'>", "<!--<meta charset=koi8-r>", "charset"])
def test_beyond_the_prescan_too_only_a_declaration_declares(tail: str) -> None:
    assert find_encoding(f"<!--{'x' * 1024}-->{tail}".encode(), None) == "windows-1252"


@pytest.mark.parametrize(
    "source",
    [
        "<meta http-equiv=content-type\" content='text/html; charset=utf-8'>",
        '<meta http-equiv="content-type content="text/html; charset=utf-8">',
        '<meta http-equiv="refresh" content="text/html; charset=utf-8">',
        "<meta charset=utf-8/>",
        "<meta charset='utf-8\">",
    ],
)
def test_what_is_nearly_a_declaration_is_none(source: str) -> None:
    assert prescan(source.encode()) is None


def test_what_the_prescan_cannot_see_is_seen_wherever_it_stands() -> None:
    body = b"<script>'<!--'</script><meta charset=koi8-r>"

    assert prescan(body) is None
    assert find_encoding(body, None) == "koi8-r"


@pytest.mark.parametrize("label", ["utf-8", "koi8-r", "windows-1252", "shift_jis", "iso-2022-jp", "utf-16", "bogus"])
@pytest.mark.parametrize("content", ["ascii", "\u00e9\u65e5", "\x1b$B!!"])
def test_a_page_that_declares_its_encoding_late_is_read_in_it(label: str, content: str) -> None:
    source = f"<!--{'x' * 1024}--><meta name=created content='{content}'><meta charset={label}>"
    body = source.encode()

    encoding, reading = read_html(body, None)

    assert encoding == find_encoding(body, None)
    assert reading.metas == read_metas(body, encoding).metas
    assert reading.problems == read_metas(body, encoding).problems


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_what_the_prescan_skips_at_once_is_what_it_skips_tag_by_tag(pieces: list[bytes]) -> None:
    body = b"".join(pieces)[:900]

    assert prescan(body) == prescan(b"<a =>" + body)


def test_a_page_too_complex_to_be_searched_keeps_the_default() -> None:
    body = b"<html a>" * 20_000 + b"<meta charset=koi8-r>"

    assert find_encoding(body, None) == "windows-1252"


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html", "windows-1252"),
        ("text/html;charset=koi8-r", "koi8-r"),
        ("text/html; CHARSET=koi8-r ", "koi8-r"),
        ('text/html; charset="koi8-r"', "koi8-r"),
        ('text/html; charset="koi8-r', "koi8-r"),
        ("text/html; x=1; charset=koi8-r; charset=utf-8", "koi8-r"),
        ("text/html; charset", "windows-1252"),
        ("text/html; charset =koi8-r", "windows-1252"),
        ("text/html; charset='koi8-r'", "windows-1252"),
        ("charset=koi8-r", "windows-1252"),
        ("html; charset=koi8-r", "windows-1252"),
        ("", "windows-1252"),
    ],
)
def test_the_charset_parameter_is_read_as_http_writes_it(content_type: str, encoding: str) -> None:
    assert find_encoding(b"", content_type) == encoding


@pytest.mark.parametrize(
    ("label", "encoding"),
    [("UTF8", "utf-8"), (" latin1\n", "windows-1252"), ("ascii", "windows-1252"), ("sjis", "shift_jis")],
)
def test_labels_are_those_of_the_encoding_standard(label: str, encoding: str) -> None:
    assert encoding_for(label) == encoding


@pytest.mark.parametrize("label", [None, "", "bogus", "\u212aoi8-r", "utf_8", "\udce9"])
def test_other_labels_name_nothing(label: str | None) -> None:
    assert encoding_for(label) is None


def test_xhtml_is_utf_8_unless_it_says_otherwise() -> None:
    assert find_xml_encoding(b"<html>", None) == "utf-8"
    assert find_xml_encoding(b"<?xml version='1.0' encoding='latin1'?>", None) == "windows-1252"
    assert find_xml_encoding(b"<?xml version='1.0' encoding='latin1'?>", "a/b; charset=koi8-r") == "koi8-r"
    assert find_xml_encoding(b"<meta charset=koi8-r>", None) == "utf-8"


def test_an_xml_declaration_ends_with_its_tag() -> None:
    assert xml_declaration(b"<?xml version='1.0'?><x encoding='latin1'>") is None


def test_windows_1252_has_a_letter_for_each_byte() -> None:
    assert decode(b"\x80\x81\x9d\xff", "windows-1252") == "\u20ac\x81\x9d\u00ff"
    assert decode(b"\x80\x81", "no such encoding") == "\u20ac\x81"


def test_the_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode(b"\xef\xbb\xbfx", "utf-8") == "x"
    assert decode(b"\xff\xfex\0", "utf-16le") == "x"
    assert decode(b"\xef\xbb\xbfx", "windows-1252") == "\u00ef\u00bb\u00bfx"


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            "utf-8",
            "utf-16le",
            "shift_jis",
            "gb18030",
            "iso-2022-jp",
            "replacement",
            "x-user-defined",
            "x-mac-cyrillic",
            "big5",
            "iso-8859-8-i",
        ]
    ),
)
def test_no_bytes_raise_in_any_encoding(body: bytes, encoding: str) -> None:
    decode(body, encoding).encode()


@given(st.binary(max_size=1200), st.one_of(st.none(), st.text(max_size=60)))
def test_every_page_has_an_encoding(body: bytes, content_type: str | None) -> None:
    assert encoding_for(find_encoding(body, content_type)) == find_encoding(body, content_type)
    assert encoding_for(find_xml_encoding(b"<?xml" + body, content_type))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Jürgen", None),
        ("<p>Jürgen", "text/html"),
        ("<p>Jürgen", "text/html; charset=bogus"),
        ("<meta charset=bogus><p>Jürgen", None),
        ("<p>Jürgen <!-- <meta charset=utf-8> -->", None),
    ],
)
def test_letters_of_utf8_of_which_nothing_says_so_are_noticed(body: str, content_type: str | None) -> None:
    assert is_undeclared_utf8(body.encode(), content_type)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<p>Juergen", None),
        ("<p>Jürgen".encode("latin-1"), None),
        ("<p>Jürgen".encode(), "text/html; charset=latin1"),
        ("\ufeff<p>Jürgen".encode(), None),
        ("<meta charset=utf-8><p>Jürgen".encode(), None),
        ("<meta charset=windows-1252><p>Jürgen".encode(), None),
        (("<p>Jürgen" + "x" * 2000 + "<meta charset=utf-8>").encode(), None),
        ("<?xml version='1.0' encoding='utf-8'?><p>Jürgen".encode(), None),
    ],
)
def test_other_letters_and_those_of_a_page_that_says_what_it_is_in_are_not(
    body: bytes, content_type: str | None
) -> None:
    assert not is_undeclared_utf8(body, content_type)


@given(st.binary(max_size=200), st.none() | st.text(max_size=30))
def test_whatever_the_bytes_are_utf8_that_is_undeclared_is_read_as_the_default(
    body: bytes, content_type: str | None
) -> None:
    assert not is_undeclared_utf8(body, content_type) or find_encoding(body, content_type) == "windows-1252"
