"""The description of the API is whole: every operation says what it does, takes, gives and refuses, with examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.api.test_described import DESCRIPTION, OPERATIONS
from tocsin.model import Scope
from tocsin.server.api.describing import PROBLEM, TAGS

if TYPE_CHECKING:
    from tests.server.api.talk import Api

EVERYWHERE = {"400", "401", "403", "422", "429", "503"}


def operation(label: str) -> dict[str, Any]:
    method, path = label.split(" ")
    found: dict[str, Any] = DESCRIPTION["paths"][path][method.lower()]
    return found


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = DESCRIPTION["components"]["schemas"][name] if name else schema
    return found


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_says_what_it_does(label: str) -> None:
    found = operation(label)

    assert found["summary"]
    assert found["description"].rstrip().endswith((".", "]"))
    assert set(found["tags"]) <= {name for name, _ in TAGS}
    assert found["security"] == [{"token": []}, {"basic": []}, {"session": []}]


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_refusal_is_a_problem_document_and_declared(label: str) -> None:
    responses = operation(label)["responses"]

    assert set(responses) >= EVERYWHERE
    assert {tuple(responses[status]["content"]) for status in responses if status >= "400"} == {(PROBLEM,)}
    assert any(status < "300" for status in responses)


@pytest.mark.parametrize("label", [each for each in OPERATIONS if "requestBody" in operation(each)])
def test_what_is_sent_has_an_example(label: str) -> None:
    content = operation(label)["requestBody"]["content"]

    has_example = [
        "example" in kind or "examples" in kind or bool(resolved(kind["schema"]).get("examples"))
        for kind in content.values()
    ]

    assert any(has_example), label


def test_nothing_is_named_twice() -> None:
    names = [operation(label)["operationId"] for label in OPERATIONS]

    assert len(set(names)) == len(names)


def test_every_write_may_carry_an_idempotency_key() -> None:
    without = [
        label
        for label in OPERATIONS
        if not label.startswith("GET ")
        and "Idempotency-Key" not in {each["name"] for each in operation(label).get("parameters", [])}
    ]

    assert without == []


async def test_the_description_is_given_to_whoever_may_read(api: Api) -> None:
    token = await api.rig.token(Scope.READ)

    answer = await api.asked.get("/api/openapi.json", headers={"Authorization": f"Bearer {token}"})
    stranger = await api.asked.get("/api/openapi.json")

    assert answer.json()["openapi"].startswith("3.1")
    assert set(answer.json()["paths"]) == set(DESCRIPTION["paths"])
    assert stranger.status_code == 401
