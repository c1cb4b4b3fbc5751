from __future__ import annotations

import hashlib
import io
import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tocsin.cli.__main__ import run
from tocsin.spec.topper.state import EMPTY
from tocsin.spec.topper.table import RECORD_0, TableRecord, write_record

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
RECORDS = [TableRecord(number, f"https://example.org/{number % 2}", EMPTY, NOON, None) for number in range(1, 4)]
TABLE = "".join((RECORD_0, *map(write_record, RECORDS))).encode()


def test_verify_counts_a_table_and_names_its_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.txt"
    file.write_bytes(TABLE)

    assert run(["table", "verify", str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(file),
        "records": 3,
        "pages": 2,
        "digest": f"sha256:{hashlib.sha256(TABLE).hexdigest()}",
    }


def test_verify_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE)))

    assert run(["table", "verify", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (TABLE[:-1], ":4:94: cut off: "),
        (TABLE.replace(b"\n3 ", b"\n2 "), ":4:1: record number: 2 is repeated"),
        (TABLE + b"\xff\n", ":5:1: not UTF-8 at byte "),
        (b"", ":1:1: no record 0: "),
    ],
)
def test_verify_refuses_a_malformed_table_with_line_column_and_reason(
    body: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.txt"
    file.write_bytes(body)

    assert run(["table", "verify", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"tocsin: {file}{message}")


def test_a_table_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["table", "verify", str(tmp_path / "none")]) == 2
    assert "No such file or directory; name a readable file" in capsys.readouterr().err
