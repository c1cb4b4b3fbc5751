"""Every command of docs/api.md does what stands below it, against the real edge on a store that was lived in."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.sources import ROOT
from tests.server.api.conftest import Lived
from tests.server.serving import PATIENCE_S, served_in_thread

BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- end of the block"
SAME = ("url", "group", "settings", "outcome", "kind", "state", "action", "form", "by", "changed", "scope", "name")
"""Keys whose values are to be the very same, where the document does not leave them open with an ellipsis."""


def examples() -> list[tuple[str, Any]]:
    """The document's commands, each block with the answer that stands below it, if one does."""
    found: list[tuple[str, Any]] = []
    for kind, text in BLOCK.findall((ROOT / "docs" / "api.md").read_text("utf-8")):
        if kind == "sh":
            found.append((text, None))
        else:
            found[-1] = (found[-1][0], json.loads(text))
    return found


def lacks(promised: Any, told: Any, place: str = "") -> list[str]:
    """What an answer lacks of what was promised."""
    if isinstance(promised, dict) and isinstance(told, dict):
        missing = [f"{place}.{key}" for key in promised if key not in told]
        return missing + [
            line for key in promised if key in told for line in lacks(promised[key], told[key], f"{place}.{key}")
        ]
    if isinstance(promised, list) and isinstance(told, list):
        return [line for one, other in zip(promised, told, strict=False) for line in lacks(one, other, f"{place}[]")]
    is_open = promised in ("…", None) or place.rpartition(".")[2] not in SAME
    return [] if is_open or promised == told else [f"{place}: {told!r} instead of {promised!r}"]


def test_every_example_of_the_document_does_what_it_says(lived: Lived, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "the examples are for a shell; install bash and curl"
    blocks = examples()
    script = "set -eu\n" + "".join(f"{commands}\nprintf '\\n%s\\n' '{MARK}'\n" for commands, _ in blocks)
    folder, work = tmp_path / "store", tmp_path / "work"
    folder.mkdir()
    work.mkdir()

    with served_in_thread(lived.folder, lived.until, folder, name="my-shell") as served:
        headers = {"Authorization": f"Bearer {served.token}"}
        lost = httpx.get(f"{served.url}/api/v1/alerts?unseen=true&outcome=major", headers=headers, timeout=PATIENCE_S)
        dead = lost.json()["items"]
        known = {"TOCSIN": served.url, "TOKEN": served.token, "PAGE": "13", "QUESTION": "60", "ALERT": dead[0]["id"]}
        done = subprocess.run(
            [bash, "-c", script],
            cwd=work,
            env={"PATH": "/usr/bin:/bin", **known},
            capture_output=True,
            check=False,
        )

    told = done.stdout.decode().split(f"{MARK}\n")
    assert done.returncode == 0, f"block {len(told)}: {blocks[len(told) - 1][0]}\n{told[-1]}\n{done.stderr.decode()}"
    for (commands, promised), text in zip(blocks, told, strict=False):
        if promised is not None:
            last = _last_object(text)
            assert not (missing := lacks(promised, last)), f"{commands}\n{missing}\n{last}"


def _last_object(text: str) -> Any:
    """The last of the JSON objects that a block printed, one after the other."""
    decoder, place, found = json.JSONDecoder(), 0, None
    text = text.strip()
    while place < len(text):
        found, place = decoder.raw_decode(text, place)
        while place < len(text) and text[place].isspace():
            place += 1
    return found


@pytest.mark.parametrize(
    ("promised", "told", "missing"),
    [
        ({"a": 1}, {"a": 2, "b": 3}, []),
        ({"a": {"state": "done"}}, {"a": {"state": "failed"}}, [".a.state: 'failed' instead of 'done'"]),
        ({"items": [{"id": "…"}]}, {"items": [{}]}, [".items[].id"]),
        ({"name": "…"}, {"name": "x"}, []),
    ],
)
def test_what_an_answer_lacks_is_noticed(promised: Any, told: Any, missing: list[str]) -> None:
    assert lacks(promised, told) == missing
