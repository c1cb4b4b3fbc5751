"""The doctor dials no channel at an address that is refused."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calling import Installation


def test_the_doctor_dials_no_address_that_is_refused(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the name of the method says it
        text = f'[channels.ops]\ntype = "webhook"\nurl = "http://127.0.0.1:{server.getsockname()[1]}/"\n'
        (installation.folder / "tocsin.toml").write_text(text)

        answer = installation.call("doctor", "--no-settings")

        with pytest.raises(BlockingIOError):
            server.accept()
    assert "is not contacted: 127.0.0.1 is a loopback address" in answer.out
