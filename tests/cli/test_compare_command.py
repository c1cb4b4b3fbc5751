from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    dates = ("2014-01", "2014-01 2014-02")
    for name, content in zip(("old", "new"), dates, strict=True):
        (tmp_path / name).write_text(f"<meta name=topper-minor content='{content}'>")
    (tmp_path / "slow").write_text("<meta http-equiv=refresh content=999999><meta name=page-version content=2>")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return record


@pytest.mark.usefixtures("pages")
def test_compare_tells_what_a_reader_would_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "old", "new", "--json"]) == 0
    assert told(capsys) == {
        "outcome": "minor",
        "changed": ["topper-minor"],
        "reason": "other",
        "minor_count": 2,
        "awareness": {"any": True, "major": False},
    }


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize(
    ("arguments", "outcome", "reason"),
    [
        (("old", "new", "--minor-threshold", "2"), "major", "minor-count"),
        (("old", "old"), "unchanged", None),
        (("old", "old", "--elapsed", "6912000"), "major", "duration"),
        (("old", "old", "--elapsed", "79d"), "unchanged", None),
        (("old", "old", "--durational-threshold", "1d"), "major", "duration"),
        (("old", "new", "--elapsed", "0"), "too-soon", None),
        (("old", "new", "--elapsed", "-5"), "too-soon", None),
        (("old", "new", "--elapsed", "0.5"), "minor", "other"),
        (("old", "slow", "--elapsed", "6d"), "too-soon", None),
        (("old", "slow", "--elapsed", "6d", "--refresh-cap", "1h30m"), "minor", "other"),
    ],
)
def test_compare_heeds_its_options(
    arguments: tuple[str, ...], outcome: str, reason: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *arguments]) == 0

    record = told(capsys)
    assert (record["outcome"], record["reason"]) == (outcome, reason)


@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize(
    "arguments", [("--elapsed", "soon"), ("--elapsed", "5x"), ("--minor-threshold", "0"), ("--refresh-cap", "")]
)
def test_a_wrong_option_is_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "old", "new", *arguments]) == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.usefixtures("pages")
def test_a_page_that_cannot_be_read_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "old", "none"]) == 2
    assert capsys.readouterr().err.startswith("tocsin: none: No such file")


def test_what_is_odd_about_a_page_goes_to_stderr(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (pages / "empty").write_bytes(b"")

    assert run(["compare", "empty", "new"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["outcome"] == "minor"
    assert err == "empty: the page is empty\n"


@pytest.mark.parametrize(
    ("arguments", "told_to"),
    [
        (("old", "old"), "no reader"),
        (("old", "new"), "readers of any change"),
        (("old", "old", "--elapsed", "81d"), "every reader"),
    ],
)
def test_a_person_is_told_who_would_hear_of_it(pages: Path, arguments: tuple[str, ...], told_to: str) -> None:
    status, shown = on_terminal("compare", *arguments, cwd=pages)

    assert status == 0
    assert told_to in shown
