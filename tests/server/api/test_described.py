"""The API keeps to its own description, whatever is asked of it."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import GenerationMode, checks

from tests.server.api.known import Known
from tests.server.api.talk import Api
from tests.server.lived import live
from tests.server.serving import PATIENCE_S, Served, served_in_thread
from tocsin.model import Scope
from tocsin.server.api import router
from tocsin.server.api.describing import PROBLEM, TAGS, describe

EXAMPLES = 20
"""Requests of each operation, at the least; a third of all must have been done."""

LUCK = 0.75
"""The share of the described requests that is about what there is."""

ALWAYS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


def described() -> dict[str, Any]:
    """The description of the API."""
    app = FastAPI(version="0")
    app.include_router(router)
    return describe(app)


DESCRIPTION = described()
OPERATIONS = sorted(f"{method.upper()} {path}" for path, item in DESCRIPTION["paths"].items() for method in item)

JOURNEYS, STEPS = 12, 12

made_up = settings(
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("lived")
    return folder, asyncio.run(live(folder))


@pytest.fixture
def served(lived: tuple[Path, int], tmp_path: Path) -> Iterator[Served]:
    folder, until = lived
    with served_in_thread(folder, until, tmp_path) as found:
        yield found


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_answers_as_it_is_described(served: Served, label: str) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    operation = schemathesis.openapi.from_dict(DESCRIPTION).find_operation_by_label(label)
    assert operation is not None
    answers: Counter[int] = Counter()
    chance = random.Random(label)  # noqa: S311 - requests are made up of it, no secrets

    def asked(case: Any, *more: Any) -> None:
        response = case.call(served.url, session=session, headers=headers, timeout=PATIENCE_S)
        if response.status_code == HTTPStatus.REQUEST_URI_TOO_LONG:  # the connection refuses it, not the operation
            return
        answers[response.status_code] += 1
        # A stale ETag refuses an edit before its settings are judged.
        case.validate_response(
            response, checks=[*ALWAYS, *(() if response.status_code == HTTPStatus.PRECONDITION_FAILED else more)]
        )

    with (
        requests.Session() as session,
        # Plain HTTP: to load certificates for each operation would take as long as its requests.
        httpx.Client(base_url=served.url, headers=headers, timeout=PATIENCE_S, verify=False) as client,  # noqa: S501
    ):
        known = Known(client, label)

        @settings(made_up, max_examples=EXAMPLES)
        @given(operation.as_strategy())
        def ask(case: Any) -> None:
            if chance.random() < LUCK:
                known.fill(case, chance)
            asked(case)

        @settings(made_up, max_examples=EXAMPLES // 5)
        @given(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
        def ask_wrongly(case: Any) -> None:
            # Whatever is sent as text is a text.
            is_text = (case.media_type or "").startswith("text/")
            asked(case, *(() if is_text else (checks.negative_data_rejection,)))

        while answers.total() < EXAMPLES:
            ask()
        with suppress(Unsatisfiable):  # nothing can be wrong with what has no parameters
            ask_wrongly()

    done = sum(count for status, count in answers.items() if 200 <= status < 300)
    assert answers.total() >= EXAMPLES
    assert done * 3 >= answers.total(), f"only {done} of {answers.total()} were done: {dict(answers)}"


def test_what_one_operation_tells_the_next_one_keeps_to(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    schema = schemathesis.openapi.from_dict(DESCRIPTION)
    answers: Counter[int] = Counter()

    class Journey(schema.as_state_machine()):  # type: ignore[misc]  # made at run time
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            case.headers.pop("Idempotency-Key", None)
            return {"headers": headers, "base_url": served.url, "timeout": PATIENCE_S}

        def validate_response(self, response: Any, case: Any, *_: Any, **__: Any) -> None:
            answers[response.status_code] += 1
            case.validate_response(response, checks=ALWAYS)

    run_state_machine_as_test(Journey, settings=settings(made_up, max_examples=JOURNEYS, stateful_step_count=STEPS))

    done = sum(count for status, count in answers.items() if 200 <= status < 300)
    assert done >= JOURNEYS, dict(answers)


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
