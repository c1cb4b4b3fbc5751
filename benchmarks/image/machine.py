"""What this machine's own configuration says of where packages come from: apt's and pip's. It names no host."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.image.commands import call, tool
from benchmarks.image.telling import Impossible

_HANDED_ON = re.compile(r"^(Acquire::(?:http|https|Retries)[^ ]*) \"(.+)\";$")
_PIP = re.compile(r"^(global|install|:env:)\.([a-z-]+)=(.*)$")
_WEAKEST_FIRST = ("global", "install", ":env:")
_PIP_KEYS = frozenset({"index-url", "extra-index-url", "find-links", "trusted-host", "proxy", "timeout", "retries"})
_PLACES = re.compile(r"(?:file://)?(/[^\s'\"]+)")


def debian_sources() -> tuple[str, list[str]]:
    """Give the release, and a line of sources for each of its archives, as this machine's apt has them.

    Raises Impossible where apt knows no archive of Debian.
    """
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    found = call([tool("apt-get"), "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian"])
    archives: dict[tuple[str, str], list[str]] = {}
    for line in found.splitlines():
        uri, release, component = line.split()
        parts = archives.setdefault((uri, release), [])
        if component not in parts:
            parts.append(component)
    if not archives:
        raise Impossible("apt knows no archive of Debian here: its lists are empty (apt-get update), or of others")
    # The release itself comes first in every list of sources; its updates are called after it.
    release = min((name for _, name in archives), key=len)
    return release, [f"deb {uri} {name} {' '.join(parts)}" for (uri, name), parts in archives.items()]


def apt_options() -> list[str]:
    """Give what apt is told of proxies, certificates and patience."""
    dumped = call([tool("apt-config"), "dump", "Acquire"])
    return [f'{match[1]} "{match[2]}";' for match in map(_HANDED_ON.match, dumped.splitlines()) if match]


class PipConfiguration:
    """What pip is told here: of files, and of the environment, which goes before.

    certificates  a file with those that are trusted; None: pip's own
    folders       those that an index is in, on this machine
    """

    def __init__(self) -> None:
        listed = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
        ).stdout
        values: dict[str, str] = {}
        found = [match for match in map(_PIP.match, listed.splitlines()) if match]
        for match in sorted(found, key=lambda match: _WEAKEST_FIRST.index(match[1])):
            values[match[2]] = str(ast.literal_eval(match[3]))
        cert = values.get("cert") or os.environ.get("SSL_CERT_FILE", "")
        self.certificates = Path(cert) if cert and Path(cert).is_file() else None
        self._values = {key: value for key, value in values.items() if key in _PIP_KEYS}
        # What an index links to lies beside its folder.
        beside = _folders(value for key, value in self._values.items() if "index" in key)
        self.folders = sorted({*_folders(self._values.values()), *map(_parent, beside)})

    def write(self, path: Path) -> None:
        """Write it as a file that pip reads; it may hold credentials, so that nobody else can read it."""
        lines = [f"{key} = {' '.join(value.split())}" for key, value in self._values.items()]
        path.touch(mode=0o600)
        path.write_text("\n".join(["[global]", *lines, ""]), "utf-8")

    @property
    def words(self) -> list[str]:
        """What must not be found in an image: where packages came from."""
        return [
            word for key, value in self._values.items() if "index" in key or "links" in key for word in value.split()
        ]


def _parent(folder: str) -> str:
    parent = Path(folder).parent
    return folder if parent == Path("/") else str(parent)


def _folders(values: Iterable[str]) -> Iterable[str]:
    for value in values:
        for word in value.split():
            match = _PLACES.fullmatch(word)
            if match is not None and Path(match[1]).is_dir():
                yield match[1]
