"""Static files: read once, named by their digest, cached by browsers for a year."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response

router = APIRouter(include_in_schema=False)

_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """A file."""

    body: bytes
    media_type: str
    digest: str


def _read() -> dict[str, Asset]:
    folder = Path(__file__).parent / "static"
    return {
        path.name: Asset(body, _TYPES[path.suffix], blake2b(body, digest_size=8).hexdigest())
        for path in sorted(folder.iterdir())
        if path.suffix in _TYPES
        for body in (path.read_bytes(),)
    }


ASSETS: Final[Mapping[str, Asset]] = _read()  # By name. Only these are served: a request never reads the disk.


def asset_path(name: str) -> str:
    """Return the path of a file, which changes with its content."""
    return f"/static/{ASSETS[name].digest}/{name}"


@router.get("/static/{digest}/{name}")
async def serve(digest: str, name: str, request: Request) -> Response:
    """Serve a file; under an old digest, the current one, not cached."""
    asset = ASSETS.get(name)
    if asset is None:
        raise HTTPException(404, "there is no such file")
    keep = "public, max-age=31536000, immutable" if digest == asset.digest else "no-cache"
    headers = {"cache-control": keep, "etag": f'"{asset.digest}"'}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)
