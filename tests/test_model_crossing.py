"""Whatever crosses a process boundary arrives as it was sent: written as MessagePack and read back by its type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from functools import cache
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from tocsin import model
from tocsin.engine.judging.assess import Assessment
from tocsin.events import Happening
from tocsin.model import HopRequest, HopResponse, ReceivedPage, Rendered
from tocsin.ports.messages import FromFetcher, ToFetcher
from tocsin.settings import FetchSettings, HostSettings, NetworkSettings, PageSettings
from tocsin.spec.topper.state import FIELDS, PageState

_OF_THE_MODEL: list[type[msgspec.Struct]] = [
    kind
    for name in model.__all__
    if isinstance(kind := getattr(model, name), type) and issubclass(kind, msgspec.Struct)
]
_BESIDE: list[type[msgspec.Struct]] = [
    Assessment, FetchSettings, Happening, HopRequest, HopResponse, HostSettings, NetworkSettings, PageSettings,
    ReceivedPage, Rendered, *sorted({*get_args(ToFetcher), *get_args(FromFetcher)}, key=lambda kind: kind.__name__),
]  # fmt: skip
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


def _any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type as msgspec knows it."""
    return _MAKERS[type(kind)](kind)


@cache
def _messages(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Values of a type, put together once: that takes longer than to make one up."""
    return _any_of(inspect.type_info(kind))


def _any_number(kind: inspect.IntType) -> st.SearchStrategy[int]:
    least, most = kind.ge, kind.le
    return st.integers(-(2**63) if least is None else least, 2**63 - 1 if most is None else most)


def _any_text(kind: inspect.StrType) -> st.SearchStrategy[str]:
    return st.from_regex(kind.pattern, fullmatch=True) if kind.pattern else _TEXT


def _any_struct(kind: inspect.StructType | inspect.DataclassType | inspect.NamedTupleType) -> st.SearchStrategy[Any]:
    if kind.cls is PageState:
        return st.tuples(*[st.none() | _TEXT] * len(FIELDS)).map(PageState)
    return st.builds(kind.cls, **{field.name: _any_of(field.type) for field in kind.fields})


_MAKERS: dict[type[inspect.Type], Callable[[Any], st.SearchStrategy[Any]]] = {
    inspect.AnyType: lambda _: _JSON,
    inspect.BoolType: lambda _: st.booleans(),
    inspect.BytesType: lambda _: st.binary(max_size=20),
    inspect.DataclassType: _any_struct,
    inspect.DateTimeType: lambda _: st.datetimes(timezones=st.just(UTC)),
    inspect.DictType: lambda kind: st.dictionaries(_any_of(kind.key_type), _any_of(kind.value_type), max_size=3),
    inspect.EnumType: lambda kind: st.sampled_from(kind.cls),
    inspect.FloatType: lambda _: st.floats(allow_nan=False),
    inspect.IntType: _any_number,
    inspect.ListType: lambda kind: st.lists(_any_of(kind.item_type), max_size=2),
    inspect.LiteralType: lambda kind: st.sampled_from(kind.values),
    inspect.Metadata: lambda kind: _any_of(kind.type),
    inspect.NamedTupleType: _any_struct,
    inspect.NoneType: lambda _: st.none(),
    inspect.StrType: _any_text,
    inspect.StructType: _any_struct,
    inspect.TimeDeltaType: lambda _: st.timedeltas(timedelta(0), timedelta(days=36_500)),
    inspect.TupleType: lambda kind: st.tuples(*[_any_of(one) for one in kind.item_types]),
    inspect.UnionType: lambda kind: st.one_of([_any_of(one) for one in kind.types]),
    inspect.VarTupleType: lambda kind: st.lists(_any_of(kind.item_type), max_size=3).map(tuple),
}


@pytest.mark.parametrize("kind", _OF_THE_MODEL + _BESIDE, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whatever_crosses_between_processes_arrives_as_it_was(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    sent = data.draw(_messages(kind))

    arrived = msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=kind)

    assert arrived == sent


def test_a_result_that_was_based_on_nothing_known_arrives_as_that() -> None:
    report = model.CheckReport("http://site.example/", model.CheckOutcome.FIRST)
    sent = model.CheckResult(1, 2, report, 3, None, model.DueTime(None, "why"))

    arrived = msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=model.CheckResult)

    assert arrived == sent
    assert arrived.based_on is msgspec.UNSET
