from __future__ import annotations

import pytest

from tocsin.spec.lint.check import lint

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
