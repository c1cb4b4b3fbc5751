"""webchanges and urlwatch, set as their documents say for many plain pages: how they are called, and what they report.

Each job selects the meta elements; each program keeps its snapshots in its own database and writes what changed to its
standard output. Its options are those that made a page cheapest of all that its documents offer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_CHANGED = re.compile(r"^CHANGED: .*?(http://[^\s)]+)", re.MULTILINE)
_WRONG = re.compile(r"^(?:ERROR|NEW|Traceback)\b.*", re.MULTILINE)


class Watcher(NamedTuple):
    """One of the programs.

    name       of the program, and of its command
    job        of a page, as YAML; {url} is its URL
    configured its configuration, as YAML
    options    that it is called with; {folder} is where its files are
    """

    name: str
    job: str
    configured: str
    options: tuple[str, ...]

    def prepare(self, folder: Path, urls: Sequence[str]) -> None:
        """Write its files into an empty folder."""
        folder.mkdir()
        (folder / "jobs.yaml").write_text("---\n".join(self.job.format(url=url) for url in urls), encoding="utf-8")
        (folder / "config.yaml").write_text(self.configured, encoding="utf-8")
        (folder / "hooks.py").touch()

    @property
    def settings(self) -> str:
        """How it is called, and its files."""
        called = " ".join((self.name, *self.options))
        return f"{called}\njobs.yaml, for each page:\n{self.job}config.yaml:\n{self.configured}"

    def command(self, programs: Path, folder: Path) -> list[str]:
        """How it is called."""
        return [str(programs / self.name), *(option.format(folder=folder) for option in self.options)]


# requests with a given encoding is the cheapest of webchanges' clients: httpx, its own choice, makes a TLS context for
# each job, which is five times as dear. A name spares it looking for a title.
WATCHERS = (
    Watcher(
        "webchanges",
        "name: a page\nurl: {url}\nhttp_client: requests\nencoding: utf-8\nfilter:\n  - xpath: //meta\n",
        "version_check: {enabled: false}\nreport:\n  stdout: {enabled: true, color: false}\n"
        "  text: {minimal: true, details: false}\n",
        (
            *("--jobs", "{folder}/jobs.yaml", "--config", "{folder}/config.yaml", "--hooks", "{folder}/hooks.py"),
            *("--database", "{folder}/snapshots.db", "--max-workers", "4"),
        ),
    ),
    Watcher(
        "urlwatch",
        "name: a page\nurl: {url}\nfilter:\n  - xpath: //meta\n",
        "display: {new: false, error: true, unchanged: false, empty-diff: true}\nreport:\n"
        "  stdout: {enabled: true, color: false}\n  text: {minimal: true, details: false, footer: false}\n",
        (
            *("--urls", "{folder}/jobs.yaml", "--config", "{folder}/config.yaml", "--hooks", "{folder}/hooks.py"),
            *("--cache", "{folder}/cache.db"),
        ),
    ),
)


def reported(said: str) -> set[str]:
    """The URLs of the pages that it says have changed. Raises ValueError where it says that something went wrong."""
    if wrong := _WRONG.search(said):
        raise ValueError(f"it says: {wrong[0]}")
    return set(_CHANGED.findall(said))
