from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.conformance.urls import Decomposition, DraftUrl, decompose, parse_url, resolve
from tocsin.spec.infrastructure.urls import remove_dot_segments, split_reference

BASE = "http://a.example/b/c;d?e#f"


def relative(path: str, query: str | None = None, fragment: str | None = None) -> DraftUrl:
    return DraftUrl(None, None, None, None, path, query, fragment)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            "\tFTP://me:pw@H.example:2121/p/q?r/?s#t#u\n",
            DraftUrl("FTP", "me:pw", "H.example", "2121", "/p/q", "r/?s", "t#u"),
        ),
        ("http://", DraftUrl("http", None, "", None, "", None, None)),
        ("//h:?#", DraftUrl(None, None, "h", "", "", "", "")),
        ("http://[::1]:8/", DraftUrl("http", None, "[::1]", "8", "/", None, None)),
        ("http://h\\x|y/", DraftUrl("http", None, "h\\x|y", None, "/", None, None)),
        ("http://%@h/", DraftUrl("http", "%", "h", None, "/", None, None)),
        ("urn:x:y", DraftUrl("urn", None, None, None, "x:y", None, None)),
        ("a \u00e9|%/b:c", relative("a \u00e9|%/b:c")),
        ("", relative("")),
        ("?a?b", relative("", "a?b")),
        ("#", relative("", None, "")),
    ],
)
def test_URL02_to_URL05_the_components_are_parts_of_what_is_written(text: str, url: DraftUrl) -> None:
    assert parse_url(text) == url


@pytest.mark.parametrize(
    "text",
    ["1x:y", ":y", "a b:c", "http://h:8o/", "http://h:\u0668/", "http://a@b@c/", "http://h%4/", "http://[::1]x/"],
)
def test_URL04_what_is_no_reference_even_so_is_an_error(text: str) -> None:
    assert parse_url(text) is None
    assert resolve(text, BASE) is None
    assert decompose(text) is None


@pytest.mark.parametrize(
    ("text", "hostport"),
    [
        ("http://h:80/", "h"),
        ("HTTP://h:0080/", "h"),
        ("https://h:80/", "h:80"),
        ("http://h:/", "h"),
        ("other://h:0/", "h:0"),
        ("//h:8080/", "h"),
        ("mailto:h", None),
    ],
)
def test_URL05_the_port_that_goes_without_saying_is_left_out(text: str, hostport: str | None) -> None:
    parsed = parse_url(text)

    assert parsed is not None
    assert parsed.hostport == hostport


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("g", "http://a.example/b/g"),
        ("./", "http://a.example/b/"),
        ("../../../g", "http://a.example/g"),
        ("", "http://a.example/b/c;d?e"),
        ("?", "http://a.example/b/c;d?"),
        ("#", "http://a.example/b/c;d?e#"),
        ("//H.example", "http://H.example"),
        ("HTTP://H.example/./x/../y", "HTTP://H.example/y"),
        ("http:g", "http:g"),
        ("http://me@h:8080?x", "http://me@h:8080?x"),
        ("a b^\u00e9%zz%41", "http://a.example/b/a%20b%5E%C3%A9%zz%41"),
        ("a\ud800", "http://a.example/b/a%EF%BF%BD"),
        ("?<\u00e9\u263a>%", "http://a.example/b/c;d?%3C%E9?%3E%"),
        ("#\u00e9 |", "http://a.example/b/c;d?e#\u00e9 |"),
        ("x\\y#a\\b", "http://a.example/b/x%5Cy#a/b"),
        ("other://h/#a\\b", "other://h/#a\\b"),
    ],
)
def test_URL08_to_URL14_a_url_is_resolved_as_in_2008(text: str, url: str) -> None:
    assert resolve(text, BASE, "windows-1252") == url


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "no-such-label"])
def test_URL08_a_query_in_utf_16_is_written_in_utf_8(encoding: str) -> None:
    assert resolve("?\u00e9", BASE, encoding) == "http://a.example/b/c;d?%C3%A9"


