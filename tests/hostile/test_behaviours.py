"""Whatever a server does to the check of its page: it comes to the right end, soon, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest

from tests.hostile.leaks import leaving_nothing_behind
from tests.hostile.meeting import Met, meet, meet_unknown
from tests.hostile.size_table import SIZES
from tests.hostile.tables import BEHAVIOURS
from tests.hostile.tree_table import TREES
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.behaviour import Behaviour, Ending

LEAST = 120
"""Behaviours, at least."""


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
async def test_a_misbehaving_server_has_its_end(
    behaviour: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    async with leaving_nothing_behind():
        met = await meet(behaviour, tmp_path)

    assert_ended(met, behaviour.ends)
    if not behaviour.ends.is_received:
        assert met.after == met.before
    assert list(temporary.iterdir()) == []
    assert met.grown <= behaviour.max_wire + behaviour.max_body + behaviour.spare


@pytest.mark.parametrize("behaviour", [*SIZES, *TREES], ids=lambda behaviour: behaviour.name)
async def test_a_server_that_misbehaves_at_first_sight_has_its_end(behaviour: Behaviour, tmp_path: Path) -> None:
    async with leaving_nothing_behind():
        report, page, grown = await meet_unknown(behaviour, tmp_path)

    if behaviour.ends.kind is not None:
        assert (report.outcome, report.error and report.error[0]) == ("unreachable", behaviour.ends.kind)
        assert page.fields is None
    else:
        assert (report.outcome, report.error) == ("first", None)
    assert grown <= behaviour.max_wire + behaviour.max_body + behaviour.spare


def test_each_behaviour_has_a_name_of_its_own() -> None:
    names = [behaviour.name for behaviour in BEHAVIOURS]

    assert len(set(names)) == len(names) > LEAST


def assert_ended(met: Met, ends: Ending) -> None:
    """Compare an end with the one that the behaviour must come to."""
    report = met.report
    kind = report.error[0] if report.error else None
    assert (report.outcome, kind) == (ends.outcome, ends.kind), report
    if ends.status is not None:
        assert report.status == ends.status
    if ends.problem is not None:
        assert ends.problem in (report.problem or "")
    if ends.held is not None:
        assert ends.held[0] <= met.held_s <= ends.held[1]
    if ends.fields is not None:
        declared = zip(FIELDS, met.page.fields or (), strict=True)
        assert {name: value for name, value in declared if value is not None} == ends.fields
