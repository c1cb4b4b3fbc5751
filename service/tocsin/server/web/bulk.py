"""Bulk actions: run at once where they can be undone, else after a confirmation with the number of pages."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.errors import UsageError
from tocsin.server import actions
from tocsin.server.access.rights import Writing
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts
from tocsin.server.web.formatting import count
from tocsin.server.web.jobs import await_job
from tocsin.server.web.listing import PageListFilter
from tocsin.server.web.notices import Undo
from tocsin.server.web.pages import Chosen, list_page
from tocsin.server.web.rendering import page

router = APIRouter(include_in_schema=False)

Verb: TypeAlias = Literal["check", "pause", "resume", "move", "every", "remove"]
_MOST_CHOSEN: Final = 1000
_ID: Final = re.compile(r"[0-9]{1,18}")
_OTHER: Final[dict[str, Verb]] = {"pause": "resume", "resume": "pause"}


class Asking(Struct, frozen=True):
    """The confirmation of an action: title and button, question, and consequences."""

    verb: str
    question: str
    detail: str = ""


_ASKING: Final[dict[str, Asking]] = {
    "check": Asking("Check", "Check {} now?", "Each host is requested no faster than usual."),
    "pause": Asking("Pause", "Pause {}?", "Paused pages are not checked until they are resumed."),
    "resume": Asking("Resume", "Resume {}?", "Checks continue; overdue ones are spread out."),
    "move": Asking("Move", "Move {} to the group {}?", "The group's settings apply from then on."),
    "every": Asking("Set the interval", "Check {} every {}?", "It replaces their own interval or cron."),
    "remove": Asking("Delete", "Delete {}, with history and texts?", "This cannot be undone."),
}


class BulkForm(Struct, frozen=True):
    """The form of a bulk action: the action, and its pages."""

    verb: Verb
    ids: tuple[int, ...]
    is_all: bool
    asked: PageListFilter
    value: str = ""

    @property
    def deed(self) -> actions.Deed:
        """Return the action. Raises UsageError for an invalid value."""
        match self.verb:
            case "move":
                return actions.read_deed("edit", group=self.value)
            case "every":
                return actions.read_deed("edit", settings={"every": self.value})
            case _:
                return actions.read_deed(self.verb)

    @property
    def meant(self) -> actions.Meant:
        """The pages."""
        return actions.Meant(query=self.asked.query) if self.is_all else actions.Meant(ids=self.ids)


@router.post("/pages/bulk")
async def bulk(
    request: Request,
    caller: Writing,
    parts: Given,
    jobs: Work,
    asked: Annotated[PageListFilter, Form()],
) -> Response:
    """Run the action, or ask for confirmation."""
    form = await request.form()
    said = {name: str(form.get(name, "")) for name in ("verb", "scope", "to_group", "every", "confirmed")}
    ids = [int(str(each)) for each in form.getlist("page") if _ID.fullmatch(str(each))]
    verb = said["verb"]
    if verb not in _ASKING:
        return await list_page(request, parts, asked, wrong=["choose an action"])
    value = {"move": said["to_group"], "every": said["every"]}.get(verb, "").strip()
    wanted = BulkForm(verb, tuple(dict.fromkeys(ids))[:_MOST_CHOSEN], said["scope"] == "all", asked, value)  # type: ignore[arg-type] # judged above
    try:
        wrong = "" if wanted.is_all or wanted.ids else "select pages first, or all that match"
        wanted.deed  # noqa: B018 - judged before anything is asked
        number = await parts.store.tally_pages(asked.query) if wanted.is_all else len(wanted.ids)
    except UsageError as exc:
        wrong = str(exc)
    if wrong:
        chosen = Chosen(frozenset(wanted.ids), wanted.is_all, said["to_group"], said["every"])
        return await list_page(request, parts, asked, wrong=[wrong.removeprefix("settings: ")], chosen=chosen)
    if said["confirmed"] != "yes" and (wanted.is_all or verb in ("remove", "move", "every")):
        return await _ask(request, wanted, count(number, "page"))
    undo = await _undo(parts, wanted)
    job = await actions.start_deed(parts, actions.Act(jobs, caller), wanted.meant, wanted.deed)
    back = asked.path() if verb != "remove" else PageListFilter(group=asked.group).path()
    return await await_job(request, job, back, undo=undo)


async def _ask(request: Request, wanted: BulkForm, pages: str) -> Response:
    asking = _ASKING[wanted.verb]
    values: dict[str, object] = {**wanted.asked.values, "verb": wanted.verb, "scope": "all" if wanted.is_all else ""}
    values["to_group" if wanted.verb == "move" else "every"] = wanted.value
    if not wanted.is_all:
        values["page"] = [str(each) for each in wanted.ids]
    return await page(
        request,
        "confirm.html",
        title=f"{asking.verb} {pages}",
        question=asking.question.format(pages, wanted.value),
        detail=asking.detail,
        path="/pages/bulk",
        values=values,
        verb=f"{asking.verb} {pages}",
        back=wanted.asked.path(),
        danger=wanted.verb == "remove",
    )


async def _undo(parts: Parts, wanted: BulkForm) -> Undo | None:
    """Make the undo for individually selected pages: exactly those that will change."""
    other = _OTHER.get(wanted.verb)
    if other is None or wanted.is_all:
        return None
    rows = await parts.store.pages_by_id(wanted.ids)
    changing = [str(row.id) for row in rows if row.paused == (wanted.verb == "resume")]
    if not changing:
        return None
    values = {**wanted.asked.values, "verb": other, "scope": "", "page": changing}
    return Undo("/pages/bulk", f"Undo: {other} {count(len(changing), 'page')}", values)
