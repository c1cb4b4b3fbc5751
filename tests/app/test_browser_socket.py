"""The socket of a browser elsewhere: what is wrong with it is said with the mend."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from tocsin import __version__
from tocsin.app import browser_socket
from tocsin.app.browser_serving import serve_engines
from tocsin.app.browser_socket import connect, receive_greeting, why_not_served
from tocsin.errors import ProcessError, TocsinError

PATIENCE_S = 60.0


@contextmanager
def served(path: Path, answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """A socket at which one connection is answered so; gives its address."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()

        def serve() -> None:
            ours, _ = door.accept()
            with ours:
                answer(ours)

        serving = Thread(target=serve)
        serving.start()
        yield f"unix:{path}"
        serving.join()


@pytest.mark.parametrize("slots", [1, 64])
async def test_the_browser_is_told_how_many_slots_are_wanted(tmp_path: Path, slots: int) -> None:
    wanted: list[int] = []
    with served(tmp_path / "s", lambda ours: wanted.append(receive_greeting(ours))) as address:
        ours = await connect(address, slots)
        ours.close()

    assert wanted == [slots]


async def test_a_browser_of_another_version_is_refused_with_both_versions(tmp_path: Path) -> None:
    def answer(ours: socket.socket) -> None:
        ours.recv(1000)
        ours.sendall(b"-9.9")

    with served(tmp_path / "s", answer) as address, pytest.raises(ProcessError) as failure:
        await connect(address, 2)
    with served(tmp_path / "t", answer) as address:
        said = why_not_served(address, PATIENCE_S)

    assert said == f"the browser is of version 9.9, this service of {__version__}; use the same version of both"
    assert str(failure.value).endswith(f": {said}")


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_is_no_browser_of_ours_is_named(tmp_path: Path, said: bytes) -> None:
    def answer(ours: socket.socket) -> None:
        ours.recv(1000)
        ours.sendall(said)

    with served(tmp_path / "s", answer) as address:
        assert str(why_not_served(address, PATIENCE_S)).startswith("what listens there is no browser of Tocsin; ")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"tocsin 9.9 2", b"-" + __version__.encode()),
        (b"GET / HTTP/1.1\r\n\r\n", b""),
        (b"tocsin", b""),
        (b"tocsin 1 many", b""),
        (b"\xff\x00", b""),
    ],
)
def test_a_client_that_is_no_service_of_this_version_gets_no_browser(
    tmp_path: Path, said: bytes, answer: bytes
) -> None:
    wanted: list[int] = []
    with (
        served(tmp_path / "s", lambda ours: wanted.append(receive_greeting(ours))) as address,
        socket.socket(socket.AF_UNIX) as ours,
    ):
        ours.connect(address.removeprefix("unix:"))
        ours.sendall(said)
        assert ours.recv(1000) == answer

    assert wanted == [0]


async def test_a_browser_that_serves_another_service_says_so_and_is_no_fault_to_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_socket, "FIRST_WORD_S", 0.0)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "s"))
        door.listen()

        with pytest.raises(ProcessError, match="a browser serves one service at a time"):
            await connect(f"unix:{tmp_path}/s", 2)
        assert why_not_served(f"unix:{tmp_path}/s", 0.001) is None


@pytest.mark.parametrize(
    ("number", "mend"),
    [
        (errno.ENOENT, "start `tocsin browser` there"),
        (errno.ECONNREFUSED, "start `tocsin browser` again"),
        (errno.EACCES, "as the same user or group"),
        (errno.EIO, "see docs/browser.md"),
    ],
)
async def test_a_socket_that_cannot_be_reached_is_named_with_the_mend(
    monkeypatch: pytest.MonkeyPatch, number: int, mend: str
) -> None:
    async def refuse(*_: object) -> None:
        raise OSError(number, "as said")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", refuse)

    with pytest.raises(ProcessError, match=rf"browser\.socket unix:/s: as said; .*{mend}"):
        await connect("unix:/s", 2)


def test_a_file_that_is_no_socket_is_kept_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.app.browser_serving.why_no_browser", lambda _: None)
    monkeypatch.setattr("tocsin.app.browser_serving.why_no_cells", lambda: None)
    kept = tmp_path / "notes.txt"
    kept.write_text("mine")

    with pytest.raises(TocsinError, match=r"notes\.txt: Address already in use; name a file that is not there yet"):
        serve_engines(f"unix:{kept}", "chromium", print)

    assert kept.read_text() == "mine"


def test_a_socket_that_is_served_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.app.browser_serving.why_no_browser", lambda _: None)
    monkeypatch.setattr("tocsin.app.browser_serving.why_no_cells", lambda: None)
    with (
        served(tmp_path / "s", lambda _: None) as address,
        pytest.raises(TocsinError, match="Address already in use"),
    ):
        serve_engines(address, "chromium", print)
