from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.signals.seeing import URL, read, seen
from tocsin.spec.signals.json_ld import MODIFIED, VERSION
from tocsin.spec.signals.linked import read_json

NEW, OLD = "2024-05-01T10:00:00Z", "2020-01-01T00:00:00Z"


def script(*values: Any) -> str:
    return "".join(f"<script type='application/ld+json'>{json.dumps(value)}</script>" for value in values)


def article(modified: str | None = None, **more: Any) -> dict[str, Any]:
    return {"@type": "Article", **({"dateModified": modified} if modified else {}), **more}


def test_the_article_says_when_it_was_modified() -> None:
    assert read(MODIFIED, script(article("2024-05-01T12:00:00+02:00"))) == NEW


def test_a_page_without_it_has_no_value() -> None:
    assert read(MODIFIED, "<p>2024-05-01") is None
    assert read(VERSION, script(article())) is None


@pytest.mark.parametrize("kind", ["NewsArticle", "BlogPosting", "Report", "WebPage", "AboutPage", "schema:Article"])
def test_articles_and_pages_of_every_kind_are_the_page(kind: str) -> None:
    assert read(MODIFIED, script({"@type": kind, "dateModified": NEW})) == NEW


@pytest.mark.parametrize(
    "types",
    [
        "http://schema.org/Article",
        "https://schema.org/Article",
        ["Thing", "NewsArticle"],
        ["https://schema.org/WebPage"],
    ],
)
def test_types_may_be_lists_and_full_addresses(types: Any) -> None:
    assert read(MODIFIED, script({"@type": types, "dateModified": NEW})) == NEW


def test_names_may_be_full_addresses_and_values_objects() -> None:
    node = {"@type": "Article", "https://schema.org/dateModified": {"@type": "Date", "@value": NEW}}

    assert read(MODIFIED, script(node)) == NEW


def test_a_related_article_is_not_the_page() -> None:
    assert read(MODIFIED, script(article(NEW), article(OLD))) == NEW
    assert read(MODIFIED, script([article(), article(OLD)])) is None


def test_an_article_inside_another_is_not_the_page() -> None:
    assert (
        read(MODIFIED, script(article(hasPart=[article(OLD)], isPartOf={"@type": "WebPage", "dateModified": OLD})))
        is None
    )


def test_the_node_that_names_the_page_is_the_page() -> None:
    related = article(OLD, url="https://example.org/news/tunnel")

    assert read(MODIFIED, script(related, article(NEW, url=f"{URL}#article"))) == NEW
    assert read(MODIFIED, script(related, article(NEW, mainEntityOfPage={"@id": URL.replace("://", "://www.")}))) == NEW
    assert read(MODIFIED, script(related, article(NEW, **{"@id": f"{URL}/?page=1"}))) == NEW


def test_what_is_beside_the_page_is_not_asked() -> None:
    beside = [{"@type": kind, "dateModified": OLD} for kind in ("Person", "ImageObject", "Organization", "Comment")]

    assert read(MODIFIED, script([*beside, article(NEW)])) == NEW
    assert read(MODIFIED, script(beside)) is None


def test_a_graph_is_looked_into() -> None:
    graph = {
        "@context": "https://schema.org",
        "@graph": [{"@type": "Organization"}, {"@type": "WebPage", "dateModified": NEW}],
    }

    assert read(MODIFIED, script(graph)) == NEW


def test_a_page_speaks_where_its_article_says_nothing() -> None:
    assert read(MODIFIED, script([article(), {"@type": "WebPage", "dateModified": NEW}])) == NEW


def test_a_work_speaks_only_where_no_article_and_no_page_does() -> None:
    recipe = {"@type": "Recipe", "dateModified": OLD}

    assert read(MODIFIED, script(recipe, {"@type": "WebPage", "dateModified": NEW})) == NEW
    assert read(MODIFIED, script(recipe)) == OLD


def test_what_a_page_is_about_speaks_for_it() -> None:
    assert read(MODIFIED, script({"@type": "WebPage", "mainEntity": article(NEW)})) == NEW
    assert read(MODIFIED, script(article(mainEntityOfPage={"@type": "WebPage", "dateModified": NEW}))) == NEW
    assert (
        read(
            MODIFIED,
            script(
                [
                    {"@type": "ItemPage", "mainEntity": {"@id": "#a"}},
                    {"@type": "Product", "@id": "#a", "dateModified": NEW},
                ]
            ),
        )
        == NEW
    )


