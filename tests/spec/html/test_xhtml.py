from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.meta import Meta
from tocsin.spec.html.xhtml import read_whole_xhtml, read_xhtml_metas

TOP = '<html xmlns="http://www.w3.org/1999/xhtml"><head>'
PLANT = '<meta name="topper" content="true"/>'
PLANTED = Meta(name="topper", content="true")


def test_T17_an_xhtml_page_is_read_as_xml() -> None:
    source = f'{TOP}<title> a\n<b/>c</title>{PLANT}<meta property="p" http-equiv="q" content=""/></head></html>'

    whole = read_whole_xhtml(source.encode(), "utf-8")

    assert whole.title == "a c"
    assert whole.metas == (PLANTED, Meta(property="p", http_equiv="q"))
    assert whole.problems == ()


def test_only_elements_of_xhtml_count() -> None:
    source = f'{TOP}<x:meta xmlns:x="urn:x" name="topper" content="x"/><META name="a"/></head></html>'

    assert read_xhtml_metas(source.encode(), "utf-8").metas == ()


def test_template_content_is_not_the_pages() -> None:
    source = f"{TOP}<template>{PLANT}<template/>{PLANT}</template>{PLANT}</head></html>"

    assert read_xhtml_metas(source.encode(), "utf-8").metas == (PLANTED,)


def test_the_encoding_found_stands_above_the_declaration() -> None:
    source = f'<?xml version="1.0" encoding="koi8-r"?>{TOP}<title>\u00e9</title></head></html>'

    assert read_whole_xhtml(source.encode(), "utf-8").title == "\u00e9"
    assert read_whole_xhtml(source.encode("utf-16"), "utf-16le").title == "\u00e9"


@pytest.mark.parametrize("broken", ["</x>", "<p>&nope;", "<p a=1>", ""])
def test_a_page_that_is_not_well_formed_is_read_up_to_there(broken: str) -> None:
    reading = read_xhtml_metas(f"{TOP}{PLANT}{broken}".encode(), "utf-8")

    assert reading.metas == (PLANTED,)
    (problem,) = reading.problems
    assert problem.startswith("not well-formed XML")
    assert problem.endswith("; read up to there")


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + TOP + "<title>x&b;</title></head></html>"

    assert read_whole_xhtml(bomb.encode(), "utf-8").title == "x&b;"


def test_no_file_is_read() -> None:
    source = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + TOP + "<title>&x;</title></head></html>"

    assert read_whole_xhtml(source.encode(), "utf-8").title == "&x;"


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    for encoding in ("utf-8", "utf-16le"):
        read_whole_xhtml(body, encoding)
        read_whole_xhtml(TOP.encode() + body, encoding)
