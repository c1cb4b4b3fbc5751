from __future__ import annotations

import pytest

from tocsin.spec.html.positions import Finding, Level
from tocsin.spec.lint.check import lint

XHTML = "application/xhtml+xml"


def judged(body: str) -> list[tuple[int, int, str]]:
    page = f'<html xmlns="http://www.w3.org/1999/xhtml">\n{body}</html>'
    return [finding[:3] for finding in lint(page.encode(), XHTML)]


@pytest.mark.parametrize(
    "page",
    [
        '<head><title/><script src="x"/></head>\n<body id="b"><p id="b"/></body>',
        '<!-- <p id="b"/> --><body id="b"/>\n<body><p  id="b"/></body>',
        '<body id="b"/><![CDATA[ <p id="b"> ]]>\n<body><p  id="b"/></body>',
        '<body id="b"/><?x <p id="b"> ?>\n<body><p  id="b"/></body>',
        '<body id="b" title="&lt;p>"/>\n<body><p  id="b"/></body>',
    ],
)
def test_an_element_is_found_whatever_stands_before_it(page: str) -> None:
    assert [(line, rule) for line, _, rule in judged(page)] == [(3, "LM-04")]


def test_a_document_type_may_hold_what_looks_like_tags() -> None:
    doctype = """<!DOCTYPE html PUBLIC "a" 'b>c' [ <!ENTITY e "<p id='x'>"> <!-- ' ]> --> <?x ]> ?> ]>"""
    page = f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml" id="x"><p id="x"/></html>'

    assert [(finding.column, finding.rule) for finding in lint(page.encode(), XHTML)] == [
        (page.rindex('x"') + 1, "LM-04")
    ]


def test_attributes_have_their_places_and_values() -> None:
    body = "<p><a\n title = '>' rel='toc'\n href=\"a b\"/></p>"

    assert judged(body) == [(3, 19, "LK-14"), (4, 9, "LK-04")]


def test_topper_elements_of_xhtml_are_judged_in_their_places() -> None:
    assert judged('<head><meta name="topper" content="soon"/></head>') == [(2, 36, "T01")]


def test_template_content_is_not_the_page() -> None:
    assert judged('<body><template><a href="a b"/></template><p id="x"/></body>') == []


def test_elements_of_other_namespaces_are_no_links_but_their_ids_count() -> None:
    body = '<svg:svg xmlns:svg="http://www.w3.org/2000/svg"><svg:a id="x" href="a b"/></svg:svg><p id="x"/>'

    assert [rule for *_, rule in judged(body)] == ["LM-04"]


def test_CI09_the_first_error_of_well_formedness_is_told_and_ends_the_page() -> None:
    page = b'<html xmlns="http://www.w3.org/1999/xhtml"><p id="a"/><p id="a"/>\n<b></i><p id="a"/></html>'

    first, second = lint(page, XHTML)

    assert (first.rule, first.line) == ("LM-04", 1)
    assert (second.rule, second.line, second.level) == ("CI-09", 2, Level.ERROR)
    assert "what follows is not looked at" in second.message


def test_CI09_a_page_without_the_namespace_of_html_is_none() -> None:
    assert lint(b"<html><body/></html>", XHTML) == (
        Finding(
            1,
            1,
            "CI-09",
            Level.ERROR,
            'the page has no html element of HTML; write <html xmlns="http://www.w3.org/1999/xhtml">',
        ),
    )


def test_CI09_the_same_page_as_html_need_not_be_well_formed() -> None:
    assert lint(b"<html><p id=a><b></i></html>") == ()


@pytest.mark.parametrize(
    "rest", ["<!-- ", "<![CDATA[ ", "<? ", "<!DOCTYPE [ <!-- ", "<!DOCTYPE [ ' ", "</p", "<p", "<"]
)
def test_what_never_ends_ends_the_page(rest: str) -> None:
    assert {rule for *_, rule in judged(f'<p id="a"/>{rest}')} == {"CI-09"}
