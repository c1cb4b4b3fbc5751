"""The HTTP API: one file a resource, all below /api/v1."""

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1")
