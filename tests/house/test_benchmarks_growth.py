"""The soak of the browser notices growth, and reads pages as they are."""

from __future__ import annotations

import shutil

import msgspec
import pytest

from benchmarks.browsing.growth import Holding, browse, grown

SAME = Holding(pages=0, seconds=0.0, slots_mib=60.0, worker_mib=30.0, driver_mib=90.0, egress_mib=17.0, files=144)


@pytest.mark.parametrize("name", ["slots_mib", "worker_mib", "driver_mib", "egress_mib", "files"])
def test_what_grows_is_named(name: str) -> None:
    looks = [msgspec.structs.replace(SAME, **{name: getattr(SAME, name) * (1 + step / 5)}) for step in range(10)]

    assert [found.split()[0] for found in grown(looks)] == [name]


def test_what_swings_or_falls_has_not_grown() -> None:
    swinging = [
        msgspec.structs.replace(SAME, driver_mib=60.0 + 40.0 * (step % 2), files=100 - step) for step in range(10)
    ]

    assert grown(swinging) == []


@pytest.mark.skipif(shutil.which("chromium-headless-shell") is None, reason="chromium-headless-shell is not installed")
async def test_a_few_pages_are_read_as_they_are_and_weighed() -> None:
    looks = await browse(2, 1, 1, recycle=True, rest_s=0.0)

    assert [look.pages for look in looks] == [1, 2]
    assert all(min(look.slots_mib, look.worker_mib, look.driver_mib, look.egress_mib, look.files) > 0 for look in looks)
