"""Who serves loads the web framework; nobody else does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tocsin.cli.__main__ import COMMANDS

FRAMEWORK = {"fastapi", "starlette", "uvicorn", "jinja2", "pydantic", "prometheus_client", "multipart"}


def loaded_by(statements: str) -> set[str]:
    code = f"import sys\n{statements}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "modules",
    [
        # A fetcher process, the engine as one-shot checks use it, the service before it serves, and every command.
        ["tocsin.app.fetcher"],
        ["tocsin.app.once", "tocsin.app.assembly"],
        ["tocsin.app.service", "tocsin.app.edge"],
        ["tocsin.cli.__main__", *(command.module for command in COMMANDS)],
    ],
)
def test_nobody_but_who_serves_loads_the_web_framework(modules: list[str]) -> None:
    loaded = loaded_by("\n".join(f"import {module}" for module in modules))

    assert loaded & FRAMEWORK == set()


def test_a_health_check_loads_neither_the_engine_nor_the_store() -> None:
    code = (
        "from tocsin.cli.__main__ import tocsin\n"
        "try: tocsin(['healthcheck'])\n"
        "except SystemExit: pass\n"
        "print({'aiohttp', 'aiosqlite', 'uvloop'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "set()"
