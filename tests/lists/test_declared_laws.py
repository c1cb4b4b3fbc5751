"""Laws of declared lists: what is written is read again, comparing with oneself finds nothing, applying ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lists.declaring import page_row
from tocsin.errors import UsageError
from tocsin.lists.declared import (
    TomlWriter,
    YamlWriter,
    compare_group,
    compare_page,
    edit_of,
    read_declared,
)

if TYPE_CHECKING:
    from tocsin.model import PageRow

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "every": st.sampled_from(["90m", "24h", "80d"]),
        "mode": st.sampled_from(["on", "auto", "off"]),
        "minor_threshold": st.integers(1, 1000),
        "retry_refused": st.booleans(),
        "report": st.lists(st.sampled_from(["unchanged", "too-soon"]), unique=True),
        "ignore": st.sampled_from([".a, #b", "[data-x='\"']", ""]),
        "headers": st.dictionaries(
            st.sampled_from(["Accept-Language", "X-A"]), st.sampled_from(["de", 'a "b" \\ c', ""])
        ),
        "auth": st.sampled_from(["me:secret", "Bearer x"]),
    },
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\0"), min_size=1, max_size=60)
GROUPS = st.sampled_from(["main", "news", "a b", 'q"\\', "été", "1"])
PAGES = st.lists(
    st.builds(
        page_row,
        st.integers(1, 5).map("https://example.org/{}".format),
        group=GROUPS,
        text=st.none() | TEXTS,
        settings=SETTINGS,
        paused=st.booleans(),
    ),
    unique_by=lambda page: page.url,
    max_size=4,
)
WRITERS: dict[str, type[TomlWriter | YamlWriter]] = {"toml": TomlWriter, "yaml": YamlWriter}


def written(kind: str, for_all: Any, groups: Any, pages: list[PageRow], *, with_secrets: bool) -> bytes:
    writer = WRITERS[kind](with_secrets=with_secrets)
    return (writer.head(for_all, groups) + writer.pages(pages) + writer.pages([])).encode()


@pytest.mark.parametrize("kind", WRITERS)
@given(SETTINGS, st.dictionaries(GROUPS, SETTINGS, max_size=2), PAGES, st.booleans())
def test_a_store_that_is_written_out_is_planned_without_a_change(
    kind: str,
    for_all: Any,
    groups: Any,
    pages: list[PageRow],
    with_secrets: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    body = written(kind, for_all, groups, pages, with_secrets=with_secrets)

    declared = read_declared(body, name="pages", kind=kind)

    assert [compare_page(page, declared) for page in pages] == [None] * len(pages)
    assert declared.for_all is not None
    assert compare_group(None, for_all, declared.for_all) is None
    assert all(compare_group(name, groups[name], given) is None for name, given in declared.groups.items())


@given(SETTINGS, SETTINGS)
def test_after_its_edit_a_group_is_as_the_file_says(stored: dict[str, Any], said: dict[str, Any]) -> None:
    change = compare_group("news", stored, said)

    edit = edit_of(change) if change else None
    after = {**stored, **(edit.settings if edit else {})}
    after = {key: value for key, value in after.items() if edit is None or key not in edit.unset}

    assert compare_group("news", after, said) is None
    kept = {key: value for key, value in stored.items() if key in {"headers", "auth"} and key not in said}
    assert after == {**kept, **said}


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["toml", "yaml"]))
def test_no_bytes_end_in_anything_but_a_list_or_a_complaint(body: bytes, kind: str) -> None:
    try:
        read_declared(body, name="pages", kind=kind)
    except UsageError as refused:
        assert str(refused).startswith("pages")  # noqa: PT017 - whether it is refused is not the question
