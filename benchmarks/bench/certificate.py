"""A certificate for the site of the benchmarks, made when it starts: self-signed, with a P-256 key."""

from __future__ import annotations

import hashlib
import shutil
import ssl
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HOW_TO_GET = "Debian, Ubuntu: apt install openssl"


def find() -> str | None:
    """Where openssl is."""
    return shutil.which("openssl")


class NoOpenssl(OSError):
    """There is nothing to make a certificate with."""


def make_certificate(folder: Path, hosts: int = 1) -> str:
    """Write site.pem and site.key for 127.0.0.1 and on into a folder; returns the fingerprint (sha256, hexadecimal)."""
    program = find()
    if program is None:
        raise NoOpenssl(f"openssl is not there, and makes the site's certificate; {HOW_TO_GET}")
    certificate = folder / "site.pem"
    names = ",".join(f"IP:127.0.0.{host + 1}" for host in range(hosts))
    subprocess.run(  # noqa: S603 - found above, and all arguments are ours
        [
            program,
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
            *("-subj", "/CN=site of the benchmarks", "-addext", f"subjectAltName={names}"),
            *("-keyout", str(folder / "site.key"), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text(encoding="ascii"))).hexdigest()
