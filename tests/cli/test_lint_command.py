from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page
from tocsin.cli.__main__ import run
from tocsin.spec.lint.check import RULES


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
    assert capsys.readouterr() == ("", f"tocsin: {file}: {reason}; only a page can be checked\n")


def test_a_file_without_end_is_not_read_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d"
    with file.open("wb") as stream:
        stream.truncate(64 * 2**20 + 1)

    assert run(["lint", str(file)]) == 2
    assert capsys.readouterr().err == f"tocsin: {file}: more than 64 MiB; no page is that large; name another file\n"


def test_a_person_reads_a_line_for_each_finding_or_that_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta name=topper content='\x1b[1mx'>")
    (tmp_path / "b.html").write_text("<p>x")

    status, shown = on_terminal("lint", "a.html", "b.html", cwd=tmp_path)

    assert status == 1
    assert "a.html:1:28: error T01: \ufffd[1mx is neither true" in shown
    assert "b.html: nothing to correct" in shown


def test_sarif_is_one_log_of_all_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a b.html", tmp_path / "c.html"
    first.write_text("<p>\n<a href='a b'>x</a>")
    second.write_text("<meta name=refresh content=3>")

    assert run(["lint", "--format", "sarif", str(first), str(second)]) == 1
    (log,) = map(json.loads, capsys.readouterr().out.splitlines())
    (sarif,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert sarif["columnKind"] == "unicodeCodePoints"
    assert sarif["results"][0] == {
        "ruleId": "LK-04",
        "ruleIndex": list(RULES).index("LK-04"),
        "level": "error",
        "message": {"text": '"a b" is no valid URL; write %20 for white space'},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": first.as_uri()},
                    "region": {"startLine": 2, "startColumn": 11},
                }
            }
        ],
    }
    assert [result["ruleId"] for result in sarif["results"]] == ["LK-04", "LM-19"]


def test_sarif_describes_every_rule_and_what_was_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>x")

    assert run(["lint", "--format", "sarif", str(file)]) == 0
    (sarif,) = json.loads(capsys.readouterr().out)["runs"]
    assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == list(RULES)
    assert all(rule["help"]["text"] for rule in sarif["tool"]["driver"]["rules"])
    assert sarif["results"] == []
    assert sarif["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert sarif["properties"]["scripted_check"] == "not performed"
    assert "mset" in sarif["properties"]["areas"]


def test_sarif_tells_of_sources_that_were_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d:e.html").write_text("<p id=a><p id=a>")
    (tmp_path / "f.bin").write_bytes(b"%PDF-1.7")

    assert run(["lint", "--format", "sarif", "f.bin", "d:e.html"]) == 2
    (sarif,) = json.loads(capsys.readouterr().out)["runs"]
    assert sarif["invocations"][0]["executionSuccessful"] is False
    assert "f.bin: not HTML" in sarif["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert sarif["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "d%3Ae.html"}


def test_text_goes_into_a_pipe_too_if_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.html"
    file.write_text("<meta name=topper content=soon>")

    assert run(["lint", "--format", "text", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{file}:1:27: error T01: soon is neither")
    assert "Not checked: the page as scripts would leave it." in err


def test_json_stands_on_a_terminal_too_if_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta name=topper content=soon>")

    status, shown = on_terminal("lint", "--format", "json", "a.html", cwd=tmp_path)

    assert status == 1
    assert json.loads(shown)["rule"] == "T01"


def test_xhtml_is_known_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.xhtml"
    file.write_text('<html xmlns="http://www.w3.org/1999/xhtml"><p></html>')

    assert run(["lint", str(file)]) == 1
    assert json.loads(capsys.readouterr().out)["rule"] == "CI-09"


def test_standard_input_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"<p lang=en_US>")))

    assert run(["lint", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "-"


async def test_sarif_names_a_page_by_a_uri_whatever_was_typed(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page("<p id=a><p id=a>")
        answer = await asyncio.to_thread(installation.call, "lint", "--format", "sarif", origin.url("/a?\u00e9%20 x"))

    (result,) = answer.records[0]["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == origin.url("/a?%C3%A9%20%20x")


async def test_a_page_is_received_and_told_without_its_password(installation: Installation) -> None:
    async with Origin() as origin:
        origin.pages["/a"] = Page("<p id=a><p id=a>", content_type="application/xhtml+xml")
        url = origin.url("/a").replace("//", "//somebody:secret@")

        answer = await asyncio.to_thread(installation.call, "lint", "--format", "sarif", url)

    (result,) = answer.records[0]["runs"][0]["results"]
    assert answer.status == 1
    assert "secret" not in answer.out
    assert result["ruleId"] == "CI-09"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == origin.url("/a").replace(
        "//", "//***@"
    )
