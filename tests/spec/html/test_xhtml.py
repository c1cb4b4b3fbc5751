from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import TooComplex
from tocsin.spec.html.document import Meta
from tocsin.spec.html.xhtml import parse_xml, read_whole_xhtml, read_xhtml_metas

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


@pytest.mark.parametrize("broken", ["</x>", "<p>&;", "<p a=1>", ""])
def test_a_page_that_is_not_well_formed_is_read_up_to_there(broken: str) -> None:
    reading = read_xhtml_metas(f"{TOP}{PLANT}{broken}".encode(), "utf-8")

    assert reading.metas == (PLANTED,)
    (problem,) = reading.problems
    assert problem.startswith("not well-formed XML")
    assert problem.endswith("; read up to there")


DECLARED = '<?xml version="1.0" encoding="utf-8" standalone="yes"?>'


@pytest.mark.parametrize(
    "start",
    [
        "",
        DECLARED,
        "<!DOCTYPE html>",
        f"{DECLARED}\n<!-- <!DOCTYPE html> -->\n<?x y?>\n<!DOCTYPE html >",
        "<!DOCTYPE html [<!ENTITY other 'x'>]>",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
        "<!DOCTYPE html SYSTEM 'about:legacy-compat'>",
    ],
)
def test_CI_10_an_unknown_entity_is_empty_text(start: str) -> None:
    source = (
        f'{start}{TOP}<title>a&foo;b<i>&nbsp;c</i>&eacute;</title><meta name="x" content="a&foo;b&amp;"/></head></html>'
    )

    whole = read_whole_xhtml(source.encode(), "utf-8")

    assert (whole.title, whole.metas, whole.problems) == ("abc", (Meta(name="x", content="ab&"),), ())


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("<a>\n <b>", "line 2, column 5"),
        ("<a></b>", "line 1, column 8"),
        ("<!DOCTYPE a>\n<a></b>", "line 2, column 8"),
        ("<!DOCTYPE a><a></b>", "line 1, column 20"),
        ("<!DOCTYPE a SYSTEM ''><a></b>", "line 1, column 30"),
        ("<?xml version='1.0'?><a></b>", "line 1, column 29"),
    ],
)
def test_an_error_is_told_with_its_place(source: str, place: str) -> None:
    _, stop = parse_xml(source.encode(), "utf-8")

    assert str(stop).startswith(f"not well-formed XML at {place}: ")
    assert str(stop).count("column") == 1


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + TOP + "<title>x&b;</title></head></html>"

    assert read_whole_xhtml(bomb.encode(), "utf-8").title == "x"


def test_no_file_is_read() -> None:
    source = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + TOP + "<title>a&x;</title></head></html>"

    assert read_whole_xhtml(source.encode(), "utf-8").title == "a"


def test_the_first_title_is_the_pages() -> None:
    source = f"{TOP}<title>a<title>b</title></title><title>c</title></head></html>"

    assert read_whole_xhtml(source.encode(), "utf-8").title == "ab"
    assert read_whole_xhtml(f"{TOP}<title>a".encode(), "utf-8").title == "a"


LINKED = "<!ENTITY e0 'xxxxxxxxxxxxxxx'>" + "".join(
    f"<!ENTITY e{number} '{f'&e{number - 1};' * 10}'>" for number in range(1, 30)
)
DEFAULTS = " ".join(f"a{number} CDATA 'x'" for number in range(20_000))


@pytest.mark.parametrize(
    "source",
    [
        TOP + "<p>" * 300_000,
        TOP + "<p/>" * 300_000,
        TOP + "<title>" * 250 + "<title/>" * 100_000,
        TOP + "<template>" * 250 + "<meta/>" * 100_000,
        (TOP + "<p " + " ".join(f'a{number}="1"' for number in range(1000)) + "/>") * 90,
        TOP + "<p x='" + "a=b " * 200_000 + "'/>" + "<p " * 300_000,
        TOP + "&nope;" * 150_000,
        f"<!DOCTYPE html [{LINKED}]>{TOP}<p>&e29;</p><meta content='&e29;'/>",
        f"<!DOCTYPE html [<!ENTITY e '{'x' * 50_000}'>]>{TOP}<meta content='{'&e;' * 20_000}'/>",
        f"<!DOCTYPE html [<!ATTLIST p {DEFAULTS}>]>{TOP}{'<p/>' * 99_999}",
        "<!--" * 250_000,
        "<!-- -->" * 120_000,
        "<?x?>" * 200_000,
        "<" * 900_000,
    ],
    ids=lambda source: source[:60][-12:],
)
def test_a_page_built_to_be_slow_is_read_in_no_time(source: str) -> None:
    whole = read_whole_xhtml(source.encode(), "utf-8")

    assert sum(len(meta.content or "") for meta in whole.metas) < 10 * len(source)


def test_CI_08_an_element_of_too_many_attributes_is_too_complex() -> None:
    attributes = "\n".join(f"a{number} = '>'" for number in range(1001))

    with pytest.raises(TooComplex):
        parse_xml(f"{TOP}<p {attributes}/>".encode(), "utf-8")


@pytest.mark.parametrize("piece", ["<p/>", "<", "<meta/>"])
def test_CI_08_a_page_of_too_many_elements_is_too_complex(piece: str) -> None:
    count = 150_000 if "meta" in piece else 1_000_001

    with pytest.raises(TooComplex):
        read_xhtml_metas((TOP + piece * count).encode(), "utf-8")


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    for encoding in ("utf-8", "utf-16le"):
        read_whole_xhtml(body, encoding)
        read_whole_xhtml(TOP.encode() + body, encoding)


@given(
    st.lists(
        st.sampled_from(
            [
                "<?xml version='1.0'?>",
                "<!DOCTYPE",
                " html",
                "[",
                "]",
                ">",
                "<!--",
                "-->",
                "<?",
                "?>",
                TOP,
                PLANT,
                "&x;",
                '"',
            ]
        )
    )
)
def test_no_markup_raises(parts: list[str]) -> None:
    read_whole_xhtml("".join(parts).encode(), "utf-8")
