"""Streams: server-sent events, and the Atom feed."""

from __future__ import annotations

from tocsin.server.streams import events, feed

routers = (events.router, feed.router)
