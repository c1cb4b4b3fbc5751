"""What goes on and on: server-sent events, and the feed."""

from __future__ import annotations

from fastapi import APIRouter

routers: tuple[APIRouter, ...] = ()
