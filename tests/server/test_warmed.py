"""What is made once is made before anybody is let in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.rig import served
from tocsin.server.web import rendering

if TYPE_CHECKING:
    from tocsin.ports import Store


async def test_no_first_page_waits_for_its_template(store: Store) -> None:
    rendering._ENVIRONMENT.cache.clear()  # type: ignore[union-attr]  # it has one

    async with served(store):
        compiled = {name for _, name in rendering._ENVIRONMENT.cache}  # type: ignore[union-attr]  # as above

    assert compiled >= set(rendering._ENVIRONMENT.list_templates())
