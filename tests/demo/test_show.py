"""Failures of the demo: each is named, and nothing stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tests.journey.running import PATIENCE_S
from tocsin.adapters.stores import open_store
from tocsin.demo.show import CONFIGURATION, LOG, SETTINGS, STORE, DemoService, ServiceEnded, StoryStuck, play
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.demo.rows import DemoLine


class Listener:
    """An audience that remembers."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.address = ""
        self.heads: list[str] = []
        self.lines: list[DemoLine] = []

    def begin(self, *, folder: Path, pages: int, address: str) -> None:
        assert pages
        self.address = address
        self.folder = folder

    def head(self, title: str) -> None:
        self.heads.append(title)

    def tell(self, line: DemoLine, step: str) -> None:
        assert step == self.heads[-1]
        self.lines.append(line)


async def test_a_step_that_never_comes_is_named_and_everything_is_cleared_away() -> None:
    audience = Listener()

    with pytest.raises(StoryStuck, match=r"after 0 s.*this never came: alert 'major' of /news"):
        await play(audience, keep=None, endless=False, every_ms=1000, limit_s=0)

    assert audience.folder is not None
    assert not audience.folder.exists()


async def test_its_web_pages_are_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text(SETTINGS)

    async with DemoService(tmp_path) as service, httpx.AsyncClient(timeout=PATIENCE_S) as browser:
        answer = await browser.get(await service.address())

    # 503: it is there, and is still starting.
    assert answer.status_code in {200, 503}
    assert "x-request-id" in answer.headers or "retry-after" in answer.headers


async def test_a_service_that_ends_before_it_listens_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text("[nothing]\n")

    async with DemoService(tmp_path) as service:
        with pytest.raises(ServiceEnded, match="status 2"):
            await service.address()


async def test_a_service_that_ends_by_itself_is_told_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text(SETTINGS.replace("gather", "gathr"))

    async with DemoService(tmp_path) as service:
        await service.ended()

        with pytest.raises(ServiceEnded, match=r"(?s)status 2.*gather"):
            service.check()


async def test_the_folder_that_is_kept_must_be_empty(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()

    with pytest.raises(UsageError, match="not empty"):
        await play(Listener(), keep=tmp_path, endless=False, every_ms=1000)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


async def test_the_folder_that_is_kept_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="--keep"):
        await play(Listener(), keep=tmp_path / "file", endless=False, every_ms=1000)


async def test_what_is_kept_is_a_store_that_nobody_holds(tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    with pytest.raises(StoryStuck):
        await play(Listener(), keep=kept, endless=False, every_ms=1000, limit_s=0)

    assert {CONFIGURATION, STORE, LOG} <= {path.name for path in kept.iterdir()}
    store = await open_store(f"sqlite:{kept / STORE}", engine=True)
    try:
        assert await store.check() == []
    finally:
        await store.close()
