"""The web pages, in one router."""

from fastapi import APIRouter

from tocsin.server.web import (
    activity,
    changes,
    jobs,
    page,
    page_settings,
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
    pages,
    jobs,
    page,
    page_settings,
    changes,
    questions,
    activity,
    settings,
    tokens,
    reference,
):
    router.include_router(_each.router)
