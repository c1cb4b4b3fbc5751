"""Files that the wheel carries beside the code: migrations and the default configuration."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Find a folder that is shipped, in an installed wheel or in a checkout.

    name    "migrations" or "config"
    Raises FileNotFoundError if the installation is incomplete.
    """
    checkout = _HERE.parents[1]
    # An installed wheel first: beside it, any folder may be called "config".
    for folder in (_HERE / "_shipped" / name, checkout / name):
        if folder.is_dir() and (folder.parent.name == "_shipped" or (checkout / "pyproject.toml").is_file()):
            return folder
    raise FileNotFoundError(f"{name}: not part of this installation of Tocsin; install it again")
