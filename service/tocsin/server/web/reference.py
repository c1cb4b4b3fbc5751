"""The API reference, from its OpenAPI description: each operation with parameters and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.model import JsonObject
from tocsin.server.parts import Reading
from tocsin.server.web.rendering import page

router = APIRouter(include_in_schema=False)

_METHODS: Final = ("get", "post", "put", "patch", "delete")


class DocumentedOperation(Struct, frozen=True):
    """One operation.

    takes    its parameters: (name, place, meaning)
    body     media types of its body
    answers  (status, meaning)
    """

    method: str
    path: str
    summary: str
    takes: tuple[tuple[str, str, str], ...]
    body: tuple[str, ...]
    answers: tuple[tuple[str, str], ...]


@router.get("/api/docs")
async def reference(request: Request, _caller: Reading) -> Response:
    """Show the API's operations."""
    description: JsonObject = request.app.openapi()
    return await page(request, "reference.html", areas=areas_of(description))


def areas_of(description: Mapping[str, Any]) -> list[tuple[str, list[DocumentedOperation]]]:
    """Group the operations of an OpenAPI description by their first tag, in its order."""
    found: dict[str, list[DocumentedOperation]] = {}
    for path, methods in description.get("paths", {}).items():
        for method in _METHODS:
            if (said := methods.get(method)) is not None:
                tag = next(iter(said.get("tags", ())), "other")
                found.setdefault(str(tag), []).append(_operation(method, path, said))
    return list(found.items())


def _operation(method: str, path: str, said: Mapping[str, Any]) -> DocumentedOperation:
    return DocumentedOperation(
        method.upper(),
        path,
        said.get("summary", ""),
        tuple(
            (each.get("name", ""), each.get("in", ""), each.get("description", ""))
            for each in said.get("parameters", ())
        ),
        tuple(said.get("requestBody", {}).get("content", {})),
        tuple((status, answer.get("description", "")) for status, answer in said.get("responses", {}).items()),
    )
