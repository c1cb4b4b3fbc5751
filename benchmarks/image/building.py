"""A base image from Debian's packages, and ours on it, without an engine that runs in the background."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.image.commands import call, tool
from benchmarks.image.machine import PipConfiguration, apt_options, debian_sources
from benchmarks.image.telling import Impossible, Unproved, hold

BASE = "localhost/tocsin-base"
IMAGE = "localhost/tocsin"
BROWSER_IMAGE = "localhost/tocsin-browser"
_KEPT_S = 86_400
_UNREAD = ("man", "doc", "locale", "info")


class Workshop:
    """Where images are built and kept: a storage of its own, which is cleared away at the end.

    folder  all of it lies there
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self._root = folder, root
        self.driver = "overlay"
        folder.mkdir(parents=True, exist_ok=True)

    def podman(self, *words: str) -> list[str]:
        """Begin a command line of podman."""
        return [tool("podman"), *self._storage(), "--runtime", "runc", "--cgroup-manager=cgroupfs", *words]

    def buildah(self, *words: str) -> list[str]:
        """Begin a command line of buildah."""
        return [tool("buildah"), *self._storage(), *words]

    def make_base(self) -> None:
        """Make the base image from the packages of this machine's own Debian; those of today are good enough."""
        release, sources = debian_sources()
        archive = self.folder / "base.tar"
        leave_out = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _UNREAD]
        options = [f"--aptopt={option}" for option in apt_options()]
        # Under its own name only once it is whole.
        begun = self.folder / "base.new.tar"
        variant = ["--mode=root", "--variant=minbase", "--include=python3,python3-venv"]
        command = [tool("mmdebstrap"), *variant, *leave_out, *options, release, str(begun), *sources]
        if not _is_fresh(archive):
            begun.unlink(missing_ok=True)
            try:
                call(command, limit_s=420, log=self.folder / "base.log")
            except Unproved as exc:
                raise Impossible(f"no base image can be made of Debian's packages here: {exc}") from exc
            begun.replace(archive)
        try:
            call(self.podman("import", "--quiet", str(archive), BASE))
        except Unproved:
            # A file system that nothing can be laid over: layers are copied there.
            self.driver = "vfs"
            call(self.podman("import", "--quiet", str(archive), BASE))

    def try_base(self, options: Sequence[str]) -> None:
        """See that this machine runs containers at all; raises Impossible where it does not, as in some containers."""
        try:
            call(self.podman("run", "--rm", *options, BASE, "true"))
        except Unproved as exc:
            raise Impossible(f"this machine runs no containers: {exc}") from exc

    def build(self, base: str, image: str = IMAGE, file: str = "Dockerfile") -> None:
        """Build an image of ours on this base; pip is told what it is told here, for one step of it."""
        pip = PipConfiguration()
        secret = self.folder / "pip.conf"
        pip.write(secret)
        given = ["--secret", f"id=pip,src={secret}"]
        if pip.certificates is not None:
            given += ["--secret", f"id=certificates,src={pip.certificates}"]
        for path in pip.folders:
            given += ["--volume", f"{path}:{path}:ro"]
        command = self.buildah("bud", "--format", "docker", "--isolation", "chroot", "--no-cache")
        try:
            call(
                [
                    *command,
                    "--file",
                    self._root / file,
                    "--build-arg",
                    f"BASE={base}",
                    *given,
                    "--tag",
                    image,
                    self._root,
                ],
                limit_s=600,
                log=self.folder / f"build-{file}.log",
            )
        finally:
            secret.unlink()
        told = call(self.podman("history", "--no-trunc", "--format", "{{.CreatedBy}}", image))
        told += call(self.podman("inspect", image))
        for word in pip.words:
            hold(word not in told, "the image tells where its packages came from")

    def size_mb(self, image: str) -> float:
        """How large an image is, unpacked."""
        return int(call(self.podman("inspect", "--format", "{{.Size}}", image))) / 1_000_000

    def clear(self) -> None:
        """Take away every container and image of ours."""
        call(self.podman("rm", "--all", "--force", "--volumes", "--time", "0"), statuses=(0, 1, 125))
        call(self.podman("rmi", "--all", "--force"), statuses=(0, 1, 125))
        for name in ("storage", "run"):
            shutil.rmtree(self._place(name), ignore_errors=True)

    def _place(self, name: str) -> Path:
        return self.folder / f"{name}-{self.driver}"

    def _storage(self) -> list[str]:
        places = ["--root", str(self._place("storage")), "--runroot", str(self._place("run"))]
        return ["--storage-driver", self.driver, *places]


def _is_fresh(archive: Path) -> bool:
    return archive.is_file() and time.time() - archive.stat().st_mtime < _KEPT_S
