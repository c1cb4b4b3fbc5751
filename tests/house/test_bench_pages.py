from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.bench import pages
from benchmarks.bench.__main__ import main as bench
from benchmarks.bench.measure import TINY
from benchmarks.bench.pages import CONTENDERS, NoPages, Page, read_folder
from tocsin.spec.topper.state import PageState

PAGE = b"<!doctype html><title>t</title><meta name=created content=2026><p>x"


def test_all_html_files_of_a_folder_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a.html", "below/b.HTM", "c.txt"):
        (tmp_path / name).write_bytes(PAGE)

    status = bench(["--tiny", "--json", "--pages", str(tmp_path)])

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 0
    assert [line["what"] for line in lines] == [f"bytes to state, {name}" for name in CONTENDERS]
    assert lines[0]["note"].startswith("2 pages")


def test_all_contenders_read_the_same_state() -> None:
    assert {read(Page.of(PAGE))["created"] for read in CONTENDERS.values()} == {"2026"}


async def test_where_our_way_sees_something_else_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONTENDERS, pages.OURS, lambda _: PageState((None,) * 12))

    with pytest.raises(RuntimeError, match=r"another state .* on page 0"):
        await pages.measure(TINY)


def test_a_folder_without_pages_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoPages, match=r"no page in it; name a folder that holds \.html files"):
        read_folder(tmp_path)
