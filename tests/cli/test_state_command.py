from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.cli.__main__ import run
from tocsin.spec.topper.state import FIELDS

PAGE = b'<meta charset=utf-8><meta name=topper content="2014-02 true"><meta name=topper-major content="2014-01 soon">'


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_state_tells_the_twelve_fields_and_the_dates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_bytes(PAGE)

    assert run(["state", str(file), "--json"]) == 0

    (record,) = told(capsys)
    assert list(record) == ["url", "encoding", "fields", "subject", "dates", "problems"]
    assert list(record["fields"]) == list(FIELDS)
    assert record == {
        "url": str(file),
        "encoding": "utf-8",
        "fields": {**dict.fromkeys(FIELDS), "topper": "2014-02 true", "topper-major": "2014-01 soon"},
        "subject": True,
        "dates": {"major": ["2014-01"], "minor": ["2014-02"]},
        "problems": [],
    }


def test_state_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE)))

    assert run(["state", "-"]) == 0
    assert told(capsys)[0]["fields"]["topper"] == "2014-02 true"


def test_T17_state_reads_xhtml_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.XHTML"
    file.write_text('<html xmlns="http://www.w3.org/1999/xhtml"><title/><meta name="topper" content="true"/></html>')

    assert run(["state", str(file)]) == 0
    assert told(capsys)[0]["fields"]["topper"] == "true"


@pytest.mark.parametrize(("body", "problem"), [(b"", "the page is empty"), (b"%PDF-1.4", "not HTML: a PDF document")])
def test_state_says_what_is_odd_about_a_page(
    body: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a"
    file.write_bytes(body)

    assert run(["state", str(file)]) == 0
    assert told(capsys)[0] == {
        "url": str(file),
        "encoding": None,
        "fields": dict.fromkeys(FIELDS),
        "subject": False,
        "dates": {"major": [], "minor": []},
        "problems": [problem],
    }


def test_one_bad_source_does_not_keep_the_others_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, complex_ = tmp_path / "a.html", tmp_path / "b.html"
    good.write_bytes(PAGE)
    complex_.write_bytes(b"<html a>" * 20_000 + PAGE)

    assert run(["state", str(complex_), str(good)]) == 1
    assert run(["state", str(tmp_path / "none"), str(complex_), str(good)]) == 2

    out, err = capsys.readouterr()
    assert [json.loads(line)["url"] for line in out.splitlines()] == [str(good), str(good)]
    assert "too many html or body elements" in err
    assert f"{tmp_path / 'none'}: No such file or directory; name a readable file" in err


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("example.org/a", "or write https://example.org/a for a page"),
        ("example.org", "or write https://example.org for a page"),
        ("index.html", "name a readable file"),
        ("./x.org", "name a readable file"),
    ],
)
def test_a_missing_file_that_looks_like_a_page_is_told_how(
    name: str, mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(["state", name]) == 2
    assert capsys.readouterr().err.rstrip().endswith(mend)


def test_a_folder_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["state", str(tmp_path)]) == 2
    assert "Is a directory" in capsys.readouterr().err


def test_state_needs_a_source() -> None:
    assert run(["state"]) == 2


def test_a_person_is_shown_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(PAGE.replace(b"soon", b"\xff"))

    status, shown = on_terminal("state", "a.html", cwd=tmp_path)

    assert status == 0
    assert "a.html (utf-8)" in shown
    assert "2014-02 true" in shown
    assert "It declares that its readers are to be alerted of changes" in shown
    assert "Problem: not valid UTF-8 from byte 102 on" in shown


def test_a_person_is_told_that_what_is_no_page_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"%PDF-1.4")

    _, shown = on_terminal("state", "a.html", cwd=tmp_path)

    assert "a.html (not parsed)" in shown
    assert "Problem: not HTML: a PDF document" in shown


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (Page(status=404), "status: answered 404; find the page's current URL"),
        (
            Page(status=401),
            "status: answered 401; write the URL as https://NAME:PASSWORD@HOST/, or set pages.auth",
        ),
        (Page(status=503), "status: answered 503; try again later"),
        (Page(status=418), "status: answered 418; open it in a browser, or ask the operator of the site"),
        (Page(status=302, headers={"Location": "/a"}), "; give the URL of the page itself"),
        (Page(), "empty: the answer is empty; try again later"),
    ],
    ids=["gone", "locked", "ill", "odd", "circle", "empty"],
)
@pytest.mark.parametrize("command", [("state",), ("lint",), ("extract", "--as", "meta")], ids=lambda words: words[0])
async def test_what_cannot_be_fetched_is_told_with_its_mend(
    command: tuple[str, ...], page: Page, told: str, installation: Installation
) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = page

        answer = await asyncio.to_thread(installation.call, *command, origin.url("/a"))

    assert answer.status == 1
    assert answer.err.rstrip().endswith(told)


async def test_a_server_that_is_not_there_is_told_with_its_mend(installation: Installation) -> None:
    async with Origin() as origin:
        url = origin.url("/a")

    answer = await asyncio.to_thread(installation.call, "state", url)

    assert answer.status == 1
    assert "connection refused; check host and port" in answer.err
