"""Pages and states for the tests of the spec, and strategies that make them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hypothesis import strategies as st

from tocsin.spec.html.document import Meta, read_metas
from tocsin.spec.topper.state import FIELDS, PageState, read_state


def state_of(
    *, topper: str | None = None, major: str | None = None, minor: str | None = None, **others: str
) -> PageState:
    """A state by its canonical values; the names of other fields are written with _ for what Python forbids."""
    fields: dict[str, str | None] = {"topper": topper, "topper-major": major, "topper-minor": minor}
    for field in FIELDS:
        name = field.replace("-", "_").replace(".", "_").replace(":", "_")
        if name in others:
            fields[field] = others.pop(name)
    assert not others
    return PageState.from_dict(fields)


def element(meta: Meta) -> str:
    """A meta element as a page writes it."""
    attributes = (
        ("name", meta.name),
        ("http-equiv", meta.http_equiv),
        ("property", meta.property),
        ("content", meta.content),
    )
    return "<meta " + " ".join(f'{name}="{escape(value)}"' for name, value in attributes if value is not None) + ">"


def page(*elements: str, body: str = "<p>x") -> bytes:
    """A page with these elements in its head."""
    head = "".join(elements)
    return f"<!DOCTYPE html><html><head><meta charset=utf-8><title>t</title>{head}</head><body>{body}".encode()


def state_from(source: bytes) -> PageState:
    """The state of a page in UTF-8."""
    return read_state(read_metas(source, "utf-8").metas)


years = st.sampled_from(["0000", "0001", "1999", "2000", "2013", "2014", "2026", "9999"])
dates = st.builds("{}-{:02}-{:02}".format, years, st.integers(1, 12), st.integers(1, 28))
offsets = st.one_of(
    st.just("Z"), st.builds("{}{:02}:{:02}".format, st.sampled_from("+-"), st.integers(0, 23), st.integers(0, 59))
)
times = st.builds(
    "{}T{:02}:{:02}{}{}".format,
    dates,
    st.integers(0, 23),
    st.integers(0, 59),
    st.one_of(
        st.just(""),
        st.builds(":{:02}".format, st.integers(0, 59)),
        st.builds(":{:02}.{}".format, st.integers(0, 59), st.text("0123456789", min_size=1, max_size=12)),
    ),
    offsets,
)
tokens = st.one_of(years, st.builds("{}-{:02}".format, years, st.integers(1, 12)), dates, times)
"""Valid date-time tokens of all six granularities."""

words = st.one_of(tokens, st.sampled_from(["true", "TRUE", "false", "False", "soon", "2014-13", "x,y"]))
spaces = st.text(" \t\n\f\r", min_size=1, max_size=3)


@st.composite
def contents(draw: st.DrawFn) -> str:
    """A content of words between white space of all kinds."""
    parts = draw(st.lists(words, max_size=4))
    return draw(st.one_of(st.just(""), spaces)) + "".join(part + draw(spaces) for part in parts)


@st.composite
def metas(draw: st.DrawFn) -> Meta:
    """A meta element that may feed a field, or may not."""
    field = draw(st.sampled_from([*FIELDS, "description", "viewport", ""]))
    content = draw(
        st.one_of(
            st.none(),
            contents(),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
        )
    )
    if field == "refresh":
        return Meta(http_equiv=draw(st.sampled_from(["refresh", "Refresh"])), content=content)
    if ":" in field:
        return Meta(property=draw(st.sampled_from([field, f"og:title {field}"])), content=content)
    return Meta(name=draw(st.sampled_from([field, field.upper()])), content=content)


def states() -> st.SearchStrategy[PageState]:
    """States that pages may have."""
    return st.lists(metas(), max_size=8).map(read_state)


def shuffled(source: Sequence[Meta], order: Sequence[int]) -> list[Meta]:
    """The elements in another order, given by sort keys."""
    return [meta for _, meta in sorted(zip(order, source, strict=False), key=lambda pair: pair[0])]
