"""The Helm chart, the plain manifest that it gives, and the nodes of the compose file, as they stand.

`./dev image --lint` has Helm itself make the manifest.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from tests.house.sources import ROOT
from tocsin.configuration import load

CHART: Final = ROOT / "config" / "helm" / "tocsin"
TEMPLATE: Final = CHART / "templates" / "tocsin.yaml"
PLAIN: Final = ROOT / "config" / "kubernetes" / "tocsin.yaml"
PATCH: Final = PLAIN.with_name("browser.yaml")


@cache
def manifest() -> dict[str, Any]:
    """The objects of the plain manifest, by kind."""
    return {each["kind"]: each for each in yaml.safe_load_all(PLAIN.read_text("utf-8"))}


def container() -> dict[str, Any]:
    """The only container of a node."""
    (found,) = manifest()["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_a_node_is_replaced_one_at_a_time_and_has_the_time_to_end() -> None:
    deployment = manifest()["Deployment"]["spec"]

    assert (deployment["replicas"], deployment["strategy"]["rollingUpdate"]["maxUnavailable"]) == (3, 1)
    assert deployment["template"]["spec"]["terminationGracePeriodSeconds"] == 60
    assert manifest()["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1


def test_all_that_chooses_nodes_chooses_these() -> None:
    labels = manifest()["Deployment"]["spec"]["template"]["metadata"]["labels"]

    assert manifest()["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert manifest()["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert manifest()["Service"]["spec"]["selector"] == labels


def test_a_node_is_asked_whether_it_is_alive_and_whether_it_is_ready() -> None:
    paths = {name: container()[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}

    assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}


def test_a_node_has_no_right_that_it_does_not_need() -> None:
    pod = manifest()["Deployment"]["spec"]["template"]["spec"]

    assert (pod["securityContext"]["runAsNonRoot"], pod["automountServiceAccountToken"]) == (True, False)
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def browser() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the patch for the browser adds: to the node's container, and the container of its own."""
    node, own = yaml.safe_load(PATCH.read_text("utf-8"))["spec"]["template"]["spec"]["containers"]
    return node, own


def test_the_browser_is_shut_as_a_node_is_and_has_no_secret_of_it() -> None:
    _, own = browser()
    confined = dict(own["securityContext"])

    assert confined.pop("seccompProfile") == {"type": "Localhost", "localhostProfile": "tocsin-browser.json"}
    assert confined == container()["securityContext"]
    assert {each["mountPath"] for each in own["volumeMounts"]} == {"/run/tocsin-browser", "/tmp", "/dev/shm"}  # noqa: S108 - what it is given
    assert "env" not in own


def test_the_browser_in_a_pod_has_the_bounds_and_the_socket_of_the_one_in_the_compose_file() -> None:
    node, own = browser()
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["browser"]
    pod = yaml.safe_load(PATCH.read_text("utf-8"))["spec"]["template"]["spec"]
    sizes = {each["name"]: each["emptyDir"]["sizeLimit"] for each in pod["volumes"]}

    assert own["resources"]["limits"]["memory"].removesuffix("Mi") == composed["mem_limit"].removesuffix("m")
    assert sizes["browser-memory"].removesuffix("Mi") == composed["shm_size"].removesuffix("m")
    assert f"size={sizes['browser-files'].removesuffix('i').lower()}" in composed["tmpfs"][0]
    assert own["livenessProbe"]["exec"]["command"] == composed["healthcheck"]["test"][1:]
    assert node["env"] == [
        {"name": "TOCSIN_BROWSER__SOCKET", "value": f"unix:{own['livenessProbe']['exec']['command'][-1]}"}
    ]


def settings_of(environment: dict[str, str], folder: Path) -> Any:
    """The settings that a node is given by its environment; its files of secrets are in this folder."""
    for name in ("PASSWORD", "TOKENS"):
        (folder / name).write_text("s3cret" if name == "PASSWORD" else "ops admin 6f0c2f0d5a6e4b7f8e4c1d0b9a3f7e52")
    given = {
        name: str(folder / name.rpartition("__")[2].removesuffix("_FILE")) if name.endswith("_FILE") else value
        for name, value in environment.items()
        # What the caller's environment may replace is empty else.
        if name.startswith("TOCSIN_") and not value.startswith("${")
    }
    return load(environ=given, cwd=folder).settings


