"""What the doctor says of the service's address, of files, room, backups, the clock and names."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.calling import Installation
from tocsin.adapters.stores.sqlite.place import EngineLock
from tocsin.cli.doctor.surroundings import examine_clock, examine_http
from tocsin.settings import HttpSettings

A = "https://example.org/a"
SOUND = '[instance]\ncontact = "mailto:us@example.org"\n[http]\nlisten = ""\n'


@pytest.fixture
def sound(installation: Installation) -> Installation:
    """An installation that nothing is wrong with, with a page that is watched."""
    (installation.folder / "tocsin.toml").write_text(SOUND)
    installation.call("watch", "add", "--no-check", A)
    return installation


def told(installation: Installation, *, wrong: bool | None = None) -> str:
    records = installation.call("doctor", "--no-settings").records
    return "\n".join(
        f"{record['finding']} {record['mend']}" for record in records if wrong is None or record["wrong"] is wrong
    )


def of_http(
    *, has_tokens: bool | None = True, is_running: bool = False, is_shared: bool = False, **settings: object
) -> list[tuple[str, bool]]:
    http = HttpSettings(**{"listen": "127.0.0.1:0", **settings})  # type: ignore[arg-type]  # as the tests give them
    found = examine_http(http, has_tokens=has_tokens, is_running=is_running, is_shared=is_shared)
    assert all(finding.mend for finding in found if finding.is_wrong)
    return [(finding.what, finding.is_wrong) for finding in found]


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_an_installation_that_is_sound_has_nothing_wrong(sound: Installation) -> None:
    assert told(sound, wrong=True) == ""


def test_an_address_that_another_program_has_is_found(taken: socket.socket) -> None:
    ((what, is_wrong),) = of_http(listen=f"127.0.0.1:{taken.getsockname()[1]}")

    assert is_wrong
    assert "cannot be bound" in what


@pytest.mark.parametrize(("status", "expected"), [("ready", True), ("not ready", False)])
def test_an_address_that_a_tocsin_has_is_told_as_such(status: str, expected: bool) -> None:  # noqa: FBT001 - a parameter
    """One that is starting has its port a second before it has its store."""
    body = f'{{"status":"{status}","store":"ok","engine":"waits for its lease","fetchers":"ok"}}'
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as beside:
        beside.submit(_answer_once, server, body)
        ((what, is_wrong),) = of_http(listen=f"127.0.0.1:{server.getsockname()[1]}")

    assert is_wrong is expected
    assert ("uses another store" in what, "it is starting" in what) == (expected, not expected)


def _answer_once(server: socket.socket, body: str) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(f"HTTP/1.1 503 .\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


def test_nothing_is_said_of_tokens_where_the_store_cannot_be_used(sound: Installation) -> None:
    (sound.folder / "tocsin.toml").write_text(SOUND.replace('""', '"127.0.0.1:0"'))
    before = told(sound)
    (sound.folder / "tocsin.db").write_bytes(b"no store" * 1000)

    assert "There is no token" in before
    assert "There is no token" not in told(sound)
    assert "The store cannot be used" in told(sound)


def test_an_address_of_no_machine_is_found() -> None:
    ((what, is_wrong),) = of_http(listen="203.0.113.1:8330", public_url="https://tocsin.example.org/")

    assert (is_wrong, "203.0.113.1:8330 cannot be bound" in what) == (True, True)


def test_a_service_that_runs_and_answers_nobody_is_found(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    taken.close()

    for is_shared in (False, True):
        ((what, is_wrong),) = of_http(listen=f"127.0.0.1:{port}", is_running=True, is_shared=is_shared)

        # Of nodes on a shared store, the one that runs may be on another machine.
        assert is_wrong is not is_shared
        assert f"no answer from 127.0.0.1:{port}" in what


@pytest.mark.parametrize(
    ("settings", "expected", "wrong"),
    [
        ({"listen": ""}, "no web pages", False),
        ({"has_tokens": False}, "every user of this machine has full access", False),
        ({"has_tokens": False, "listen": "0.0.0.0:0"}, "the service listens on this machine only", True),
        ({"has_tokens": False, "listen": "0.0.0.0:0", "first_token": True}, "the next start creates", False),
        ({"listen": "0.0.0.0:0"}, "http.public_url is not set", False),
        ({"public_url": "http://tocsin.example.org/"}, "unencrypted", True),
        ({"public_url": "http://tocsin.lan/"}, "unencrypted", False),
        ({"public_url": "http://10.0.0.7/"}, "unencrypted", False),
        ({"public_url": "https://tocsin.example.org/?a=b"}, "more than an address", True),
        ({"listen": "0.0.0.0:0", "public_url": "http://localhost:8330/"}, "on other machines is not this one", True),
        ({"trusted_proxies": ("0.0.0.0/0",)}, "any client can forge its address", True),
        ({"trusted_proxies": ("172.18.0.2/32",)}, None, False),
        ({"public_url": "https://tocsin.example.org/"}, None, False),
    ],
)
def test_who_is_let_in_and_how_they_come_is_looked_at(
    settings: dict[str, object],
    expected: str | None,
    wrong: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    found = [(what.lower(), is_wrong) for what, is_wrong in of_http(**settings)]  # type: ignore[arg-type]  # as above

    assert [is_wrong for what, is_wrong in found if expected and expected in what] == ([wrong] if expected else [])
    assert expected is not None or not any(is_wrong for _, is_wrong in found)


def test_the_address_and_its_tokens_are_looked_at_in_an_installation(sound: Installation) -> None:
    (sound.folder / "tocsin.toml").write_text(SOUND.replace('""', '"0.0.0.0:0"'))
    before = told(sound, wrong=True)

    sound.call("token", "add", "me", "--scope", "admin")

    assert "there is no token" in before
    assert "there is no token" not in told(sound)


def test_a_configuration_that_others_can_write_is_found(sound: Installation) -> None:
    (sound.folder / "tocsin.toml").chmod(0o666)

    assert f"is writable by others: {sound.folder / 'tocsin.toml'}. chmod go-w" in told(sound, wrong=True)


def test_a_folder_that_others_can_write_is_found(sound: Installation) -> None:
    sound.folder.chmod(0o777)

    assert "The configuration's folder is writable by others" in told(sound, wrong=True)
    sound.folder.chmod(0o1777)
    assert "folder can be written" not in told(sound)


def test_a_store_that_others_can_read_is_found(sound: Installation) -> None:
    (sound.folder / "tocsin.db").chmod(0o644)

    assert f"The store is readable by others: {sound.folder / 'tocsin.db'}. chmod 600" in told(sound, wrong=True)


@pytest.mark.parametrize(
    ("key", "value", "file", "what"),
    [
        ("secret", "whsec_abc", "tocsin.toml", "The configuration, which contains a secret (channels.lines.secret),"),
        (
            "url",
            "https://a.example/b",
            "tocsin.toml",
            "The configuration, which contains a secret (channels.lines.url),",
        ),
        ("secret_file", "a.secret", "a.secret", "A file with a secret"),
    ],
)
def test_a_secret_that_others_can_read_is_found(
    sound: Installation, key: str, value: str, file: str, what: str
) -> None:
    (sound.folder / "a.secret").write_text("whsec_abc")
    with (sound.folder / "tocsin.toml").open("a") as configuration:
        configuration.write(f'[channels.lines]\ntype = "webhook"\n{key} = "{value}"\n')
    for name in ("tocsin.toml", "a.secret"):
        (sound.folder / name).chmod(0o600)
    before = told(sound)

    (sound.folder / file).chmod(0o640)

    assert "is readable by others" not in before
    assert f"{what} is readable by others: {sound.folder / file}. chmod 600" in told(sound, wrong=True)


def test_a_disk_without_room_for_a_backup_is_found(sound: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 5_000_000}))

    assert "The disk has 5 MB free" in told(sound, wrong=True)


def test_the_last_backup_is_told_and_an_old_one_is_wrong(sound: Installation) -> None:
    before = told(sound, wrong=False)
    sound.call("store", "backup", str(sound.folder / "copy.db"))
    after = told(sound, wrong=False)
    (sound.folder / "tocsin.db.backup").write_text(json.dumps({"at": 1_700_000_000_000_000, "file": "copy.db"}))

    assert "made no backup of the store yet" in before
    assert f": {sound.folder / 'copy.db'}." in after
    assert "The last backup of the store was made at 2023-11-" in told(sound, wrong=True)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": "x"}', '{"at": 1}'])
def test_a_note_of_a_backup_that_cannot_be_read_is_none(sound: Installation, text: str) -> None:
    (sound.folder / "tocsin.db.backup").write_text(text)

    assert "made no backup of the store yet" in told(sound)


def test_what_was_kept_beside_the_store_is_told_with_its_size(sound: Installation) -> None:
    (sound.folder / "tocsin.db.before-5.v4").write_bytes(b"x" * 3_000_000)

    assert "1 file of 3 MB in all beside the store" in told(sound, wrong=False)


def test_a_clock_before_this_program_is_wrong() -> None:
    (finding,) = examine_clock(0)

    assert (finding.is_wrong, "before this program was written" in finding.what) == (True, True)
    assert list(examine_clock(1_800_000_000_000_000)) == []


def test_a_running_engine_is_asked_and_not_displaced(sound: Installation, taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    taken.close()
    (sound.folder / "tocsin.toml").write_text(SOUND.replace('""', f'"127.0.0.1:{port}"'))
    lock = EngineLock(str(sound.folder / "tocsin.db"))
    try:
        found = told(sound, wrong=True)
    finally:
        lock.release()

    assert "A service uses this store, but there is no answer" in found


def test_the_doctor_dials_no_address_that_is_refused(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the name of the method says it
        text = f'[channels.ops]\ntype = "webhook"\nurl = "http://127.0.0.1:{server.getsockname()[1]}/"\n'
        (installation.folder / "tocsin.toml").write_text(text)

        answer = installation.call("doctor", "--no-settings")

        with pytest.raises(BlockingIOError):
            server.accept()
    assert "is not contacted: 127.0.0.1 is a loopback address" in answer.out


@pytest.mark.parametrize("fetch", ["pages", "page", "group", "render", "socket"])
def test_a_browser_that_is_missing_is_found_where_pages_are_read_in_it(sound: Installation, fetch: str) -> None:
    # Without a program of this name, whatever this machine has.
    own = '[browser]\npath = "no-such-browser"\n'
    own += {"pages": '[pages]\nfetch = "browser"\n', "render": '[render]\nkind = "browser"\n'}.get(fetch, "")
    if fetch == "socket":
        own = f'[browser]\nsocket = "unix:{sound.folder}/render.sock"\n'
    before = told(sound, wrong=True)
    (sound.folder / "tocsin.toml").write_text(SOUND + own)
    if fetch == "page":
        sound.call("watch", "set", A, "--fetch", "browser")
    elif fetch == "group":
        sound.call("watch", "set", "--group", "main", "--fetch", "browser", "--yes")

    said = told(sound, wrong=True)

    assert before == ""
    if fetch == "socket":
        assert said.startswith(f"The browser cannot be used at unix:{sound.folder}/render.sock: No such file")
        assert "start `tocsin browser` there" in said.replace("Start", "start")
    else:
        assert said.startswith("Pages cannot be read in the browser: no-such-browser is not installed.")
        assert "chromium-headless-shell" in said


def test_a_browser_that_can_be_reached_is_no_finding(sound: Installation) -> None:
    place = sound.folder / "render.sock"
    (sound.folder / "tocsin.toml").write_text(f'{SOUND}[browser]\nsocket = "unix:{place}"\n')
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place))
        door.listen()

        assert told(sound, wrong=True) == ""
