"""What there is on a server under test, so that made-up requests can be about that."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import httpx
from schemathesis import Case

from tocsin.server.kept_items import KEPT_FORMATS

ALWAYS = ("alert_id",)
LISTS = {
    "verdict_id": "/pages/13/verdicts",
    "text_id": "/pages/13/texts",
    "digest": "/pages/13/pictures",
    "page_id": "/pages?limit=60",
    "question_id": "/questions?limit=60",
    "answer_id": "/standing-answers",
    "alert_id": "/alerts?limit=60",
    "storm_id": "/storms",
    "digest_id": "/digests?limit=60",
    "job_id": "/jobs",
}
PARTS = (
    "/pages?limit=2",
    "/pages/13/states?limit=1",
    "/pages/13/verdicts?limit=1",
    "/pages/13/renderings?limit=1",
    "/pages/13/items/changes?limit=1",
    "/questions?limit=2",
    "/alerts?limit=2",
    "/storms?limit=1",
    "/storms/1/pages?limit=1",
    "/audit?limit=1",
)
RESTLESS = ("13", "14", "15", "16")
"""Pages that have states to compare, verdicts, renderings and texts."""

READERS = 60
"""Tokens that may be revoked; see `lived`."""

_URL = "https://made-up.example/"


class Known:
    """Values that exist, by the name of the parameter that takes them."""

    def __init__(self, asked: httpx.Client, label: str) -> None:
        self._asked = asked
        self._values: dict[str, list[str]] = defaultdict(list)
        self._cursors: dict[str, str] = {}
        self._values["form"] = list(KEPT_FORMATS)
        self._values["host"] = ["calm.example", "restless.example"]
        self._readers = [f"reader-{number}" for number in range(READERS)]
        asked.post("/api/v1/pages/bulk", json={"pages": {"ids": ["1"]}, "action": "resume"}).raise_for_status()
        for name, path in LISTS.items():
            if f"{{{name}}}" in label or name in ALWAYS:
                self._values[name] = [item["digest" if name == "digest" else "id"] for item in self._items(path)]
        self._values["check_id"] = ["1"]
        for path in PARTS:
            shape = path.partition("?")[0]
            if label.endswith(shape.replace("13", "{page_id}").replace("1/", "{storm_id}/")):
                self._cursors[shape] = asked.get(f"/api/v1{path}").json()["next"]

    def _items(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._asked.get(f"/api/v1{path}").json()["items"]
        return found

    def fill(self, case: Case[Any], chance: random.Random) -> None:
        """Let a request be about something that there is."""
        is_used_up = case.method == "DELETE" or case.path.endswith(("/answer", "/give-up"))
        for name in case.path_parameters:
            kind = case.path.removeprefix("/api/v1/").partition("/")[0]
            if kind in _MADE and (case.method in {"PUT", "DELETE"} or kind == "routes"):
                case.path_parameters[name] = self._made(kind, chance)
            else:
                case.path_parameters[name] = self._in_path(case.path, name, chance, is_used_up=is_used_up)
        self._fill_query(case, chance)
        case.headers.pop("Idempotency-Key", None)
        if case.method == "PUT" and case.path != "/api/v1/table":
            case.headers["If-Match"] = "*"
        if case.method == "PATCH":
            at = case.path.format(**case.path_parameters).replace("lost & found/1", "lost%20%26%20found%2F1")
            case.headers["If-Match"] = self._asked.get(at).headers["etag"] if chance.random() < 0.7 else "*"
        elif case.method == "DELETE":
            case.headers.pop("If-Match", None)
        body = _BODIES.get((case.method, case.path.removeprefix("/api/v1")))
        if body is not None:
            case.body = body(self, chance)
            if isinstance(case.body, str):
                case.media_type = "text/plain"

    def _in_path(self, path: str, name: str, chance: random.Random, *, is_used_up: bool) -> str:
        if name == "name":
            kind = path.removeprefix("/api/v1/").partition("/")[0]
            if kind == "groups" and is_used_up:
                return self._emptied(f"emptied {chance.getrandbits(48)}")
            return self._readers.pop() if kind == "tokens" else chance.choice(NAMES[kind])
        values = self._values[name]
        if name == "page_id":
            deep = any(
                part in path
                for part in ("states", "verdicts", "renderings", "texts", "pictures", "difference", "extract")
            )
            values = list(RESTLESS) if deep else values
            values = ["13"] if "text_id" in path else values
        # What is used up by one request is no more there for the next one.
        return values.pop() if is_used_up and len(values) > 1 else chance.choice(values)

    def _made(self, kind: str, chance: random.Random) -> str:
        """Make a channel, a route or a silence, to be edited."""
        name = f"to-edit-{chance.getrandbits(48)}"
        body = {"silences": {"match": {"host": "calm.example"}}}.get(kind, {"name": name, **_MADE[kind]})
        made = self._asked.post(f"/api/v1/{kind}", json=body).raise_for_status().json()
        return str(made.get("id", name))

    def _emptied(self, group: str) -> str:
        """Make a group whose only page was deleted."""
        page = {"url": f"{_URL}{group.replace(' ', '-')}", "group": group}
        added = self._asked.post("/api/v1/pages", json=page).raise_for_status().json()
        self._asked.delete(f"/api/v1/pages/{added['id']}").raise_for_status()
        return group

    def _fill_query(self, case: Case[Any], chance: random.Random) -> None:
        query = case.query
        shape = case.path.removeprefix("/api/v1")
        if case.method == "GET":
            query.clear()
            query["limit"] = chance.randint(1, 20)
            cursor = self._cursors.get(case.path.removeprefix("/api/v1").format(**case.path_parameters))
            if cursor is not None and chance.random() < 0.3:
                query["cursor"] = cursor
            kind = _QUERIES.get(shape)
            if kind is None and shape not in _PARTED:
                query.clear()
            elif kind is not None and "cursor" not in query:
                query.update(chance.choice(kind))
            if shape in _WITHOUT_LIMIT:
                query.pop("limit", None)


_MADE: dict[str, dict[str, Any]] = {"channels": {"type": "stdout"}, "routes": {"channels": ["log"]}, "silences": {}}
_PARTED = {
    "/pages",
    "/jobs",
    "/alerts",
    "/questions",
    "/storms",
    "/storms/{storm_id}/pages",
    "/audit",
    "/pages/{page_id}/states",
    "/pages/{page_id}/verdicts",
    "/pages/{page_id}/renderings",
}
_QUERIES: dict[str, tuple[dict[str, Any], ...]] = {
    "/pages": (
        {},
        {"view": "changed"},
        {"view": "problems", "total": "true"},
        {"view": "asked"},
        {"group": "news"},
        {"view": "all", "group": "lost & found/1"},
        {"host": "calm.example"},
        {"q": "rest"},
        {"q": "tender watched"},
    ),
    "/alerts": (
        {},
        {"unseen": "true", "outcome": "major"},
        {"kind": "changed"},
        {"group": "main"},
        {"page": "13"},
        {"dead": "true"},
    ),
    "/questions": ({}, {"closed": "true"}),
    "/pages/{page_id}/difference": ({}, {"by": "lines"}, {"from": "3", "to": "1"}),
    "/pages/{page_id}/extract/{form}": ({}, {}, {"profile": "text"}, {"item": "all"}),
    "/checks/{check_id}/reports": ({}, {"after": "0"}),
    "/activity": ({}, {"hours": "48"}),
}
_WITHOUT_LIMIT = {
    "/pages/{page_id}/difference",
    "/pages/{page_id}/extract/{form}",
    "/checks/{check_id}/reports",
    "/activity",
}

NAMES = {
    "groups": ("main", "news", "lost & found/1"),
    "channels": ("log", "ops"),
    "routes": ("press", "all"),
    "nodes": ("one",),
}


def _settings(chance: random.Random) -> dict[str, Any]:
    return chance.choice(
        (
            {"every": "6h"},
            {"cron": "0 6 * * *"},
            {"mode": "auto", "tell": "major"},
            {"signal_rules": ["json-ld.version: major"], "report": ["unchanged"]},
            {"adaptive": True, "every_min": "2h", "every_max": "3d"},
            {"headers": {"Accept-Language": 'de;q="0.5"'}, "tries": 0},
        )
    )


def _edit(_: Known, chance: random.Random) -> Any:
    return {"settings": _settings(chance), "unset": chance.choice(([], ["proxy"]))}


def _page(_: Known, chance: random.Random) -> Any:
    one = {"url": f"{_URL}{chance.getrandbits(48)}", "group": "made up", "settings": _settings(chance)}
    return chance.choice((one, [one, {"url": "https://calm.example/1"}]))


def _bulk(_: Known, chance: random.Random) -> Any:
    pages = chance.choice(({"ids": ["1", "2"]}, {"group": "news"}, {"view": "problems"}, {"q": "calm"}))
    deed = chance.choice(
        (
            {"action": "pause"},
            {"action": "resume"},
            {"action": "check"},
            {"action": "move", "group": "elsewhere"},
            {"action": "set", "settings": _settings(chance)},
        )
    )
    return {"pages": pages, **deed}


_BODIES: dict[tuple[str, str], Callable[[Known, random.Random], Any]] = {
    ("POST", "/pages/look"): lambda _, chance: {"url": f"{_URL}{chance.getrandbits(24)}"},
    ("POST", "/pages"): _page,
    ("PATCH", "/pages/{page_id}"): lambda known, chance: {**_edit(known, chance), "text": "words", "paused": False},
    ("POST", "/pages/bulk"): _bulk,
    ("POST", "/pages/empty"): lambda _known, _chance: {"confirm": "remove all pages"},
    ("POST", "/checks"): lambda _known, _chance: {"ids": ["1", "2"]},
    ("POST", "/imports"): lambda _known, chance: f"{_URL}{chance.getrandbits(48)}\nno url\n",
    ("PUT", "/table"): lambda known, _chance: known._asked.get("/api/v1/table").text.partition("\n")[0] + "\n",
    ("PATCH", "/groups/{name}"): _edit,
    ("PATCH", "/settings/pages"): _edit,
    ("POST", "/questions/{question_id}/answer"): lambda _known, chance: chance.choice(
        (
            {"kind": "again", "times": 2, "at": "6h"},
            {"kind": "never", "scope": "host-cause"},
            {"kind": "drop"},
            {"kind": "copy", "copy_url": "https://copies.example/2025"},
        )
    ),
    ("POST", "/alerts/{alert_id}/redeliver"): lambda _known, chance: {"channel": chance.choice(("ops", None))},
    ("POST", "/alerts/redeliver-dead"): lambda _known, chance: {"channel": chance.choice(("ops", None))},
    ("POST", "/alerts/seen"): lambda known, _chance: {"ids": known._values["alert_id"][:3]},
    ("POST", "/alerts/all-seen"): lambda _known, chance: chance.choice(
        ({"up_to": 5}, {"up_to": 9, "outcome": "minor"})
    ),
    ("POST", "/pages/{page_id}/noise"): lambda _known, chance: {"keys": [str(chance.getrandbits(40))], "heard": True},
    ("POST", "/hosts/{host}/noise"): lambda _known, chance: {"keys": [str(chance.getrandbits(40))], "heard": False},
    ("POST", "/channels"): lambda _known, chance: {"name": f"made-up-{chance.getrandbits(48)}", "type": "stdout"},
    ("POST", "/channels/test"): lambda _known, _chance: {"name": "ops", "type": "stdout"},
    ("POST", "/channels/{name}/mute"): lambda _known, chance: chance.choice(({}, {"until": "2h"})),
    ("POST", "/channels/preview"): lambda _known, _chance: {},
    ("POST", "/routes"): lambda _known, chance: {"name": f"made-up-{chance.getrandbits(48)}", "channels": ["log"]},
    ("POST", "/routes/preview"): lambda _known, _chance: {"route": {"name": "x", "channels": ["log"]}, "last": 9},
    ("POST", "/silences"): lambda _known, _chance: {"match": {"host": "calm.example"}, "until": "2h"},
    ("PUT", "/channels/{name}"): lambda _known, chance: {"type": "stdout", "timeout": chance.choice(("5s", "9s"))},
    ("PUT", "/routes/{name}"): lambda _known, chance: {"channels": ["log"], "digest": chance.choice(("", "1h"))},
    ("POST", "/tokens"): lambda _known, chance: {"name": f"made-up-{chance.getrandbits(48)}", "expires": "90d"},
}
