"""The reference of records, made of their declarations.

`python -m tests.docs.records > docs/records.md` writes it anew.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from tocsin.model.records import alerting, fields, history, nodes, operations, pages, routing, service, signals
from tocsin.server.api import router
from tocsin.server.api.operations import Operation

HEAD = """# Records

The API and the command line show the same records: an answer of the API and a line of `--json` have the same names and
the same bytes. The tables are generated from the declarations in `tocsin/model/records/`.

Times are RFC 3339 in UTC, cut to milliseconds. Ids are strings of digits. `null` means that there is no value. A list
of the API is `{"items": […], "next": …}`; on the command line each of its records is a line.
"""

COMMANDS = {
    "Page": ("watch list",),
    "Check": ("check",),
    "Copy": ("history URL --copies",),
    "HistoryState": ("history URL",),
    "Text": ("diff URL --list",),
    "TextDifference": ("diff URL",),
    "FileDifference": ("diff OLD NEW",),
    "DryRunReport": ("signals URL",),
    "NoiseOfPage": ("signals URL --mute N", "signals URL --unmute N"),
    "Question": ("attention list",),
    "WholeQuestion": ("attention show ID",),
    "StandingAnswer": ("attention list --standing",),
    "Alert": ("alerts list", "alerts show ID"),
    "Storm": ("alerts storms",),
    "StormPage": ("alerts storms ID",),
    "ConfiguredChannel": ("channel list",),
    "ConfiguredRoute": ("route list",),
    "RouteTest": ("route test ALERT",),
    "SilenceEntry": ("silence add", "silence list"),
    "Token": ("token list", "token revoke NAME"),
    "NewToken": ("token add NAME",),
    "Setting": ("doctor",),
    "Node": ("nodes",),
    "ImportedFile": ("watch import FILE",),
    "PlannedChange": ("plan FILE", "apply FILE"),
    "PlanSummary": ("plan FILE", "apply FILE"),
    "StoreBackup": ("store backup FILE",),
    "StoreRestoration": ("store restore FILE",),
    "StoreCopy": ("store copy SOURCE TARGET",),
    "StoreMigration": ("store migrate",),
    "StoreFinding": ("store check",),
    "StorePruning": ("store prune",),
}
"""Commands whose `--json` prints a record."""

_TITLES = {
    pages: "Pages and checks",
    history: "What is stored of a page",
    signals: "What signals see",
    alerting: "Alerts, channels, storms and questions",
    routing: "Routes and silences",
    service: "The service",
    nodes: "Nodes",
    operations: "What commands did",
}
_HELPERS = {"Pages", "Nodes", "ItemChangesOfPage"}
"""Parts of lists with one more field, which the API alone gives."""


def records_of(module: ModuleType) -> list[type[fields.Record]]:
    """The records that a module declares, in its order."""
    found = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
    return [each for each in found if issubclass(each, fields.Record) and each.__name__ not in _HELPERS]


def described(record: type[msgspec.Struct]) -> dict[str, Any]:
    """A record's JSON Schema."""
    _, components = msgspec.json.schema_components([record])
    found: dict[str, Any] = components[record.__name__]
    return found


def paths() -> dict[str, list[str]]:
    """The paths of the API that answer with each record, by its name."""
    app = FastAPI()
    app.include_router(router)
    found: dict[str, list[str]] = {}
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if not isinstance(route, Operation):
            continue
        for record in route.records:
            name = getattr(next(iter(getattr(record, "__args__", ())), record), "__name__", "")
            path = f"{next(iter(route.methods or ()))} {context.path}"
            found.setdefault({"Pages": "Page", "Nodes": "Node"}.get(name, name), []).append(path)
    return found


def page() -> str:
    """The whole page of the documentation."""
    return HEAD + "".join(
        f"\n## {title}\n" + "".join(_section(record, paths()) for record in records_of(module))
        for module, title in _TITLES.items()
    )


def _section(record: type[fields.Record], answers: dict[str, list[str]]) -> str:
    schema = described(record)
    base = record.__mro__[1]
    inherited = set(getattr(base, "__struct_fields__", ())) if base is not fields.Record else set()
    own = {
        name: each
        for (name, each), attribute in zip(schema["properties"].items(), record.__struct_fields__, strict=True)
        if attribute not in inherited
    }
    lines = [f"\n### {record.__name__}\n", f"\n{schema['description']}"]
    lines += [f" All fields of [{base.__name__}](#{base.__name__.lower()}), and:"] if inherited else []
    where = [f"`tocsin {command}`" for command in COMMANDS.get(record.__name__, ())]
    where += [f"`{path}`" for path in answers.get(record.__name__, ())]
    lines += [f"\n\nIn {', '.join(where)}."] if where else []
    lines += ["\n\n| field | type | meaning |\n|---|---|---|\n"]
    lines += [f"| `{name}` | {_type(each)} | {_meaning(each)} |\n" for name, each in own.items()]
    return "".join(lines)


def _meaning(schema: dict[str, Any]) -> str:
    about = schema.get("description", "")
    examples = [f"`{each}`" for each in schema.get("examples", ()) if not isinstance(each, dict)]
    return "; ".join(filter(None, (about, f"such as {', '.join(examples)}" if examples else "")))


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return {"TextRun": "`kind`, `text`", "Scope": "string", "BoundedCount": "`number`, `is_exact`"}.get(
            name, f"[{name}](#{name.lower()})"
        )
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    return "id" if schema.get("pattern", "").startswith("^[1-9]") else str(schema.get("type", "any"))


if __name__ == "__main__":
    sys.stdout.write(page())
