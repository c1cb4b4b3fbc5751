"""Dockerfile and compose file as they stand; `./dev image` builds and tries what they say."""

from __future__ import annotations

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
def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


@cache
def compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def services() -> list[str]:
    return sorted(compose()["services"])


def instruction(name: str) -> str:
    """The last instruction of this name: the one that holds for the image."""
    found: list[str] = re.findall(rf"^{name} (.*)$", dockerfile(), re.MULTILINE)
    return found[-1]


def test_both_stages_stand_on_the_same_base_which_may_be_any() -> None:
    assert "ARG BASE=python:3.13-slim\n" in dockerfile()
    assert re.findall(r"^FROM (\S+)", dockerfile(), re.MULTILINE) == ["${BASE}", "${BASE}"]


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


def test_each_file_that_is_copied_goes_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile(), re.MULTILINE) for word in line.split()[:-1]
    ]

    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert {f"!{name}" for name in copied} <= set(ignored)


def test_nothing_but_a_secret_says_where_packages_come_from() -> None:
    assert not re.search(r"index-url|INDEX_URL|https?://(?!github)", dockerfile())


@pytest.mark.parametrize("name", services())
def test_each_service_is_shut_and_bounded(name: str) -> None:
    service = compose()["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "pids_limit", "stop_grace_period", "healthcheck"} <= set(service)


@pytest.mark.parametrize("name", services())
def test_each_port_is_for_this_machine_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in compose()["services"][name].get("ports", []))


def test_without_a_profile_there_is_one_service_with_one_volume() -> None:
    plain = [name for name, service in compose()["services"].items() if "profiles" not in service]

    assert plain == ["tocsin"]
    assert [place for place in compose()["services"]["tocsin"]["volumes"] if ":" in place] == ["state:/var/lib/tocsin"]


@pytest.mark.parametrize("name", services())
def test_each_file_that_is_mounted_is_there(name: str) -> None:
    sources = [place.split(":")[0] for place in compose()["services"][name].get("volumes", [])]

    assert all((ROOT / source).exists() for source in sources if source.startswith("."))