def test_several_scripts_are_read_in_their_order() -> None:
    assert read(MODIFIED, script({"@type": "BreadcrumbList"}, article(NEW), article(OLD))) == NEW


def test_scripts_of_other_types_are_not_read() -> None:
    page = script(article(NEW)).replace("application/ld+json", "application/json")

    assert read(MODIFIED, page) is None


@pytest.mark.parametrize(
    "text", ['{"@type": "Article", "dateModified": "%s", }', '<!--{"@type":"Article","dateModified":"%s"}-->']
)
def test_what_is_nearly_json_is_read_without_a_word(text: str) -> None:
    page = seen(f"<script type='application/ld+json'>{text % NEW}</script>")

    assert MODIFIED.read(page) == NEW
    assert page.linked.problems == ()


def test_what_cannot_be_understood_is_said() -> None:
    page = seen("<script type='application/ld+json'>{'@type': 'Article', 'dateModified': '2024'}</script>")

    assert MODIFIED.read(page) is None
    assert page.linked.problems[0].startswith("JSON-LD script 1 is no JSON")


@pytest.mark.parametrize(
    ("value", "version"),
    [("1.10", "1.10"), (3, "3"), (3.0, "3"), (2.5, "2.5"), (True, None), ({}, None), (["b", "c"], "b")],
)
def test_a_version_is_told_as_written(value: Any, version: str | None) -> None:
    assert read(VERSION, script(article(version=value))) == version


@pytest.mark.parametrize("value", [1714557600, 1714557600000, 1714557600.0])
def test_a_number_is_a_time_since_1970(value: float) -> None:
    assert read(MODIFIED, script(article() | {"dateModified": value})) == NEW


@pytest.mark.parametrize("value", ["", None, [], {}, False, [[[[[[NEW]]]]]]])
def test_no_value_is_none(value: Any) -> None:
    assert read(MODIFIED, script(article() | {"dateModified": value})) is None


def test_more_than_anybody_writes_is_not_read() -> None:
    page = seen(script(article(NEW), article(articleBody="x" * 1_000_001)))

    assert MODIFIED.read(page) == NEW
    assert "more than 1000000 letters of JSON-LD; the rest was not read" in page.linked.problems


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_read_as_json(value: Any) -> None:
    assert read_json(json.dumps(value)) == ([value], None)


@pytest.mark.parametrize(
    "text",
    [
        '<!-- {"a": "1", "b": ["2"]} -->',
        '//<![CDATA[\n{"a": "1", "b": ["2"]}\n//]]>',
        '/* data */ {"a": "1", "b": ["2"]}',
        '{"a": "1", "b": ["2"],}',
        '{"a": "1", "b": ["2",],};',
        '{"a": "1" "b": ["2"]}',
        '{"a": "1", "c": , "b": ["2"]}',
        '{"a": "1", "b": ["2"}',
        '{"a": "1", "b": ["2"]',
        '{"a": "1", "b": ["2"]}}',
    ],
)
def test_what_is_nearly_json_is_understood(text: str) -> None:
    values, problem = read_json(text)

    assert values[0]["a"] == "1"
    assert values[0]["b"] == ["2"]
    assert problem


def test_letters_that_json_forbids_are_taken() -> None:
    assert read_json('{"a": "one\ntwo\\q \\u00e9 \\ud83d\\ude00"}')[0] == [{"a": "one\ntwoq é 😀"}]


def test_documents_one_after_the_other_are_all_read() -> None:
    assert read_json('{"a": 1}\n{"b": true}')[0] == [{"a": "1"}, {"b": True}]


def test_what_is_too_deep_is_left_out_and_the_rest_is_read() -> None:
    deep = "[" * 5000 + "]" * 5000

    values, problem = read_json(f'{{"deep": {deep}, "a": "1"}}')

    assert values[0]["a"] == "1"
    assert problem


@given(st.text(alphabet='{}[]:,"\\u0a \n') | st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    read_json(text)


@pytest.mark.parametrize("piece", ['\\"', '"', "{", "}", "[}", '{"a":', ",", "<!--", "\\", " "])
def test_a_million_of_what_is_wrong_takes_no_time(piece: str) -> None:
    _, problem = read_json(f'{{"a": {piece * 1_000_000}')

    assert problem
