"""What tests of adapters share: each promise of the fetcher is kept on both of its ways."""

from __future__ import annotations

import pytest

from tests import wire


@pytest.fixture(params=wire.TRANSPORTS)
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that the fetchers of the test go: `pytestmark = pytest.mark.usefixtures("transport")`."""
    chosen: str = request.param
    monkeypatch.setattr(wire, "chosen", chosen)
    return chosen
