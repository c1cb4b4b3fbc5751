"""Dockerfile, compose file and chart, judged by programs that need neither an engine nor a cluster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.image.commands import call
from benchmarks.image.telling import Impossible, Report, Unproved, hold

PROFILES = ("", "observe", "demo", "cluster", "browser")


def lint(root: Path, tools: Path, report: Report) -> None:
    """Judge them; tools is the environment that holds hadolint, docker compose and Helm."""
    for file in ("Dockerfile", "Dockerfile.browser"):
        call([_tool(tools, "hadolint"), "--failure-threshold", "style", root / file])
    report.proved("hadolint finds nothing in Dockerfile and Dockerfile.browser")
    for profile in PROFILES:
        for name, service in compose(root, tools, profile)["services"].items():
            where = f"compose.yaml, service {name}"
            hold(service.get("read_only") is True, f"{where}: its file system can be written")
            hold(service.get("cap_drop") == ["ALL"], f"{where}: it keeps capabilities")
            hold("no-new-privileges:true" in service.get("security_opt", []), f"{where}: it may gain privileges")
            hold(service.get("mem_limit"), f"{where}: its memory is not bounded")
    report.proved(
        "docker compose reads compose.yaml",
        "default, observe, demo, cluster, browser; each service is shut and bounded",
    )
    call([_tool(tools, "python"), root / "benchmarks" / "image" / "chart.py", root])
    report.proved(
        "Helm makes the plain manifests of the chart, without and with a browser, and refuses it without store.url"
    )


def compose(root: Path, tools: Path, profile: str = "") -> Any:
    """Give the compose file as docker compose understands it, with this profile."""
    chosen = ["--profile", profile] if profile else []
    command = [_tool(tools, "docker-compose"), "--file", str(root / "compose.yaml"), *chosen]
    environ = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(  # noqa: S603 - a program of the tools' environment
        [*command, "config", "--format", "json"], capture_output=True, text=True, check=False, env=environ, timeout=60
    )
    if done.returncode:
        raise Unproved(f"docker compose refuses compose.yaml ({profile or 'default'}):\n{done.stderr}")
    return json.loads(done.stdout)


def _tool(tools: Path, name: str) -> str:
    found = tools / "bin" / name
    if not found.exists():
        raise Impossible(f"{found} is missing; `./dev image` sets it up")
    return str(found)
