"""All web pages, in one router."""

from __future__ import annotations

from fastapi import APIRouter

from tocsin.server.pages import look, static_files

router = APIRouter(include_in_schema=False)
for _each in (static_files, look):
    router.include_router(_each.router)
