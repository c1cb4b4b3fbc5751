"""Commands that care for the store: export, import, check, migrate, prune, doctor."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import socket
import sqlite3
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.calling import Installation
from tocsin.adapters.stores import open_store
from tocsin.cli.__main__ import run
from tocsin.model import AlertDraft, DeliveryResult, SerializedEvent
from tocsin.spec.topper.state import EMPTY
from tocsin.spec.topper.table import RECORD_0, TableRecord, write_record

A = "https://example.org/a"
ABSENT = " ".join([""] * 49)
TEXT = '"mine &amp;c;"'
TABLE = f"{RECORD_0}1 {A} {ABSENT}2026-11-21T09:00:00Z {TEXT}\n2 {A} {ABSENT}2026-11-21T10:00:00.5Z {TEXT}\n"


def test_T30_a_table_that_was_imported_is_exported_byte_for_byte(installation: Installation) -> None:
    taken = installation.call("table", "import", installation.write("states.txt", TABLE))
    exported = installation.call("table", "export")

    assert taken.records[0]["records"] == 2
    assert exported.out == TABLE


def test_T71_records_and_digest_are_told_on_stderr(installation: Installation) -> None:
    digest = hashlib.sha256(TABLE.encode()).hexdigest()
    taken = installation.call("table", "import", installation.write("states.txt", TABLE))

    exported = installation.call("table", "export", str(installation.folder / "out.txt"))

    assert f"2 records, sha256:{digest}" in taken.err
    assert f"2 records, sha256:{digest}" in exported.err
    assert (installation.folder / "out.txt").read_text() == TABLE


def test_a_table_that_is_malformed_is_refused_whole(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)
    file = installation.write("states.txt", TABLE[:-3])

    answer = installation.call("table", "import", file)

    assert answer.status == 2
    assert f"{file}:3:" in answer.err
    assert installation.call("table", "export").out == RECORD_0


def test_pages_that_have_states_are_refused_unless_they_are_to_be_replaced(installation: Installation) -> None:
    file = installation.write("states.txt", TABLE)
    installation.call("table", "import", file)

    again = installation.call("table", "import", file)
    unasked = installation.call("table", "import", "--replace", file)
    replaced = installation.call("table", "import", "--replace", "--yes", file)

    assert (again.status, unasked.status, replaced.status) == (2, 2, 0)
    assert A in again.err
    assert "--yes" in unasked.err
    assert installation.call("table", "export").out == TABLE


def test_a_dry_run_of_an_import_takes_nothing(installation: Installation) -> None:
    answer = installation.call("table", "import", "--dry-run", installation.write("states.txt", TABLE))

    assert answer.records[0] == {"file": answer.records[0]["file"], "records": 2, "dry_run": True}
    assert not (installation.folder / "tocsin.db").exists()


def test_a_backup_holds_what_the_store_held(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    copy = installation.folder / "copy.db"

    answer = installation.call("store", "backup", str(copy))

    assert answer.status == 0
    assert installation.call("--store", f"sqlite:{copy}", "table", "export").out == TABLE


def test_a_backup_never_writes_over_a_file(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))

    assert installation.call("store", "backup", installation.write("copy.db", "mine")).status != 0
    assert (installation.folder / "copy.db").read_text() == "mine"


def test_a_store_that_is_sound_is_said_to_be(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))

    answer = installation.call("store", "check")

    assert (answer.status, answer.records) == (0, [])


def test_a_store_that_is_not_sound_is_an_exit_status_of_1(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db, db:
        db.execute("update states set fields = x'90'")

    answer = installation.call("store", "check")

    assert answer.status == 1
    assert answer.records


def test_a_store_of_this_version_needs_no_migration(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))

    assert installation.call("store", "migrate").records[0]["migrations"] == 0


def test_a_store_of_a_newer_version_is_an_exit_status_of_3(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db:
        db.execute("pragma user_version = 999")

    answer = installation.call("watch", "list")

    assert answer.status == 3
    assert "999" in answer.err


def test_pruning_is_asked_for(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))

    assert installation.call("store", "prune").status == 2
    assert installation.call("store", "prune", "--dry-run").records[0]["rows"] == 0
    assert installation.call("store", "prune", "--older", "1d", "--yes").status == 0
    assert installation.call("store", "prune", "--older", "soon", "--yes").status == 2
    assert installation.call("table", "export").out == TABLE


def test_an_alert_that_is_not_there_cannot_be_shown(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))

    assert installation.call("alerts", "show", "01KAK").status == 2
    assert installation.call("alerts", "replay", "01KAK", "--yes").status == 2
    assert installation.call("alerts", "replay", "--yes").status == 2
    assert installation.call("alerts", "replay", "--dead", "--channel", "nobody", "--yes").status == 2


def test_T72_an_alert_is_replayed_to_a_channel_that_was_configured_after_it(installation: Installation) -> None:
    url = f"sqlite:{installation.folder / 'tocsin.db'}"
    alert = AlertDraft("01KAKQ4ZC8N2V3J5R7T9WXYZ00", "tocsin.outage.began.v1", None, 1, {"subject": "outage"})

    async def write() -> None:
        async with await open_store(url, engine=False) as store:
            await store.write_alert(alert)

    asyncio.run(write())
    installation.configure('[channels.ops]\ntype = "file"\npath = "alerts.jsonl"\n')

    answer = installation.call("alerts", "replay", alert.id, "--channel", "ops", "--yes")

    assert answer.records == [{"deliveries": 1, "dry_run": False}]
    (listed,) = installation.call("alerts", "list").records
    (delivery,) = listed["deliveries"]
    assert (delivery["channel"], delivery["state"], delivery["tries"], delivery["digest"]) == (
        "ops",
        "waiting",
        0,
        None,
    )


ROUTED = """
[channels.ops]
type = "file"
path = "alerts.jsonl"
[[routes]]
name = "daily"
channels = ["ops"]
digest = "0 7 * * *"
"""


def test_a_digest_is_listed_and_replayed_and_a_route_takes_earlier_alerts(installation: Installation) -> None:
    url = f"sqlite:{installation.folder / 'tocsin.db'}"
    at = time.time_ns() // 1000
    alert = AlertDraft("01KAKQ4ZC8N2V3J5R7T9WXYZ00", "tocsin.outage.began.v1", None, at, {"subject": "outage"})

    async def write() -> None:
        async with await open_store(url, engine=False) as store:
            await store.write_alert(alert)
            await store.set_channels(["ops"])

    async def end() -> None:
        async with await open_store(url, engine=False) as store:
            await store.seal_bundle(1, at)
            await store.keep_digest(1, SerializedEvent("M1", b'{"id": "M1"}'), None)
            await store.record_deliveries([DeliveryResult("M1", "ops", "dead", at, position=-1)])

    def replayed(*arguments: str) -> list[int]:
        return [record["deliveries"] for record in installation.call("alerts", "replay", *arguments).records]

    asyncio.run(write())
    installation.configure(ROUTED)
    assert installation.call("alerts", "replay", "--route", "none", "--yes").status == 2
    assert installation.call("alerts", "replay", "--route", "daily", "--since", "soon", "--yes").status == 2
    assert replayed("--route", "daily", "--dry-run") == [1]
    assert replayed("--route", "daily", "--yes") == [1]
    assert replayed("--route", "daily", "--yes") == [0]
    (delivery,) = installation.call("alerts", "list").records[0]["deliveries"]
    assert (delivery["state"], delivery["digest"]) == ("gathered", "1")
    assert "it is open" in installation.call("alerts", "replay", "--digest", "1", "--yes").err

    asyncio.run(end())
    assert replayed("--digest", "1", "--yes") == [1]
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db, db:
        db.execute("update bundles set due_at = 1")
    findings = [record.get("finding", "") for record in installation.call("doctor", "--no-settings").records]
    assert [found for found in findings if found.startswith("Channel ops did not take a digest that was due at 1970")]

    (delivery,) = installation.call("alerts", "list").records[0]["deliveries"]
    assert delivery["state"] == "gathered"
    assert installation.call("alerts", "replay", "--digest", "7", "--yes").status == 2


def test_a_channel_that_takes_a_test_alert_is_said_to(installation: Installation) -> None:
    installation.configure('[channels.lines]\ntype = "file"\npath = "alerts.jsonl"\n')
    installation.call("table", "import", installation.write("states.txt", TABLE))

    answer = installation.call("channel", "test", "lines")
    listed = installation.call("channel", "list").records

    assert answer.records == [{"channel": "lines", "accepted": True, "through": "command"}]
    assert "tocsin.channel.test.v1" in (installation.folder / "alerts.jsonl").read_text()
    assert (listed[0]["name"], listed[0]["disabled"]) == ("lines", False)


def test_a_channel_that_is_not_configured_cannot_be_tried(installation: Installation) -> None:
    assert installation.call("channel", "test", "nobody").status == 2


def test_the_doctor_shows_settings_with_their_origin_and_masks_secrets(installation: Installation) -> None:
    installation.configure(
        '[channels.ops]\ntype = "webhook"\nurl = "https://127.0.0.1:1/T0K3N"\nsecret = "whsec_abc"\n'
    )

    answer = installation.call("doctor")

    settings = {record["key"]: record for record in answer.records if "key" in record}
    assert settings["hosts.delay"] == {
        "key": "hosts.delay",
        "value": "0s",
        "origin": str(installation.folder / "tocsin.toml"),
    }
    assert settings["store.url"]["origin"] == "--store"
    assert settings["pages.every"] == {"key": "pages.every", "value": "24h", "origin": "default"}
    assert settings["channels.ops.secret"]["value"] == "***"
    assert "T0K3N" not in answer.out + answer.err
    assert "whsec_abc" not in answer.out + answer.err


def test_the_doctor_names_what_is_wrong_and_the_mend(installation: Installation) -> None:
    installation.configure('[channels.ops]\ntype = "webhook"\nurl = "https://127.0.0.1:1/"\n')
    installation.call("watch", "add", "--no-check", A)
    installation.call("watch", "set", "--all", "--mode", "off")

    answer = installation.call("doctor", "--no-settings")

    found = " ".join(record["finding"] for record in answer.records if record["wrong"])
    assert answer.status == 1
    assert "No contact is configured" in found
    assert "Channel ops cannot be reached" in found
    assert "ALL PAGES ARE OFF" in found
    assert all(record["mend"] for record in answer.records if record["wrong"])


def test_the_doctor_shows_what_is_set_at_run_time_and_for_a_group(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--group", "news")
    installation.call("watch", "set", "--all", "--every", "6h")
    installation.call("watch", "set", "--group", "news", "--tell", "major")

    shown = installation.call("doctor").records

    assert {"key": "pages.every", "value": "6h", "origin": "all pages"} in shown
    assert {"key": "pages.tell", "value": "major", "origin": "group news"} in shown


def test_the_doctor_finds_a_channel_whose_address_is_not_allowed(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = f'[channels.ops]\ntype = "webhook"\nurl = "http://127.0.0.1:{port}/"\n'
        (installation.folder / "tocsin.toml").write_text(text)

        answer = installation.call("doctor", "--no-settings")

    found = " ".join(record["finding"] for record in answer.records)
    assert "is not contacted" in found


def test_the_doctor_finds_nothing_wrong_with_a_sound_installation(installation: Installation) -> None:
    (installation.folder / "tocsin.toml").write_text('[instance]\ncontact = "mailto:us@example.org"\n')

    answer = installation.call("doctor", "--no-settings")

    assert answer.status == 0
    assert not any(record["wrong"] for record in answer.records)


def test_the_doctor_reads_a_large_store_whole_only_where_it_is_asked_to(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db:
        db.execute("update pages set state_id = null")
        db.commit()
    small = installation.call("doctor", "--no-settings")
    monkeypatch.setattr("tocsin.cli.doctor.command.READ_BYTES", 1000)

    large = installation.call("doctor", "--no-settings")
    thorough = installation.call("doctor", "--no-settings", "--thorough")

    told = ["".join(record["finding"] for record in answer.records) for answer in (small, large, thorough)]
    assert ["The store is damaged" in findings for findings in told] == [True, False, True]
    assert ["was not checked for damage" in findings for findings in told] == [False, True, False]


def test_the_doctor_finds_a_store_that_cannot_be_used(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db:
        db.execute("pragma user_version = 999")

    answer = installation.call("doctor", "--no-settings")

    assert answer.status == 1
    (found,) = [record for record in answer.records if "The store cannot be used" in record["finding"]]
    assert "version 999" in found["finding"]
    assert found["mend"].startswith("Update the program, or restore a backup")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_completion(installation: Installation, shell: str) -> None:
    answer = installation.call("completion", shell)

    assert answer.status == 0
    assert "_TOCSIN_COMPLETE" in answer.out


def test_forgetting_what_is_older_than_the_calendar_is_refused(installation: Installation) -> None:
    answer = installation.call("store", "prune", "--older", "9999999d", "--dry-run")

    assert answer.status == 2
    assert "--older: '9999999d' is too long" in answer.err


@pytest.mark.parametrize("stdin", [False, True])
def test_a_table_that_is_refused_leaves_no_store_where_there_was_none(
    installation: Installation,
    stdin: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    file = "-" if stdin else installation.write("states.txt", TABLE[:-3])

    answer = installation.call("table", "import", file, stdin=TABLE[:-3])

    assert answer.status == 2
    assert not (installation.folder / "tocsin.db").exists()


def test_a_table_of_standard_input_is_taken_whole(installation: Installation) -> None:
    assert installation.call("table", "import", "-", stdin=TABLE).records[0]["records"] == 2
    assert installation.call("table", "export").out == TABLE


@pytest.mark.parametrize("command", [("watch", "list"), ("alerts", "list"), ("store", "check"), ("table", "export")])
def test_an_empty_file_is_no_store_to_whoever_reads(installation: Installation, command: tuple[str, ...]) -> None:
    (installation.folder / "tocsin.db").touch()

    answer = installation.call(*command)

    assert answer.status == 3
    assert "the file is empty" in answer.err


@pytest.mark.parametrize(("is_empty", "what"), [(True, "empty (0 bytes)"), (False, "gone")])
def test_the_doctor_says_that_there_was_a_store_as_the_commands_do(
    installation: Installation, what: str, *, is_empty: bool
) -> None:
    (installation.folder / "tocsin.db.lock").touch()
    if is_empty:
        (installation.folder / "tocsin.db").touch()

    records = installation.call("doctor", "--no-settings").records

    (found,) = [record for record in records if f"the store is {what}, but there was one" in record.get("finding", "")]
    assert found["wrong"]
    assert found["mend"].startswith("Put its file back, or restore a backup: tocsin store restore FILE")


def test_the_doctor_finds_an_empty_file_in_the_place_of_the_store(installation: Installation) -> None:
    (installation.folder / "tocsin.db").touch()

    records = installation.call("doctor", "--no-settings").records

    assert any("is an empty file" in record["finding"] and record["wrong"] for record in records)


@pytest.mark.parametrize("command", [("verify",), ("import", "--dry-run"), ("import",)])
def test_records_that_are_stored_in_the_future_are_told(installation: Installation, command: tuple[str, ...]) -> None:
    file = installation.write("states.txt", TABLE.replace("2026-11-21T10:00:00.5Z", "9999-11-21T10:00:00.5Z"))

    answer = installation.call("table", *command, file)

    assert answer.status == 0
    assert f"{file}: 1 record stored in the future, the first is record 2 (9999-11-21 10:00:00 UTC)" in answer.err


def test_a_table_of_the_past_is_doubted_by_nobody(installation: Installation) -> None:
    answer = installation.call("table", "import", installation.write("states.txt", TABLE.replace("2026", "2020")))

    assert "stored in the future" not in answer.err


def test_the_doctor_finds_a_state_of_a_time_that_is_yet_to_come(installation: Installation) -> None:
    file = installation.write("states.txt", TABLE.replace("2026-11-21T10:00:00.5Z", "9999-11-21T10:00:00.5Z"))
    installation.call("table", "import", file)

    records = installation.call("doctor", "--no-settings").records

    assert any("The clock was set back: a state has the time 9999" in record["finding"] for record in records)


OLD_TABLE = f'{RECORD_0}1 https://example.org/a {ABSENT}2026-11-21T09:00:00Z "mine"\n'


def test_pruning_tells_what_it_forgot_by_kind(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", OLD_TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db, db:
        db.execute(
            "insert into states (page_id, first_at, last_at, storings, in_table, fields) "
            "select page_id, 1, 2, 1, 0, fields from states"
        )

    first = installation.call("store", "prune", "--older", "1d", "--yes").records[0]
    again = installation.call("store", "prune", "--older", "1d", "--yes").records[0]

    assert (first["rows"], first["forgotten"]["states"], first["forgotten"]["alerts"]) == (1, 1, 0)
    assert (again["rows"], again["forgotten"]) == (0, {})


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
RECORDS = [TableRecord(number, f"https://example.org/{number % 2}", EMPTY, NOON, None) for number in range(1, 4)]

SMALL_TABLE = "".join((RECORD_0, *map(write_record, RECORDS))).encode()


def test_verify_counts_a_table_and_names_its_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.txt"
    file.write_bytes(SMALL_TABLE)

    assert run(["table", "verify", str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(file),
        "records": 3,
        "pages": 2,
        "digest": f"sha256:{hashlib.sha256(SMALL_TABLE).hexdigest()}",
    }


def test_verify_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL_TABLE)))

    assert run(["table", "verify", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (SMALL_TABLE[:-1], ":4:94: cut off: "),
        (SMALL_TABLE.replace(b"\n3 ", b"\n2 "), ":4:1: record number: 2 is repeated"),
        (SMALL_TABLE + b"\xff\n", ":5:1: not UTF-8 at byte "),
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
