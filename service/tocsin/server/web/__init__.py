"""The web pages, in one router."""

from fastapi import APIRouter

from tocsin.server.web import (
    activity,
    changes,
    channel_forms,
    digests,
    jobs,
    nodes,
    notifications,
    page,
    page_settings,
    pages,
    questions,
    reference,
    route_forms,
    rules,
    settings,
    tokens,
)

router = APIRouter(include_in_schema=False)
for _each in (
    pages,
    jobs,
    page,
    page_settings,
    changes,
    questions,
    activity,
    notifications,
    channel_forms,
    route_forms,
    digests,
    settings,
    tokens,
    nodes,
    reference,
    rules,
):
    router.include_router(_each.router)
