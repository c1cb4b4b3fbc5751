"""For each rule of the checker, pages that break it and pages that do not."""

from __future__ import annotations

from tests.spec.lint.broken_cards import CARD_ERRORS, CARD_WARNINGS
from tests.spec.lint.broken_microdata import MICRODATA_ERRORS, MICRODATA_WARNINGS
from tocsin.spec.html.positions import PageFinding
from tocsin.spec.lint.check import lint


def judge(*parts: str) -> tuple[PageFinding, ...]:
    """What is found in a page of these parts."""
    return lint(f"<!DOCTYPE html><html lang=en>{''.join(parts)}".encode(), "text/html; charset=utf-8")


def levels(rule: str, *parts: str) -> list[str]:
    """The levels of what is found of one rule."""
    return [finding.level.value for finding in judge(*parts) if finding.rule == rule]


def places(rule: str, page: str) -> list[int]:
    """Where in a page of one line something is found of one rule, from 0."""
    return [finding.column - 1 for finding in lint(page.encode()) if finding.rule == rule]


ERRORS: tuple[tuple[str, str, str], ...] = (
    ("T01", "<meta name=topper content=soon>", "<meta name=topper content=true>"),
    ("T05", "<meta name=topper-major content=soon>", "<meta name=topper-major content=2026>"),
    ("T06", "<meta name=topper content='2026 2026'>", "<meta name=topper content='2026 2025'>"),
    ("T07", "<meta name=topper content=true><meta name=topper content=false>", "<meta name=topper content=false>"),
    ("T08", "<meta name=topper-minor content=true>", "<meta name=topper-minor content=2026>"),
    ("T12", "<meta name=topper content=''>", "<meta name=topper content=2026>"),
    ("LM-04", "<p id=a><p id=a>", "<p id=a><p id=b>"),
    ("LM-04", "<a name=a>x</a><a name=a>y</a>", "<a name=a>x</a><p id=a>"),
    ("LM-24", "<head profile='core'>", "<head profile='http://acme.example/core'>"),
    ("LK-04", "<a href='a b'>x</a>", "<a href=' a%20b.html '>x</a>"),
    ("LK-04", "<area href='/%zz'>", "<area href='/%7A'>"),
    ("LK-13", "<a rel='next next' href=x>x</a>", "<a rel='up up' href=x>x</a>"),
    ("LK-14", "<a rel=toc href=x>x</a>", "<a rel=index href=x>x</a>"),
    ("LK-25", "<link rel=icon href=x sizes='016x16'>", "<link rel=icon href=x sizes='16x16 any'>"),
    ("LK-25", "<link rel=icon href=x sizes='huge'>", "<link rel=icon href=x sizes='ANY'>"),
    (
        "LK-33",
        "<link rel='alternate stylesheet' href=x>",
        "<link rel='alternate stylesheet' title=t href=x><link rel=stylesheet href=y>",
    ),
    ("LK-40", "<a rel=icon href=x>x</a>", "<link rel=icon href=x>"),
    ("LK-40", "<link rel=import href=x>", "<link rel=memento href=x>"),
    ("LK-42", "<a rel='://x' href=x>x</a>", "<a rel='https://a.example/rel/x' href=x>x</a>"),
    ("MS-01", "<a mset=2014-03-17>x</a>", "<a mset=2014-03-17 href=x>x</a>"),
    ("MS-01", "<p mset=2014-03-17>x</p>", "<p data-mset=2014-03-17>x</p>"),
    ("MS-02", "<a href=x mset='2014-03-17,'>x</a>", "<a href=x mset='2014-03-17,http://a.example/'>x</a>"),
    ("MS-03", "<a href=x mset='2014-03-17 http://a.example/'>x</a>", "<a href=x mset=' 2014-03-17 '>x</a>"),
    ("MS-05", "<a href=x mset='/a memento 2014-03-17'>x</a>", "<a href=x mset='/a 2014-03-17 memento'>x</a>"),
    ("MS-07", "<a href=x mset='/a|b'>x</a>", "<a href=x mset='/a%7Cb'>x</a>"),
    (
        "CI-11",
        "<link rel=stylesheet href=x media='screen and ('>",
        "<link rel=stylesheet href=x media='screen, print'>",
    ),
    ("DT-02", "<ins datetime=yesterday>x</ins>", "<ins datetime='2008-07-20 T 12:00 +02:00'>x</ins>"),
    ("DT-02", "<del datetime=2008-02-30>x</del>", "<del datetime=2008-02-29>x</del><ins>y</ins>"),
    ("DT-06", "<time datetime=soon>x</time>", "<time datetime=08:20>x</time>"),
    ("DT-06", "<time>soon</time>", "<time>\xa02026-11-21 </time>"),
    ("DT-06", "<time>soon</time>", "<time>2026-11-21<template>or so</template></time>"),
    ("ENUM-02", "<meta http-equiv=' refresh ' content=3>", "<meta http-equiv=REFRESH content=3>"),
    ("ENUM-02", "<link rel=preload href=x crossorigin=true>", "<link rel=preload href=x crossorigin=ANONYMOUS>"),
    ("NUM-03", "<time pubdate=true datetime=2026-11-21>", "<time pubdate=PUBDATE datetime=2026-11-21>"),
    ("NUM-03", "<link rel=stylesheet href=x disabled=no>", "<link rel=stylesheet href=x disabled>"),
    ("REF-02", "<map name=map1></map><img usemap='#Map1'>", "<map name=map1></map><img usemap='#map1'><img>"),
    ("TOK-02", "<link rel=icon href=x sizes='any ANY'>", "<link rel=icon href=x sizes='any 16x16'>"),
    ("URL-01", "<link rel=next href='a|b'>", "<link rel=next href='a%7Cb'>"),
    ("URL-01", "<base href='a b'>", "<base href='/a/'>"),
    *MICRODATA_ERRORS,
    *CARD_ERRORS,
)
"""Rule, a part of a page in which something breaks it, one in which nothing does."""