@pytest.mark.parametrize(
    ("host", "written"),
    [
        ("%42.example", "B.example"),
        ("caf%C3%A9.example", "xn--caf-dma.example"),
        ("CAF\u00c9\u3002example\uff0e", "xn--caf-dma.example."),
        ("stra\u00dfe.example", "strasse.example"),
        ("\uff21.example", "a.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("x" * 63, "x" * 63),
    ],
)
def test_URL09_a_host_is_expanded_and_made_ascii(host: str, written: str) -> None:
    assert resolve(f"//{host}/", BASE) == f"http://{written}/"


@pytest.mark.parametrize(
    "host",
    [
        "%C3",
        "%ff",
        "a_b",
        "-a",
        "a-",
        "-\u00e9",
        "\u00e9-",
        "\u00e9_",
        "a b",
        "a..b",
        "a%2Fb",
        "a%00",
        "[bad",
        "\u200b.x",
        "x" * 64,
        "\u00e9" * 63,
        "\u00e9" * 5000,
    ],
)
def test_URL09_a_host_that_cannot_be_ascii_is_an_error(host: str) -> None:
    assert resolve(f"//{host}/", BASE) is None


def test_URL12_a_base_may_have_no_path() -> None:
    assert resolve("g", "http://a.example") == "http://a.example/g"


@pytest.mark.parametrize(("text", "base"), [("g", "b/c"), ("//h", ""), ("", "")])
def test_a_base_without_a_scheme_leads_nowhere(text: str, base: str) -> None:
    assert resolve(text, base) is None
    assert resolve("x:y", base) == "x:y"


@pytest.mark.parametrize(
    ("path", "walked"),
    [
        ("/a/./b/../c", "/a/c"),
        ("/a/b/..", "/a/"),
        ("/a/.", "/a/"),
        ("/../a", "/a"),
        ("/..", "/"),
        ("//..", "/"),
        ("a/../b", "/b"),
        ("a/..", "/"),
        ("../a/", "a/"),
        ("./../a", "a"),
        ("..//a", "/a"),
        ("./..", ""),
        (".", ""),
        ("", ""),
        ("/...", "/..."),
    ],
)
def test_URL12_dot_segments_are_walked(path: str, walked: str) -> None:
    assert remove_dot_segments(path) == walked


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http://h:8080/p?q#f", Decomposition("http:", "h:8080", "h", "8080", "/p", "?q", "#f")),
        ("https://h:443?#", Decomposition("https:", "h", "h", "443", "", "?", "#")),
        ("http://h:", Decomposition("http:", "h", "h", "", "", "", "")),
        ("mailto:me?x#f", Decomposition("mailto:", "", "", "", "", "", "#f")),
        ("file:/p?q", Decomposition("file:", "", "", "", "/p", "?q", "")),
        ("p?q", Decomposition("", "", "", "", "p", "?q", "")),
    ],
)
def test_URL17_a_url_is_taken_apart_by_the_table(text: str, parts: Decomposition) -> None:
    assert decompose(text) == parts


texts = st.text(st.sampled_from("htp:/?#[]@%2\\. \t\u00e9\u263a\ud800\uff0e") | st.characters(exclude_categories=()))


@given(texts)
def test_a_split_reference_is_written_together_as_it_was(text: str) -> None:
    assert str(split_reference(text)) == text


@given(texts, st.just(BASE) | texts, st.sampled_from(["utf-8", "latin1", "iso-2022-jp", "big5"]))
def test_no_text_raises(text: str, base: str, encoding: str) -> None:
    resolve(text, base, encoding)
    decompose(text)


@given(texts)
def test_URL09_to_URL11_a_resolved_url_resolves_to_itself(text: str) -> None:
    url = resolve(text, BASE)

    assert url is None or resolve(url, BASE) == url
