"""Certificates of misbehaving servers, and the authority that the tests trust; their one key is known to the world.

good        vouched for by `authority.pem`, for 127.0.0.1
expired     since 2021
early       not valid before 2100
elsewhere   for another name
stranger    vouched for by an authority that nobody trusts
selfsigned  vouched for by nobody
"""

from __future__ import annotations

import ssl
from pathlib import Path

FOLDER = Path(__file__).parent / "pem"


def server_tls(name: str = "good") -> ssl.SSLContext:
    """The context of a server that shows this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / f"{name}.pem")
    return context


def client_tls() -> ssl.SSLContext:
    """The context of a client that trusts the tests' authority and no other."""
    return ssl.create_default_context(cafile=str(FOLDER / "authority.pem"))
