from __future__ import annotations

import pytest

from tests.cli.calling import Installation
from tests.lists.exporting import ONE, TWO, A, B, archive, watch

BACKUP = archive(
    {
        f"{ONE}/watch.json": watch(A, title="The page", paused=True, trigger_text=["x"]),
        f"{TWO}/watch.json": watch(B),
        "../x": b"",
    }
)


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_a_backup_of_changedetection_io_is_imported_without_naming_what_it_is(
    installation: Installation, source: str
) -> None:
    file = installation.folder / "backup.zip"
    file.write_bytes(BACKUP)

    answer = installation.call("watch", "import", "-" if source == "stdin" else str(file), stdin=BACKUP)

    listed = [(page["url"], page["text"], page["paused"]) for page in installation.call("watch", "list").records]
    assert listed == [(A, "The page", True), (B, None, False)]
    assert (answer.status, answer.records[0]["added"], answer.records[0]["refused"]) == (1, 2, 1)
    assert "trigger_text of 1 watch: no counterpart here; left out" in answer.err


def test_an_export_with_anything_wrong_is_not_taken_where_that_is_asked_for(installation: Installation) -> None:
    assert installation.call("watch", "import", "--strict", "-", stdin=BACKUP).records[0]["taken"] is False
    assert not (installation.folder / "tocsin.db").exists()
