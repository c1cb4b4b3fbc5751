"""How the demo site's pages are known wherever they come by."""

from __future__ import annotations

from typing import Final

DEMO_HOST: Final = "demo.tocsin.invalid"
"""A name that nobody can own (RFC 6761, 6.4): only the service's own fetchers know what it leads to."""

DEMO_GROUP: Final = "demo"
