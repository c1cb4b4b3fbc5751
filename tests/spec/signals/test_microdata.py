from __future__ import annotations

import pytest

from tests.spec.signals.seeing import read
from tocsin.spec.signals.microdata import MODIFIED

NEW, OLD = "2024-05-01T10:00:00Z", "2020-01-01T00:00:00Z"
ARTICLE = "itemscope itemtype='https://schema.org/Article'"


@pytest.mark.parametrize(
    "element",
    [
        f"<meta itemprop=dateModified content={NEW}>",
        f"<time itemprop=dateModified datetime={NEW}>today</time>",
        f"<span itemprop=dateModified content={NEW}>today</span>",
        f"<span itemprop='datePublished datemodified'>{NEW}</span>",
        f"<meta itemprop='https://schema.org/dateModified' content={NEW}>",
    ],
)
def test_the_value_is_read_where_microdata_has_it(element: str) -> None:
    assert read(MODIFIED, f"<div {ARTICLE}>{element}</div>") == NEW


def test_a_page_without_it_has_no_value() -> None:
    assert read(MODIFIED, f"<div {ARTICLE}><meta itemprop=datePublished content={OLD}></div>") is None


def test_an_item_inside_the_article_is_not_the_page() -> None:
    comment = f"<div itemprop=comment {ARTICLE}><meta itemprop=dateModified content={OLD}></div>"

    assert read(MODIFIED, f"<div {ARTICLE}>{comment}</div>") is None
    assert read(MODIFIED, f"<div {ARTICLE}>{comment}<meta itemprop=dateModified content={NEW}></div>") == NEW


def test_a_second_article_is_not_the_page() -> None:
    related = f"<aside {ARTICLE}><meta itemprop=dateModified content={OLD}></aside>"

    assert read(MODIFIED, f"<div {ARTICLE}>no date</div>{related}") is None


def test_what_a_page_is_about_is_the_page() -> None:
    inner = f"<div itemprop=mainEntity {ARTICLE}><meta itemprop=dateModified content={NEW}></div>"

    assert read(MODIFIED, f"<body itemscope itemtype='https://schema.org/WebPage'>{inner}") == NEW


def test_the_article_goes_before_the_page_it_is_on() -> None:
    inner = f"<div itemprop=mainEntity {ARTICLE}><meta itemprop=dateModified content={NEW}></div>"
    page = f"<body itemscope itemtype='https://schema.org/WebPage'><meta itemprop=dateModified content={OLD}>{inner}"

    assert read(MODIFIED, page) == NEW


def test_a_picture_is_not_the_page() -> None:
    page = f"<div itemscope itemtype='https://schema.org/ImageObject'><meta itemprop=dateModified content={OLD}></div>"

    assert read(MODIFIED, page) is None


def test_a_date_in_no_item_counts_where_no_item_has_one() -> None:
    alone = f"<meta itemprop=dateModified content={OLD}>"

    assert read(MODIFIED, alone) == OLD
    assert read(MODIFIED, f"{alone}<div {ARTICLE}><meta itemprop=dateModified content={NEW}></div>") == NEW


def test_an_empty_value_is_passed_over() -> None:
    page = f"<div {ARTICLE}><meta itemprop=dateModified content=''><meta itemprop=dateModified content={NEW}></div>"

    assert read(MODIFIED, page) == NEW


def test_templates_are_no_part_of_the_page() -> None:
    assert (
        read(MODIFIED, f"<template><div {ARTICLE}><meta itemprop=dateModified content={OLD}></div></template>") is None
    )
