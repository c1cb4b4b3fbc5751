"""What requests say that they come from."""

from __future__ import annotations

from tocsin import __version__


def user_agent(contact: str) -> str:
    """What requests say that they come from."""
    return f"Tocsin/{__version__} (+{contact})" if contact else f"Tocsin/{__version__}"
