"""Pages that would take a parser's time or memory: too deep, too broad, too often opened, never closed."""

from __future__ import annotations

from functools import partial

from tests.hostile.behaviour import MEBI, Behaviour, Ending, fails, reads, suspect
from tests.hostile.wording import Part, answer, many, spun
from tests.origin import Talk

CREATED = b"<meta name=created content=2026-02-02>"
CAP = 16 * MEBI
VALUE = (16 + 4 * 9) * MEBI
"""A value of nine megabytes is kept, decoded and encoded again: four times its length."""
NOTES = (16 + 32) * MEBI
"""The parser notes each of a million errors in the markup while it parses, in about 30 bytes."""

read = partial(Behaviour, ends=reads(created="2026-02-02"), max_body=CAP, max_wire=CAP)
refused = partial(Behaviour, ends=fails("too-complex"), max_body=CAP, max_wire=CAP)
soon = partial(Behaviour, ends=Ending("too-soon"), max_body=CAP, max_wire=CAP)
silent = partial(Behaviour, ends=reads(), max_body=CAP, max_wire=CAP)
empty = partial(Behaviour, ends=suspect("empty"), max_body=CAP, max_wire=CAP)


def page(*parts: Part, last: bytes = CREATED) -> Talk:
    """A page that ends with what counts, so that all of it must be read."""
    return spun(b"<!doctype html>", *parts, last)


DEEP = (
    read("depth of 100,000", page(many(100_000, b"<div>"))),
    refused("depth of a million", page(many(1_000_000, b"<div>"))),
    read("depth of 100,000, behind what counts", page(CREATED, many(100_000, b"<div>"), last=b"")),
    read("depth of inline elements", page(many(100_000, b"<span>"))),
    read("depth of lists", page(many(50_000, b"<ul><li>"))),
    empty("depth of templates", page(many(20_000, b"<template>"))),
    read("depth of tables", page(many(10_000, b"<table><tr><td>"))),
    read("depth of tables without cells", page(many(20_000, b"<table>"))),
    read("depth of SVG", page(many(50_000, b"<svg><foreignObject>"))),
    read("depth of MathML", page(many(50_000, b"<math><mi>"))),
    read("depth of buttons", page(many(50_000, b"<button>"))),
    read("depth of frames", page(many(50_000, b"<object>"))),
    read("depth of forms and fieldsets", page(many(50_000, b"<form><fieldset>"))),
)

BROAD = (
    refused("paragraphs, a million", page(many(1_000_000, b"<p>"))),
    read("rows, 200,000", page(b"<table>", many(200_000, b"<tr><td>"), b"</table>")),
    read("metas of nothing, 20,000", page(many(20_000, b"<meta>"))),
    refused("metas of nothing, a million", page(many(1_000_000, b"<meta>"))),
    read("metas of other names, 20,000", page(many(20_000, b"<meta name=a%d content=b>"))),
    read("links, 200,000", page(many(200_000, b"<link rel=a href=b>"))),
    refused("comments, a million", page(many(1_000_000, b"<!---->"))),
    refused("end tags, a million", page(many(1_000_000, b"</p>"))),
    refused("end tags of nothing, a million", page(many(1_000_000, b"</x>"))),
    read("attributes of one element, 100,000", page(b"<p ", many(100_000, b"a%d=b "), b">")),
    read("attributes of one element, all the same", page(b"<p ", many(1_000_000, b"a=b "), b">"),
         spare=NOTES),
    read("attributes of the meta, 100,000", page(b"<meta ", many(100_000, b"a%d=b "), b"name=created "
         b"content=2026-02-02>", last=b"")),
    read("classes, a million", page(b"<p class='", many(1_000_000, b"a "), b"'>")),
    read("attribute of nine megabytes", page(b"<p title='", many(90_000, b"x" * 100), b"'>"), spare=VALUE),
    read("references, a million", page(many(1_000_000, b"&amp;"))),
    read("references that never end, a million", page(many(1_000_000, b"&a")), spare=NOTES),
)  # fmt: skip

UNCLOSED = (
    read("formatting, never closed", page(many(100, b"<b class=%d>"), many(2_000, b"<p>x"))),
    refused("formatting, 100,000 times never closed", page(many(100_000, b"<font size=%d>"), many(9_999, b"<p>"))),
    refused("formatting in paragraphs, never closed", page(many(50_000, b"<p><i id=%d>"))),
    read("formatting, closed across", page(many(30_000, b"<b><p></b></p>"))),
    refused(
        "a link of 160 attributes, never closed", page(b"<p><a ", many(160, b"a%d "), b">", many(199_000, b"<p>x"))
    ),
    refused(
        "a link of many attributes, closed in a comment",
        page(b"<p><a ", many(5_000, b"a%d "), b"><!--</a>-->", many(199_000, b"<p>x")),
    ),
    read("anchors, never closed", page(many(100_000, b"<a href=x>"))),
    refused("html elements, 100,000", page(many(100_000, b"<html a%d=b>"))),
    refused("body elements, 100,000", page(many(100_000, b"<body a%d=b>"))),
    read("everything, never closed", page(b"<title>a</title><div><p><b><i><table><tr><td><ul><li><svg><g></g></svg>")),
    empty("comment, never closed", page(b"<!--")),
    silent("script, never closed", page(b"<script>")),
    silent("style, never closed", page(b"<style>")),
    silent("title, never closed", page(b"<title>")),
    silent("textarea, never closed", page(b"<textarea>")),
    silent("plain text, which nothing closes", page(b"<plaintext>")),
    empty("attribute, never closed", page(b"<p title='")),
    empty("template, never closed", page(b"<template>")),
    silent("frames after which nothing counts", page(b"<frameset></frameset><noframes>")),
    read("script that looks as if it were closed", page(b"<script><!--<script></script>--></script>")),
    read("comment that is none", page(b"<!-->")),
    read("declarations that are none", page(many(99_999, b"<!x><?y>"))),
    refused("tags that are none", page(many(1_000_000, b"<1<"))),
    empty("tag, never closed", answer(b"<meta name=created content=2026-02-02")),
    read("misnested selects", page(many(20_000, b"<select><option><table>"))),
    read("misplaced text in tables", page(b"<table>", many(50_000, b"x<tr>y"))),
)

TRICKS = (
    read("base elsewhere", page(b"<base href=http://10.0.0.1/><base href=javascript:alert(1)>")),
    read("base of nothing", page(b"<base href><base href=''><base href='http://['>")),
    Behaviour("refresh to itself at once", page(b"<meta http-equiv=refresh content='0;url=/page'>"),
              reads(created="2026-02-02", refresh="0")),
    Behaviour("refresh to a private address", page(b"<meta http-equiv=refresh content='0;url=http://10.0.0.1/'>"),
              reads(created="2026-02-02", refresh="0")),
    soon("refresh to a script", page(b"<meta http-equiv=refresh content='9;url=javascript:alert(1)'>")),
    read("refresh at no time", page(b"<meta http-equiv=refresh content='-1;url=/page'>")),
    soon("refresh beyond all time", page(b"<meta http-equiv=refresh content='%s'>" % (b"9" * 400))),
    read("meta within a script's text", page(b"<script>'<meta name=created content=x>'</script>")),
    read("meta within a comment", page(b"<!--<meta name=created content=x>-->")),
    read("meta within a template", page(b"<template><meta name=created content=x></template>")),
)  # fmt: skip

TREES = (*DEEP, *BROAD, *UNCLOSED, *TRICKS)