def test_the_environment_of_a_pod_is_made_of_settings(tmp_path: Path) -> None:
    environment = {each["name"]: each.get("value", "tocsin-7d9f") for each in container()["env"]}

    settings = settings_of(environment, tmp_path)

    assert settings.store.url == "postgresql://tocsin@postgres/tocsin"
    assert (settings.store.password, settings.cluster.node) == ("s3cret", "tocsin-7d9f")


def test_the_compose_file_starts_three_nodes_on_one_database(tmp_path: Path) -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    node, database = services["node"], services["postgres"]

    settings = settings_of(node["environment"], tmp_path)

    assert (node["deploy"]["replicas"], node["profiles"], database["profiles"]) == (3, ["cluster"], ["cluster"])
    assert settings.store.url.endswith(f"{database['environment']['POSTGRES_USER']}@postgres/tocsin")
    # Without a name of its own, each has that of its container.
    assert settings.cluster.node == ""
    assert node["depends_on"]["postgres"]["condition"] == "service_healthy"
    first, last = re.match(r"127\.0\.0\.1:(\d+)-(\d+):8330$", node["ports"][0]).groups()  # type: ignore[union-attr]  # else it fails
    assert int(last) - int(first) >= node["deploy"]["replicas"]


@pytest.mark.parametrize(
    ("values", "is_right"),
    [
        ({}, False),
        ({"store": {"url": ""}}, False),
        ({"store": {"url": "sqlite:tocsin.db"}}, False),
        ({"store": {"url": "postgresql://tocsin@db.example/tocsin"}}, True),
        ({"store": {"url": "postgresql://db/t"}, "settings": {"TOCSIN_PAGES__EVERY": "6h"}}, True),
        ({"store": {"url": "postgresql://db/t"}, "settings": {"PATH": "/"}}, False),
        ({"store": {"url": "postgresql://db/t"}, "replica": 5}, False),
        ({"store": {"url": "postgresql://db/t"}, "browser": {"enabled": True}}, True),
        ({"store": {"url": "postgresql://db/t"}, "browser": {"seccompProfile": "/etc/browser.json"}}, False),
    ],
)
def test_one_value_must_be_set_and_a_wrong_one_is_refused(values: dict[str, Any], is_right: bool) -> None:  # noqa: FBT001 - a column of the table
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))

    assert jsonschema.Draft7Validator(schema).is_valid(values) == is_right


def test_the_values_of_the_chart_are_those_that_its_template_and_its_schema_know() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))["properties"]
    used = {tuple(path.split(".")) for path in re.findall(r"\.Values\.([\w.]+)", TEMPLATE.read_text("utf-8"))}

    assert {path[0] for path in used} == set(values) == set(schema) - {"global"}
    assert all(path[1] in values[path[0]] for path in used if len(path) > 1)


def lines_of(text: str) -> list[str]:
    """The lines of a manifest, without their indentation, comments and separators."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#") and line != "---"]


def test_the_plain_manifest_and_its_patch_have_each_line_of_the_chart_and_no_other_one() -> None:
    template = lines_of(TEMPLATE.read_text("utf-8"))
    plain = [line for path in (PLAIN, PATCH) for line in lines_of(path.read_text("utf-8"))]
    # What a range or toYaml writes is in the values.
    made = set(lines_of((CHART / "values.yaml").read_text("utf-8")))
    in_range = {"- name: {{ $name }}", "value: {{ $value | quote }}"}
    patterns = {
        re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(line))
        for line in template
        if not line.startswith("{{") and line not in in_range
    }

    assert [line for line in plain if line not in made and not any(re.fullmatch(each, line) for each in patterns)] == []
    assert [each for each in patterns if not any(re.fullmatch(each, line) for line in plain)] == []
