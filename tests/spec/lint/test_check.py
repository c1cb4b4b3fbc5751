from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.lint.broken import ERRORS, WARNINGS, places
from tocsin.errors import TooComplex
from tocsin.spec.html.positions import Finding, Level
from tocsin.spec.lint.check import MOST_FINDINGS, lint
from tocsin.spec.lint.page import MOST_TOKENS
from tocsin.spec.lint.rules import RULES

XHTML = "application/xhtml+xml"

parts = st.sampled_from([part for _, breaks, keeps in (*ERRORS, *WARNINGS) for part in (breaks, keeps)])
junk = st.one_of(
    parts, st.text(max_size=8), st.sampled_from(["<", "</a", "<template>", "<svg>", "<!--", "\r\n", "&#0;"])
)


def found(body: bytes, content_type: str | None = None) -> tuple[Finding, ...]:
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
    assert findings[-1].level is Level.ERROR
    assert findings[-1].message.startswith("7 more findings, 7 of them errors")


def test_what_is_not_told_is_an_error_only_if_one_is_among_it() -> None:
    assert lint(b"<meta content=x>" * (MOST_FINDINGS + 1))[-1].level is Level.WARNING


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
