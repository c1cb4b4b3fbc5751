"""The HTTP API under /api/v1."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1")
