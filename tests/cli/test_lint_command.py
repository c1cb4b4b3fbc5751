from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run

if TYPE_CHECKING:
    from pathlib import Path


def test_lint_tells_a_line_for_each_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<title>t</title>\n<meta name=topper content='true'><meta name=topper content=false>")

    assert run(["lint", str(file)]) == 1
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {
            "file": str(file),
            "line": 2,
            "column": 60,
            "rule": "T07",
            "level": "error",
            "message": "a page says not both topper true and topper false; remove one of them",
        }
    ]


def test_warnings_alone_are_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<meta name=topper content='2014 2013-01'>")

    assert run(["lint", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == "warning"


def test_a_clean_page_says_nothing_to_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<meta name=topper content=true>")

    assert run(["lint", str(file), str(file)]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_bad_source_does_not_keep_the_others_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<meta name=topper content=soon>")

    assert run(["lint", str(tmp_path / "none.html"), str(file)]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["rule"] == "T01"
    assert "none.html: No such file" in err


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"%PDF-1.7", "not HTML: a PDF document"),
        (b'{"a": 1}', "not HTML: there is no tag in it"),
        (b"\0<a>", "not HTML: binary"),
        (b"", "the page is empty"),
    ],
)
def test_what_is_no_page_is_said_to_be_none(
    body: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d"
    file.write_bytes(body)

    assert run(["lint", str(file)]) == 2
    assert capsys.readouterr() == ("", f"tocsin: {file}: {reason}; only a page can be judged\n")


def test_a_person_reads_a_line_for_each_finding_or_that_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta name=topper content='\x1b[1mx'>")
    (tmp_path / "b.html").write_text("<p>x")

    status, shown = on_terminal("lint", "a.html", "b.html", cwd=tmp_path)

    assert status == 1
    assert "a.html:1:28: error T01: \ufffd[1mx is neither true" in shown
    assert "b.html: nothing to mend" in shown
