"""Dockerfile and compose file as they stand; `./dev image` builds and tries what they say."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.sources import ROOT
from tocsin.cli.__main__ import COMMANDS
from tocsin.configuration import load

PORT = 8330


@cache
def dockerfile(name: str = "Dockerfile") -> str:
    return (ROOT / name).read_text("utf-8").replace("\\\n", " ")


@cache
def compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def services() -> list[str]:
    return sorted(compose()["services"])


def instruction(name: str, file: str = "Dockerfile") -> str:
    """The last instruction of this name: the one that holds for the image."""
    found: list[str] = re.findall(rf"^{name} (.*)$", dockerfile(file), re.MULTILINE)
    return found[-1]


FILES = pytest.mark.parametrize("file", ["Dockerfile", "Dockerfile.browser"])


@FILES
def test_both_stages_stand_on_the_same_base_which_may_be_any(file: str) -> None:
    assert "ARG BASE=python:3.13-slim\n" in dockerfile(file)
    assert re.findall(r"^FROM (\S+)", dockerfile(file), re.MULTILINE) == ["${BASE}", "${BASE}"]


def test_it_runs_as_a_number_that_the_owner_of_a_volume_can_be_set_to() -> None:
    assert instruction("USER") == "10330:10330"
    assert instruction("VOLUME") == "/var/lib/tocsin"


def test_its_health_is_asked_by_a_command_of_the_program_without_a_shell() -> None:
    asked = re.search(r'CMD \["tocsin", "([a-z]+)"\]', instruction("HEALTHCHECK"))

    assert asked is not None
    assert asked[1] in {command.name for command in COMMANDS}


def test_what_it_sets_is_a_configuration(tmp_path: Path) -> None:
    named = dict(re.findall(r"(TOCSIN_\w+)=(\S+)", instruction("ENV")))

    settings = load(environ=named, cwd=tmp_path).settings

    assert settings.http.first_token
    assert settings.http.listen == f"0.0.0.0:{PORT}"
    assert instruction("EXPOSE") == str(PORT)


@FILES
def test_each_file_that_is_copied_goes_to_the_builder(file: str) -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile(file), re.MULTILINE)
        for word in line.split()[:-1]
    ]

    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert {f"!{name}" for name in copied} <= set(ignored)


@FILES
def test_nothing_but_a_secret_says_where_packages_come_from(file: str) -> None:
    assert not re.search(r"index-url|INDEX_URL|https?://(?!github)", dockerfile(file))


def test_the_browser_runs_as_the_service_does_and_listens_where_the_compose_file_looks(tmp_path: Path) -> None:
    named = dict(re.findall(r"(TOCSIN_\w+)=(\S+)", instruction("ENV", "Dockerfile.browser")))
    service = compose()["services"]["browser"]

    socket = load(environ=named, cwd=tmp_path).settings.browser.socket

    assert instruction("USER", "Dockerfile.browser") == instruction("USER")
    assert socket.removeprefix("unix:") == service["healthcheck"]["test"][-1]
    assert "browser:/run/tocsin-browser" in service["volumes"]
    assert service["network_mode"] == "none"


def test_the_profile_of_the_browser_allows_namespaces_and_no_administration() -> None:
    profile = json.loads((ROOT / "config" / "browser-seccomp.json").read_text("utf-8"))
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    administration = (
        "acct bpf delete_module init_module io_uring_setup kexec_load keyctl mknod perf_event_open ptrace reboot"
    )

    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ALLOW"}
    assert {"unshare", "clone", "chroot", "seccomp"} <= allowed
    assert not allowed & {*administration.split(), "process_vm_readv", "settimeofday", "swapon", "userfaultfd"}


@pytest.mark.parametrize("name", services())
def test_each_service_is_shut_and_bounded(name: str) -> None:
    service = compose()["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"][0] == "no-new-privileges:true"
    assert service["security_opt"][1:] == (["seccomp:./config/browser-seccomp.json"] if name == "browser" else [])
    assert {"mem_limit", "pids_limit", "stop_grace_period", "healthcheck"} <= set(service)


@pytest.mark.parametrize("name", services())
def test_each_port_is_for_this_machine_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in compose()["services"][name].get("ports", []))


def test_without_a_profile_there_is_one_service_with_one_volume() -> None:
    plain = [name for name, service in compose()["services"].items() if "profiles" not in service]

    assert plain == ["tocsin"]
    # The second one is in memory: it holds the socket of a browser, where there is one.
    places = [place for place in compose()["services"]["tocsin"]["volumes"] if ":" in place]
    assert places == ["state:/var/lib/tocsin", "browser:/run/tocsin-browser:ro"]
    assert compose()["volumes"]["browser"]["driver_opts"]["type"] == "tmpfs"


@pytest.mark.parametrize("name", services())
def test_each_file_that_is_mounted_is_there(name: str) -> None:
    sources = [place.split(":")[0] for place in compose()["services"][name].get("volumes", [])]

    assert all((ROOT / source).exists() for source in sources if source.startswith("."))
