"""The HTTP API: one file a resource, all below /api/v1."""

from fastapi import APIRouter

from tocsin.server.api import (
    alerts,
    bulk,
    extraction,
    groups,
    imports,
    noise,
    pages,
    questions,
    records,
    service,
    texts,
    tokens,
)

router = APIRouter(prefix="/api/v1")
for one in (
    bulk.router,
    pages.router,
    bulk.checks,
    texts.page_routes,
    extraction.router,
    imports.router,
    bulk.job_routes,
    groups.router,
    records.router,
    texts.router,
    noise.router,
    questions.router,
    alerts.router,
    alerts.storms,
    alerts.channels,
    imports.table_routes,
    groups.service_routes,
    service.router,
    tokens.router,
):
    router.include_router(one)
