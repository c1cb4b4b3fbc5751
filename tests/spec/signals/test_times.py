from __future__ import annotations

import pytest

from tests.spec.signals.seeing import read
from tocsin.spec.signals.times import MODIFIED

NEW, OLD = "2024-05-01T10:00:00Z", "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "mark",
    [
        "itemprop=dateModified",
        "property=dateModified",
        "property='schema:dateModified'",
        "property='dcterms:modified'",
        "class=updated",
        "class='post-meta dt-updated'",
        "class=lastModified",
        "class=entry-date_updated",
    ],
)
def test_a_marked_time_is_read(mark: str) -> None:
    assert read(MODIFIED, f"<time {mark} datetime={NEW}>today</time>") == NEW


@pytest.mark.parametrize(
    "mark", ["", "class=published", "class=unmodifiable", "class=update-banner", "itemprop=datePublished"]
)
def test_another_time_is_not(mark: str) -> None:
    assert read(MODIFIED, f"<time {mark} datetime={OLD}>long ago</time>") is None


def test_a_named_time_without_the_attribute_says_it_in_its_text() -> None:
    assert read(MODIFIED, "<time property=dateModified>2024-05-01</time>") == "2024-05-01"
    assert read(MODIFIED, "<time class=updated>3 hours ago</time>") is None


def test_the_main_part_goes_before_what_is_beside_it() -> None:
    beside = f"<aside><time itemprop=dateModified datetime={OLD}></time></aside>"

    assert read(MODIFIED, f"{beside}<main><time class=updated datetime={NEW}></time></main>") == NEW


def test_a_comment_goes_after_the_article() -> None:
    comment = f"<article><time class=updated datetime={OLD}></time></article>"

    assert read(MODIFIED, f"<article>{comment}<time class=updated datetime={NEW}></time></article>") == NEW


def test_a_property_goes_before_a_class() -> None:
    page = f"<time class=updated datetime={OLD}></time><time property=dateModified datetime={NEW}></time>"

    assert read(MODIFIED, page) == NEW


def test_published_and_updated_in_one_tells_until_there_is_one_that_says_updated_alone() -> None:
    published = f"<time class='entry-date published updated' datetime={OLD}></time>"

    assert read(MODIFIED, published) == OLD
    assert read(MODIFIED, f"{published}<time class=updated datetime={NEW}></time>") == NEW


def test_of_several_alike_the_first_counts() -> None:
    assert (
        read(MODIFIED, f"<time class=updated datetime={NEW}></time><time class=updated datetime={OLD}></time>") == NEW
    )
