"""The settings in force for each page: page, then group, then all pages, then the process (T54)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from tocsin.configuration import resolve_readable
from tocsin.configuration.pages import told
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.configuration.pages import Resolved
    from tocsin.model import JsonObject, PageSchedule, PageTask
    from tocsin.ports import WorkStore
    from tocsin.settings import PageSettings


def asked_as(policy: PageSettings, secrets: tuple[str, str] | None) -> str:
    """Name what shapes a page's requests beside its URL, and how its answers are read; "" for what is usual.

    That is headers, credentials, cookies and proxy; which signals are read, and where its content stands.
    secrets  the page's user name and password
    """
    is_read_otherwise = policy.signals != "auto" or policy.look_at or policy.ignore
    if not (policy.headers or policy.auth or policy.cookies or policy.proxy or secrets):
        return _as_read(policy.signals, policy.look_at, policy.ignore) if is_read_otherwise else ""
    shape = [sorted(policy.headers.items()), policy.auth, sorted(policy.cookies.items()), policy.proxy, secrets]
    if is_read_otherwise:
        # Only then: what was read as usual is not to be asked for anew.
        shape += [policy.signals, policy.look_at, policy.ignore]
    return _name_of(shape)


@lru_cache(maxsize=1024)
def _as_read(signals: str, look_at: str, ignore: str) -> str:
    """Name requests that are as usual, of answers that are not read so: whole groups of pages have the same."""
    return _name_of([[], "", [], "", None, signals, look_at, ignore])


def _name_of(shape: Sequence[object]) -> str:
    return f".{blake2b(repr(shape).encode(errors='surrogatepass'), digest_size=4).hexdigest()}"


class Policies:
    """Resolves page settings; most pages have none of their own, so each group is resolved once."""

    def __init__(self, base: PageSettings) -> None:
        self._base = base
        self._for_all: JsonObject = {}
        self._groups: dict[int, tuple[str, JsonObject]] = {}
        self._of_group: dict[int, Resolved] = {}

    async def load(self, store: WorkStore) -> None:
        """Read what is set at run time; again whenever somebody changed it."""
        self.adopt(*await store.overrides())

    def adopt(self, for_all: JsonObject, groups: dict[int, tuple[str, JsonObject]]) -> None:
        """Take over what is set at run time: for all pages, and for each group."""
        self._for_all, self._groups = for_all, groups
        self._of_group.clear()

    @property
    def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """What is set at run time: for all pages, and for each group."""
        return self._for_all, self._groups

    def configure(self, base: PageSettings) -> None:
        """Go on with another configuration."""
        self._base = base
        self._of_group.clear()

    @property
    def base(self) -> PageSettings:
        """The configuration's settings."""
        return self._base

    @property
    def mode(self) -> str:
        """The configuration's mode, in force where nothing else is set at run time."""
        return self._base.mode

    def of(self, task: PageTask) -> PageSettings:
        """The settings in force for this page.

        Raises SettingsError, which names the mend, where the store holds what cannot be used: the page must not be
        asked for, lest that be without the proxy, or as often, as its user never wanted.
        """
        resolved = self._resolved(task)
        if resolved.refused:
            raise SettingsError(told(resolved.refused, url=task.url, group=task.group))
        return resolved.settings

    def readable(self, task: PageTask | PageSchedule) -> PageSettings:
        """The settings of this page for whatever needs no request: what cannot be used is as at the next level."""
        return self._resolved(task).settings

    def _resolved(self, task: PageTask | PageSchedule) -> Resolved:
        group = self._groups.get(task.group_id, ("", {}))[1]
        if task.settings:
            return resolve_readable(self._base, self._for_all, group, task.settings)
        resolved = self._of_group.get(task.group_id)
        if resolved is None:
            resolved = self._of_group[task.group_id] = resolve_readable(self._base, self._for_all, group, {})
        return resolved
