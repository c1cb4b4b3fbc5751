"""What the checker finds; each rule has a page that breaks it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.lint.broken import ELSEWHERE, ERRORS, WARNINGS, judge, levels, places
from tocsin.errors import TooComplex
from tocsin.spec.html.positions import FindingLevel, PageFinding
from tocsin.spec.lint.check import MOST_FINDINGS, RULES, lint
from tocsin.spec.lint.elements import is_language_tag
from tocsin.spec.lint.links import is_media_query_list
from tocsin.spec.lint.page import MOST_TOKENS

XHTML = "application/xhtml+xml"

parts = st.sampled_from([part for _, breaks, keeps in (*ERRORS, *WARNINGS) for part in (breaks, keeps)])

junk = st.one_of(
    parts, st.text(max_size=8), st.sampled_from(["<", "</a", "<template>", "<svg>", "<!--", "\r\n", "&#0;"])
)


def found(body: bytes, content_type: str | None = None) -> tuple[PageFinding, ...]:
    try:
        return lint(body, content_type)
    except TooComplex:
        return ()


def test_findings_come_in_the_order_of_the_text_with_line_and_column() -> None:
    page = b"<!DOCTYPE html>\r\n<title>t</title>\n<p id=a>\r  <p id=a><a rel='next\n next'\n href=x></a>"

    assert [(finding.line, finding.column, finding.rule) for finding in lint(page)] == [
        (4, 9, "LM-04"),
        (5, 2, "LK-13"),
    ]


def test_columns_are_counted_in_code_points() -> None:
    page = "<p title='\U0001f600\u00e9' id=a><p id=a>".encode()

    assert [finding.column for finding in lint(page, "text/html; charset=utf-8")] == [26]


@pytest.mark.parametrize(
    ("rule", "page", "at"),
    [
        ("T01", "<meta name=topper content='soon'>", "soon"),
        ("LM-05", "<p id='3s'>", "3s"),
        ("LM-16", "<meta name=author>", "author"),
        ("LM-17", "<meta http-equiv=expires content = 0 >", "0"),
        ("LM-49", "<meta name=robots content='noindex,  noindx'>", "noindx"),
        ("LK-01", "<p><link href=x>", "<link"),
        ("LK-04", "<a href=' a|b'>", "|"),
        ("LK-14", "<a rel='next TOC' href=x>", "TOC"),
        ("LK-40", "<link rel='stylesheet  foo' href=x>", "foo"),
        ("LK-44", "<a href=x rel='up up'>", "up"),
        ("MS-01", "<p mset='a'>", "a'"),
        ("MS-03", "<a href=x mset='/a, 2014-03-17 /b'>", "2014"),
        ("MS-04", "<a href=x mset='/a,  2014 '>", "2014"),
        ("MS-08", "<a href=x mset='/a  sponsor'>", "sponsor"),
        ("MS-16", "<a href=x mset>", "mset"),
        ("DT-06", "<p><time>soon</time>", "<time"),
        ("URL-07", "<body><base href=x>", "<base"),
        ("NUM-03", "<time pubdate='yes' datetime=2026-11-21>", "yes"),
    ],
)
def test_a_finding_stands_at_what_is_to_be_mended(rule: str, page: str, at: str) -> None:
    assert places(rule, page) == [page.index(at)]


def test_where_references_blur_the_place_a_finding_stands_at_the_value() -> None:
    page = "<a href=x rel='ne&#120;t toc'>"

    assert places("LK-14", page) == [page.index("ne&")]


def test_what_html_has_taken_from_another_tag_is_told_at_the_first_one() -> None:
    assert places("LM-26", "<html><html lang=en_US>") == [0]


def test_template_content_and_comments_are_not_the_page() -> None:
    page = b"<template><a href='a b'>x</a><p id=a></template><!-- <a href='a b'> --><p id=a>"

    assert lint(page) == ()


def test_CI05_what_stands_in_noscript_is_judged() -> None:
    assert places("LK-04", "<noscript><a href='a b'>x</a></noscript>") != []


def test_elements_of_svg_are_no_links_but_their_ids_count() -> None:
    page = "<svg><a id=s href='a b' rel=toc></a></svg><p id=s>"

    assert places("LK-04", page) == places("LK-14", page) == []
    assert places("LM-04", page) == [page.rindex("s>")]


def test_of_very_many_findings_the_last_says_how_many_more_there_are() -> None:
    findings = lint(b"<!DOCTYPE html>\n" + b"<p id=a>\n" * (MOST_FINDINGS + 8))

    assert len(findings) == MOST_FINDINGS + 1
    assert findings[-2].line == findings[-1].line == MOST_FINDINGS + 2
    assert findings[-1].rule == "CI-08"
    assert findings[-1].level is FindingLevel.ERROR
    assert findings[-1].message.startswith("7 more findings, 7 of them errors")


def test_what_is_not_told_is_an_error_only_if_one_is_among_it() -> None:
    assert lint(b"<meta content=x>" * (MOST_FINDINGS + 1))[-1].level is FindingLevel.WARNING


@pytest.mark.parametrize(
    ("element", "separator"),
    [
        ("<link rel=icon href=x sizes='{}'>", " "),
        ("<a href=x rel='{}'>", " "),
        ("<a href=x ping='{}'>", " "),
        ("<meta name=robots content='{}'>", ","),
        ("<a href=x mset='{}'>", ","),
    ],
)
def test_of_one_attribute_so_many_tokens_are_looked_at(element: str, separator: str) -> None:
    wrong = separator.join(f"[{number}" for number in range(MOST_TOKENS + 10))

    assert len(lint(element.format(wrong).encode())) in (MOST_TOKENS, MOST_TOKENS + 1)


def test_what_is_no_page_has_no_findings() -> None:
    assert lint(b"%PDF-1.7 <a href='a b'>") == lint(b"") == ()


@given(st.lists(junk, max_size=10), st.sampled_from([None, XHTML, "text/html; charset=utf-16le"]))
def test_no_page_raises_and_every_finding_has_a_rule_and_a_place(pieces: list[str], content_type: str | None) -> None:
    body = "".join(pieces).encode("utf-8", "replace")
    before = hashlib.sha256(body).digest()

    findings = found(body, content_type)

    assert {finding.rule for finding in findings} <= set(RULES)
    assert all(finding.line >= 1 and finding.column >= 1 for finding in findings)
    assert [finding[:2] for finding in findings] == sorted(finding[:2] for finding in findings)
    assert hashlib.sha256(body).digest() == before  # CI-13


@given(st.binary(max_size=400), st.sampled_from([None, XHTML, "text/html; charset=gb18030"]))
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    for source in (
        body,
        b"<a rel=" + body,
        b"<a href=x mset='" + body,
        b"<html xmlns='http://www.w3.org/1999/xhtml'>" + body,
    ):
        found(source, content_type)


@given(st.lists(parts, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_the_kind_of_line_ends_moves_nothing(pieces: list[str], line_end: str) -> None:
    first, other = (lint(end.join(pieces).encode(), "text/html; charset=utf-8") for end in ("\n", line_end))

    assert [(at.line, at.column, at.rule) for at in first] == [(at.line, at.column, at.rule) for at in other]


DECLARED = b"<meta charset=utf-8>"


def judged(body: bytes, content_type: str | None = None) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in lint(body, content_type)]


@pytest.mark.parametrize(
    "body",
    [
        DECLARED,
        b"<meta http-equiv=content-type content='text/html; charset=utf-8'>",
        b"<meta charset=UTF8><meta http-equiv=content-type content=text/html>",
        b"<meta charset=utf-16>",  # which could not have been read
        b"<meta name=x content='charset=\"a'>",
        "\ufeff<meta charset=utf-8>".encode(),
        b"<p>x",
    ],
)
def test_a_declaration_that_tells_the_truth_is_passed_over(body: bytes) -> None:
    declared_utf16 = b"utf-16" in body

    assert judged(body, "text/html; charset=utf-8" if declared_utf16 else None) == []


def test_CT03_of_several_declarations_each_but_the_first_is_told() -> None:
    body = DECLARED + b"<meta http-equiv=content-type content='text/html; charset=utf-8'>" + DECLARED

    assert [rule for rule, _ in judged(body)] == ["CT-03", "CT-03"]


def test_CT03_a_declaration_behind_the_first_1024_bytes_is_late() -> None:
    (found,) = judged(b"<!--" + b"x" * 1020 + b"-->" + DECLARED)

    assert found[0] == "CT-03"
    assert "behind the first 1024 bytes" in found[1]


def test_CT04_a_quotation_that_is_not_closed_declares_nothing() -> None:
    body = b"<meta http-equiv=content-type content='text/html; charset=\"utf-8'>"

    assert [rule for rule, _ in judged(body, "text/html; charset=utf-8")] == ["CT-04"]


def test_CT05_an_encoding_that_does_not_exist_is_told() -> None:
    (found,) = judged(b"<meta charset=utf-9>")

    assert found[0] == "CT-05"
    assert found[1].startswith('"utf-9" is the name of no encoding')


@pytest.mark.parametrize(
    ("before", "content_type", "who"),
    [
        (b"", "text/html; charset=windows-1252", "its server"),
        (b"\xfe\xff", None, "its byte order mark"),
        (b"", "text/html", "an earlier declaration"),
    ],
)
def test_CT05_a_declaration_that_something_above_it_gives_the_lie_is_told(
    before: bytes, content_type: str | None, who: str
) -> None:
    markup = DECLARED if content_type != "text/html" else b"<template><meta charset=latin1></template>" + DECLARED
    body = before + ("<meta charset=latin1>".encode("utf-16-be") if before else markup)

    (found,) = judged(body, content_type)

    assert found[0] == "CT-05"
    assert f"as {who} says" in found[1]


def test_what_is_read_as_xml_has_its_encoding_from_elsewhere() -> None:
    page = b"<html xmlns='http://www.w3.org/1999/xhtml'><head><meta charset='latin1'/></head></html>"

    assert judged(page, "application/xhtml+xml") == []


def test_CT03_letters_beyond_ascii_in_an_encoding_that_nothing_declares_are_told_where_the_first_stands() -> None:
    (found,) = lint("<p>x\n<p>Jürgen Müller".encode(), None)

    assert (found.rule, found.line, found.column) == ("CT-03", 2, 5)
    assert found.message.startswith("no encoding is declared, so this is read as windows-1252; ")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<p>J&uuml;rgen", None),
        ("\ufeff<p>Jürgen".encode(), None),
        ("<p>Jürgen".encode(), "text/html; charset=utf-8"),
        ("<html xmlns='http://www.w3.org/1999/xhtml'><p>Jürgen</p></html>".encode(), "application/xhtml+xml"),
    ],
)
def test_CT03_who_needs_no_declaration_or_has_it_elsewhere_is_left_alone(body: bytes, content_type: str | None) -> None:
    assert judged(body, content_type) == []


@pytest.mark.parametrize(
    "tag",
    [
        "en",
        "EN-gb",
        "zh-Hans-CN",
        "es-419",
        "sl-rozaj-biske",
        "de-1996",
        "zh-yue",
        "en-u-ca-gregory",
        "x-default",
        "i-klingon",
        "en-GB-oed",
        "sgn-BE-FR",
        "zh-min-nan",
        "de-x-a",
    ],
)
def test_a_language_tag_has_one_of_these_shapes(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize(
    "text", ["", "e", "en_US", "english1", "en-", "-en", "en--GB", "en-x", "en-u", "en GB", "\u212an", "a" * 101]
)
def test_what_has_another_shape_is_none(text: str) -> None:
    assert not is_language_tag(text)


def test_LM26_the_mend_of_an_underscore_is_shown() -> None:
    assert judge("<p lang=pt_BR>")[0].message == '"pt_BR" is no language tag; write such as "pt-BR"'


VALID = (
    "",
    " ",
    "all",
    "SCREEN, print",
    "not screen",
    "only screen and (max-width: 600px)",
    "screen and (min-width:0\\0)",
    "(width >= 600px)",
    "(400px <= width <= 700px)",
    "not (color)",
    "(a) and (b) and (c)",
    "(a) or (b)",
    "((a) or (b)) and (not (c))",
    "(min-width: calc(1px + (2px)))",
    "print and (orientation: landscape), (aspect-ratio: 16/9)",
    "screen /* large */ and (color)",
)
INVALID = (
    "screen and (",
    "screen;",
    "screen and",
    "and",
    "screen print",
    "screen or (color)",
    "screen and (a) or (b)",
    "(a) and (b) or (c)",
    "min-width: 3px",
    "(min-width:)",
    "(:3px)",
    "()",
    ")(",
    "not(color)",
    "screen and(color)",
    ",screen",
    "(a",
)


@pytest.mark.parametrize("text", VALID)
def test_CI11_what_media_queries_may_be_is_passed_over(text: str) -> None:
    assert is_media_query_list(text)


@pytest.mark.parametrize("text", INVALID)
def test_CI11_what_no_media_query_is_is_noticed(text: str) -> None:
    assert not is_media_query_list(text)


@given(st.sampled_from(VALID), st.sampled_from(VALID[2:]))
def test_a_list_of_valid_queries_is_valid(first: str, second: str) -> None:
    assert is_media_query_list(f"{first}, {second}") is bool(first.strip())


@given(st.text(alphabet="(a):,<= notandor", max_size=60))
def test_no_text_raises(text: str) -> None:
    is_media_query_list(text)


def test_brackets_that_nobody_writes_so_deep_are_not_looked_into() -> None:
    assert is_media_query_list("(" * 40 + "()" + ")" * 40)
    assert is_media_query_list("x y" * 4000)


def judged_of_xml(body: str) -> list[tuple[int, int, str]]:
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
    assert [(line, rule) for line, _, rule in judged_of_xml(page)] == [(3, "LM-04")]


def test_a_document_type_may_hold_what_looks_like_tags() -> None:
    doctype = """<!DOCTYPE html PUBLIC "a" 'b>c' [ <!ENTITY e "<p id='x'>"> <!-- ' ]> --> <?x ]> ?> ]>"""
    page = f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml" id="x"><p id="x"/></html>'

    assert [(finding.column, finding.rule) for finding in lint(page.encode(), XHTML)] == [
        (page.rindex('x"') + 1, "LM-04")
    ]


def test_attributes_have_their_places_and_values() -> None:
    body = "<p><a\n title = '>' rel='toc'\n href=\"a b\"/></p>"

    assert judged_of_xml(body) == [(3, 19, "LK-14"), (4, 9, "LK-04")]


def test_topper_elements_of_xhtml_are_judged_in_their_places() -> None:
    assert judged_of_xml('<head><meta name="topper" content="soon"/></head>') == [(2, 36, "T01")]


def test_template_content_is_not_the_page() -> None:
    assert judged_of_xml('<body><template><a href="a b"/></template><p id="x"/></body>') == []


def test_elements_of_other_namespaces_are_no_links_but_their_ids_count() -> None:
    body = '<svg:svg xmlns:svg="http://www.w3.org/2000/svg"><svg:a id="x" href="a b"/></svg:svg><p id="x"/>'

    assert [rule for *_, rule in judged_of_xml(body)] == ["LM-04"]


def test_CI09_the_first_error_of_well_formedness_is_told_and_ends_the_page() -> None:
    page = b'<html xmlns="http://www.w3.org/1999/xhtml"><p id="a"/><p id="a"/>\n<b></i><p id="a"/></html>'

    first, second = lint(page, XHTML)

    assert (first.rule, first.line) == ("LM-04", 1)
    assert (second.rule, second.line, second.level) == ("CI-09", 2, FindingLevel.ERROR)
    assert "what follows is not looked at" in second.message


def test_CI09_a_page_without_the_namespace_of_html_is_none() -> None:
    assert lint(b"<html><body/></html>", XHTML) == (
        PageFinding(
            1,
            1,
            "CI-09",
            FindingLevel.ERROR,
            'the page has no html element of HTML; write <html xmlns="http://www.w3.org/1999/xhtml">',
        ),
    )


def test_CI09_the_same_page_as_html_need_not_be_well_formed() -> None:
    assert lint(b"<html><p id=a><b></i></html>") == ()


@pytest.mark.parametrize(
    "rest", ["<!-- ", "<![CDATA[ ", "<? ", "<!DOCTYPE [ <!-- ", "<!DOCTYPE [ ' ", "</p", "<p", "<"]
)
def test_what_never_ends_ends_the_page(rest: str) -> None:
    assert {rule for *_, rule in judged_of_xml(f'<p id="a"/>{rest}')} == {"CI-09"}


@pytest.mark.parametrize(("rule", "breaks", "keeps"), ERRORS)
def test_what_an_author_must_not_do_is_an_error(rule: str, breaks: str, keeps: str) -> None:
    assert levels(rule, breaks) in (["error"], ["error", "error"])
    assert levels(rule, keeps) == []


@pytest.mark.parametrize(("rule", "breaks", "keeps"), WARNINGS)
def test_what_is_unwise_is_a_warning(rule: str, breaks: str, keeps: str) -> None:
    assert levels(rule, breaks) == ["warning"]
    assert levels(rule, keeps) == []


def test_each_rule_is_broken_by_a_test() -> None:
    assert {rule for rule, *_ in (*ERRORS, *WARNINGS)} | ELSEWHERE == set(RULES)


def test_the_level_of_a_rule_is_that_of_its_worst_finding() -> None:
    errors = {rule for rule, *_ in ERRORS} | {"CI-08", "CI-09"}

    assert {name for name, rule in RULES.items() if rule.level is FindingLevel.ERROR} == errors


@pytest.mark.parametrize("name", RULES)
def test_each_rule_says_what_is_right_and_why(name: str) -> None:
    rule = RULES[name]

    assert rule.promise.endswith(".")
    assert rule.help.endswith(".")
    assert rule.source


@pytest.mark.parametrize("keeps", [keeps for *_, keeps in (*ERRORS, *WARNINGS)])
def test_what_keeps_a_rule_breaks_no_other_but_by_being_old(keeps: str) -> None:
    assert {finding.rule for finding in judge(keeps) if finding.level is FindingLevel.ERROR} == set()


@pytest.mark.parametrize(("rule", "breaks", "_"), [*ERRORS, *WARNINGS])
def test_each_message_says_the_mend(rule: str, breaks: str, _: str) -> None:
    for finding in judge(breaks):
        if finding.rule == rule:
            assert any(mark in finding.message for mark in (";", ":", ",")), finding.message


@pytest.mark.parametrize(
    ("source", "mend"),
    [
        ("<a rel=up href=x>x</a>", ": leave it out"),
        ("<area rel=first href=x alt=x>", ": leave it out"),
        ("<link rel='next archives' href=x>", ": write an a element, which needs no type"),
    ],
)
def test_LK44_the_message_says_what_to_write_in_place_of_an_old_type(source: str, mend: str) -> None:
    (message,) = (finding.message for finding in judge(source) if finding.rule == "LK-44")

    assert message.endswith(mend)
