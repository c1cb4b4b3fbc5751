"""The HTTP API: one file a resource, all below /api/v1."""

from fastapi import APIRouter

from tocsin.server.api import (
    alerts,
    channels,
    digests,
    extraction,
    history,
    jobs,
    nodes,
    pages,
    questions,
    routing,
    service,
    settings,
    trials,
)

router = APIRouter(prefix="/api/v1")
# Of two paths that match, the first one included is taken: /pages/bulk comes before /pages/{page_id}.
for one in (
    pages.bulk_routes,
    trials.look_routes,
    pages.router,
    trials.router,
    jobs.check_routes,
    extraction.router,
    jobs.import_routes,
    jobs.router,
    settings.router,
    history.router,
    questions.router,
    alerts.router,
    alerts.storms,
    channels.router,
    routing.routes,
    routing.silences,
    digests.router,
    jobs.table_routes,
    settings.service_routes,
    service.router,
    nodes.router,
    service.access_routes,
):
    router.include_router(one)
