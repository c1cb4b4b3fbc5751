from __future__ import annotations

import pytest

from tocsin.spec.microdata.hcard import is_valid_geo, is_valid_tz


@pytest.mark.parametrize("text", ["+00:00", "-23:59", "+01:30"])
def test_VC06_a_time_zone_has_sign_hours_and_minutes(text: str) -> None:
    assert is_valid_tz(text)


@pytest.mark.parametrize(
    "text", ["01:00", "+1:00", "+24:00", "+00:60", "+0100", "Z", "", "+01:00\n", "+\u0660\u0661:00"]
)
def test_VC06_what_is_no_time_zone(text: str) -> None:
    assert not is_valid_tz(text)


@pytest.mark.parametrize("text", ["34.052339;-118.410623", "1;2", "+1.0;-2.0", "-0;+0"])
def test_VC07_a_position_is_latitude_and_longitude(text: str) -> None:
    assert is_valid_geo(text)


@pytest.mark.parametrize(
    "text", ["34.05,-118.4", "1.;2", ".5;2", "1;2;3", "1; 2", "1", "", "1;2\n", "\u0661;2", "1e3;2"]
)
def test_VC07_what_is_no_position(text: str) -> None:
    assert not is_valid_geo(text)
