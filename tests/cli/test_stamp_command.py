from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "a.html"
    found.write_bytes(b"<title>t</title>\r\n<p>\xff")
    return found


def test_stamp_writes_the_date_into_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stamp", "a.html", "--major", "--at", "2026-11-21"]) == 0

    assert file.read_bytes() == b'<title>t</title>\r\n<meta name="topper-major" content="2026-11-21">\r\n<p>\xff'
    assert json.loads(capsys.readouterr().out) == {
        "file": "a.html",
        "field": "topper-major",
        "date": "2026-11-21",
        "changed": True,
    }


def test_stamp_again_changes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["stamp", "a.html", "--minor", "--at", "2026-11-21"])
    first = file.stat()

    assert run(["stamp", "a.html", "--minor", "--at", "2026-11-21"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["changed"] is False
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        ("2014", r"[0-9]{4}"),
        ("2014-01", r"[0-9]{4}-[0-9]{2}"),
        ("2014-01-01T10:00Z", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z"),
        ("2014-01-01T10:00:00.5Z", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    ],
)
def test_T10_now_is_written_as_finely_as_the_dates_beside_it(
    there: str, written: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(f"<meta name=topper-minor content='{there}'>")

    assert run(["stamp", "a.html", "--minor"]) == 0
    assert re.fullmatch(written, json.loads(capsys.readouterr().out)["date"])


def test_a_dry_run_writes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_bytes()

    assert run(["stamp", "a.html", "--minor", "--at", "2026", "--dry-run"]) == 0
    assert file.read_bytes() == before
    assert json.loads(capsys.readouterr().out)["changed"] is True


def test_stamp_from_standard_input_writes_the_page_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<p>\xff")))

    assert run(["stamp", "-", "--minor", "--at", "2026"]) == 0
    assert capsysbinary.readouterr().out == b'<meta name="topper-minor" content="2026"><p>\xff'


def test_stamp_keeps_the_files_mode_and_follows_a_link(file: Path) -> None:
    file.chmod(0o640)
    link = file.with_name("b.html")
    link.symlink_to(file.name)

    assert run(["stamp", "b.html", "--minor", "--at", "2026"]) == 0
    assert link.is_symlink()
    assert b"2026" in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(beside.name for beside in file.parent.iterdir()) == ["a.html", "b.html"]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.html",), "give --major or --minor"),
        (("a.html", "--minor", "--at", "soon"), "soon: not a date"),
        (("none.html", "--minor"), "none.html: No such file"),
    ],
)
def test_what_cannot_be_stamped_is_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["stamp", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_person_is_told_what_was_done(file: Path) -> None:
    arguments = ("stamp", "a.html", "--minor", "--at", "2026")

    assert (
        on_terminal(*arguments, "--dry-run", cwd=file.parent)[1]
        .rstrip()
        .endswith("2026 would be written as a minor change")
    )
    assert on_terminal(*arguments, cwd=file.parent)[1].rstrip().endswith("2026 written as a minor change")
    assert on_terminal(*arguments, cwd=file.parent)[1].rstrip().endswith("2026 is already there")


@pytest.mark.parametrize("order", [("--major", "--minor"), ("--minor", "--major")])
def test_a_change_is_not_major_and_minor_at_once(
    file: Path, order: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()

    assert run(["stamp", "a.html", *order]) == 2
    assert "--major and --minor exclude each other" in capsys.readouterr().err
    assert file.read_bytes() == before
