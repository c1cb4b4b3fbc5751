"""The settings in force for each page: page, then group, then all pages, then the process (T54)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from tocsin.configuration import resolve_readable
from tocsin.configuration.pages import describe_refused
from tocsin.errors import SettingsError
from tocsin.spec.signals import RULED
from tocsin.spec.signals.weigh import PICTURE, heeds, parse_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.configuration.pages import Resolved
    from tocsin.model import JsonObject, PageSchedule, PageTask
    from tocsin.ports import WorkStore
    from tocsin.settings import PageSettings


def compares_pictures(policy: PageSettings) -> bool:
    """Tell whether a rule of the user is about how a page looks, which only a browser sees."""
    if not policy.signal_rules or policy.signals == "none" or policy.mode != "on":
        return False
    return heeds(PICTURE, parse_rules(policy.signal_rules, RULED))


def asked_as(policy: PageSettings, secrets: tuple[str, str] | None, *, in_browser: bool = False) -> str:
    """Name the settings that shape a page's requests and the reading of its answers; "" for the defaults.

    These are headers, credentials, cookies and proxy, the signals and selectors of its content, and what a browser
    does with it.
    secrets     user name and password of the page
    in_browser  it is read in a browser even where its checks are not
    """
    is_read_otherwise = policy.signals != "auto" or policy.look_at or policy.ignore
    in_browser = in_browser or policy.fetch == "browser"
    if not (policy.headers or policy.auth or policy.cookies or policy.proxy or secrets or in_browser):
        return _as_read(policy.signals, policy.look_at, policy.ignore) if is_read_otherwise else ""
    shape = [sorted(policy.headers.items()), policy.auth, sorted(policy.cookies.items()), policy.proxy, secrets]
    if is_read_otherwise:
        # Only then, so that the names of pages that are read by default stay as they were.
        shape += [policy.signals, policy.look_at, policy.ignore]
    if in_browser:
        shape += ["browser", policy.ready, *policy.steps, policy.consent]
        # What makes its picture is loaded, too, and scripts may wait for it.
        shape += ["picture"] if compares_pictures(policy) else []
    return _name_of(shape)


@lru_cache(maxsize=1024)
def _as_read(signals: str, look_at: str, ignore: str) -> str:
    """Name default requests whose answers are read in another way; whole groups of pages share the name."""
    return _name_of([[], "", [], "", None, signals, look_at, ignore])


def _name_of(shape: Sequence[object]) -> str:
    return f".{blake2b(repr(shape).encode(errors='surrogatepass'), digest_size=4).hexdigest()}"


class Policies:
    """Resolves the settings of pages; each group is resolved once, since most pages have none of their own."""

    def __init__(self, base: PageSettings) -> None:
        self._base = base
        self._for_all: JsonObject = {}
        self._groups: dict[int, tuple[str, JsonObject]] = {}
        self._of_group: dict[int, Resolved] = {}

    async def load(self, store: WorkStore) -> None:
        """Read the settings made at run time; called again after each change."""
        self.adopt(*await store.overrides())

    def adopt(self, for_all: JsonObject, groups: dict[int, tuple[str, JsonObject]]) -> None:
        """Apply settings made at run time: for all pages, and by group."""
        self._for_all, self._groups = for_all, groups
        self._of_group.clear()

    @property
    def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """The settings made at run time: for all pages, and by group."""
        return self._for_all, self._groups

    def configure(self, base: PageSettings) -> None:
        """Apply another configuration."""
        self._base = base
        self._of_group.clear()

    @property
    def base(self) -> PageSettings:
        """The configuration's settings."""
        return self._base

    @property
    def mode(self) -> str:
        """The configuration's mode, in force unless set at run time."""
        return self._base.mode

    def of(self, task: PageTask) -> PageSettings:
        """Return the settings in force for this page.

        Raises SettingsError, with the mend, if the store holds settings that cannot be used.
        """
        # No request without its settings: it might bypass the proxy, or come too often for its user.
        resolved = self._resolved(task)
        if resolved.refused:
            raise SettingsError(describe_refused(resolved.refused, url=task.url, group=task.group))
        return resolved.settings

    def readable(self, task: PageTask | PageSchedule) -> PageSettings:
        """Return the settings of this page for work without requests; unusable ones are inherited."""
        return self._resolved(task).settings

    def _resolved(self, task: PageTask | PageSchedule) -> Resolved:
        group = self._groups.get(task.group_id, ("", {}))[1]
        if task.settings:
            return resolve_readable(self._base, self._for_all, group, task.settings)
        resolved = self._of_group.get(task.group_id)
        if resolved is None:
            resolved = self._of_group[task.group_id] = resolve_readable(self._base, self._for_all, group, {})
        return resolved
