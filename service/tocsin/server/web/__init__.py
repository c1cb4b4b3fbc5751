"""The web pages, in one router."""

from fastapi import APIRouter

from tocsin.server.web import (
    activity,
    changes,
    jobs,
    notifications,
    page,
    pages,
    questions,
    reference,
    rendering,
    settings,
    tokens,
)

router = APIRouter(include_in_schema=False)
for _each in (
    rendering,
    pages,
    jobs,
    page,
    page,
    changes,
    questions,
    activity,
    notifications,
    settings,
    tokens,
    reference,
):
    router.include_router(_each.router)
