"""All web pages, in one router."""

from __future__ import annotations

from fastapi import APIRouter

from tocsin.server.web import (
    activity,
    add,
    bulk,
    changes,
    demo,
    jobs,
    look,
    page,
    page_settings,
    page_text,
    pages,
    questions,
    reference,
    settings,
    static_files,
    tokens,
)

router = APIRouter(include_in_schema=False)
for _each in (
    static_files,
    look,
    pages,
    add,
    bulk,
    demo,
    jobs,
    page,
    page_text,
    page_settings,
    changes,
    questions,
    activity,
    settings,
    tokens,
    reference,
):
    router.include_router(_each.router)