WARNINGS: tuple[tuple[str, str, str], ...] = (
    *MICRODATA_WARNINGS,
    *CARD_WARNINGS,
    ("T10", "<meta name=topper content='2014 2014-03'>", "<meta name=topper content='2014 2015'>"),
    (
        "T11",
        "<meta name=topper-major content=2014><meta name=topper-minor content=2014>",
        "<meta name=topper-major content=2014><meta name=topper-minor content=2015>",
    ),
    ("LM-03", "<h2 id=sec>x</h2><a href='#SEC'>x</a>", "<h2 id=sec>x</h2><a href='#sec'>x</a><a href='#top'>y</a>"),
    ("LM-04", "<p id=a><p id=A>", "<p id='\xe9'><p id='e\u0301'>"),
    ("LM-05", "<p id=3s>", "<p id=s3.2><p id=a-b>"),
    ("LM-05", "<p id='a b'>", "<p id=''>"),
    ("LM-16", "<meta name=author>", "<meta name=author content=''>"),
    ("LM-16", "<meta content=x>", "<meta property=og:title content=x><p itemscope><meta itemprop=a content=b>"),
    (
        "LM-17",
        "<meta http-equiv=Expires content=0>",
        "<meta http-equiv=Expires content='Tue, 20 Aug 1996 14:25:27 GMT'>",
    ),
    ("LM-19", "<meta name=Refresh content=3>", "<meta http-equiv=refresh content='3,http://a.example/'>"),
    ("LM-19", "<meta http-equiv=refresh content=soon>", "<meta http-equiv=refresh content='0; url=x'>"),
    (
        "LM-19",
        "<meta http-equiv=refresh content=3><meta http-equiv=refresh content=4>",
        "<meta http-equiv=refresh content=3>",
    ),
    ("LM-25", "<head profile='http://a.example/ http://b.example/'>", "<head profile=' http://a.example/ '>"),
    ("LM-26", "<p lang=en_US>", "<p lang=zh-Hans-CN><p lang=''>"),
    (
        "LM-26",
        "<meta http-equiv=Content-Language content='de, en_US, x'>",
        "<meta http-equiv=Content-Language content='de, en-US'>",
    ),
    ("LM-49", "<meta name=ROBOTS content=noindx>", "<meta name=ROBOTS content='NoIndex, max-snippet:-1'>"),
    (
        "LM-49",
        "<meta name=robots content='noindex nofollow'>",
        "<meta name=robots content='unavailable_after: Saturday, 25-Jun-05 15:00:00 GMT'>",
    ),
    ("LM-49", "<meta name=robots content='index,noindex'>", "<meta name=robots content='index,nofollow'>"),
    (
        "LM-49",
        "<meta name=robots content=follow><meta name=robots content=none>",
        "<meta name=robots content=noindex><meta name=robots content=nofollow>",
    ),
    ("LK-01", "<link href=x>", "<link rel=next href=x><p itemscope><link itemprop=a href=y>"),
    ("LK-01", "<link rel=next>", "<link rel=preload imagesrcset='x 2x'>"),
    ("LK-03", "<a rel=next>x</a>", "<a name=x>x</a>"),
    ("LK-09", "<a href=x ping='/p http://[bad'>x</a>", "<a href=x ping='/p http://a.example/'>x</a>"),
    ("LK-17", "<link rel=alternate href=x hreflang=en_US>", "<link rel=alternate href=x hreflang=x-default>"),
    ("LK-25", "<link rel=icon href=x sizes='16X16'>", "<link rel=icon href=x sizes='16x16'>"),
    ("LK-40", "<a rel=sponsor href=x>x</a>", "<a rel=sponsored href=x>x</a>"),
    ("LK-44", "<a rel=up href=x>x</a>", "<a rel='next prev me' href=x>x</a>"),
    ("LK-44", "<link rev=made href=mailto:a@a.example>", "<link rel=author href=mailto:a@a.example>"),
    ("MS-04", "<a href=x mset='2014-03'>x</a>", "<a href=x mset='./2014-03, 2014-03-17, 2014.html, 2014/03/'>x</a>"),
    ("MS-04", "<a href=x mset='/a, 2014-02-30'>x</a>", "<a href=x mset='/a 2014-02-28, 20140228'>x</a>"),
    ("MS-08", "<a href=x mset='/a sponsor'>x</a>", "<a href=x mset='/a memento'>x</a>"),
    ("MS-16", "<a href=x mset=' '>x</a>", "<a href=x mset=2014-03-17>x</a>"),
    ("CT-03", "<meta charset=utf-8><meta charset=utf-8>", "<meta charset=utf-8>"),
    ("DT-02", "<ins datetime='2008-07-20T12:00:00+0200'>x</ins>", "<ins datetime=2008-07-20T12:00:00+02:00>x</ins>"),
    ("DT-06", "<time datetime=2026-11>x</time>", "<time datetime='2026-11-21 T 08:20'>x</time>"),
    ("DT-06", "<time>PT5M</time>", "<time>08:20:30</time>"),
    ("DT-09", "<meta name=DCTERMS.modified content=yesterday>", "<meta name=DCTERMS.modified content=2026-11>"),
    (
        "DT-09",
        "<meta property='article:modified_time' content='2026/11/21'>",
        "<meta property='og:x article:modified_time' content=2026-11-21T08:20:00Z><meta name=page-version content=7>",
    ),
    ("URL-07", "<base href=/a/><base href=/b/>", "<base target=x><base href=/b/>"),
    ("URL-07", "<link rel=next href=x><base href=/a/>", "<base href=/a/><link rel=next href=x>"),
    ("URL-07", "<body><base href=/a/>", "<body><base target=x>"),
    ("URL-13", "<a href='data://x'>x</a>", "<a href='data:,x'>x</a>"),
    ("URL-13", "<a href='http:x'>x</a>", "<a href='http://x/'>x</a>"),
    ("URL-13", "<a href='mailto://a@a.example'>x</a>", "<a href='mailto:a@a.example'>x</a>"),
)
"""The same for what is only unwise."""

ELSEWHERE = frozenset({"CT-04", "CT-05", "CI-08", "CI-09"})
"""Rules about a whole page, which have tests of their own."""
