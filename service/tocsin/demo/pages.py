"""The pages of the demo's site: what they say of themselves, and how their author changes that."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from html import escape

_LOGIN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Log in</title>
<h1>Log in</h1>
<form action="/login" method="post">
<label>User name <input name="user"></label>
<label>Password <input name="password" type="password"></label>
<button>Log in</button>
</form>
</html>
"""

_CONCERT = date(2027, 5, 5)


@dataclass(slots=True)
class SitePage:
    """A page; every change of what it says gives it a new version.

    host      which of the site's hosts it lives on, from 0
    major     dates of its major changes, as `topper-major` writes them
    minor     dates of its minor changes, as `topper-minor` writes them
    modified  its `article:modified_time`
    refresh   its `http-equiv=refresh`, in seconds
    failing   it answers 503 for the time being
    text      what people read on it
    locked    a login form stands in its place for the time being
    concert   the day of the event that it announces, as microdata; each major change puts it off by a day
    """

    path: str
    host: int
    title: str
    major: list[str] = field(default_factory=list)
    minor: list[str] = field(default_factory=list)
    modified: str | None = None
    refresh: int | None = None
    failing: bool = False
    text: str = "All of this page stays as it is, until its author changes it."
    locked: bool = False
    concert: date | None = None
    version: int = 1

    @property
    def etag(self) -> str:
        """Name what is served now to those who ask with a condition."""
        return f'"{self.path.strip("/")}-{"login" if self.locked else self.version}"'

    def date_minor(self, now: datetime) -> None:
        """Declare that a minor change happens now."""
        self.minor.append(self._new_token(now))
        self.version += 1

    def date_major(self, now: datetime) -> None:
        """Declare that a major change happens now."""
        self.major.append(self._new_token(now))
        if self.concert is not None:
            self.concert += timedelta(days=1)
        self.version += 1

    def modify(self, now: datetime) -> None:
        """Say only that something was modified now."""
        self.modified = _token(now)
        self.version += 1

    def edit(self, text: str) -> None:
        """Write another text, and say nothing of it."""
        self.text = text
        self.version += 1

    def lock(self, *, locked: bool) -> None:
        """Let a login form stand in its place, or no longer."""
        self.locked = locked

    def html(self) -> str:
        """The page as its author wrote it."""
        if self.locked:
            return _LOGIN
        said = [
            ("name", "topper-major", " ".join(self.major)),
            ("name", "topper-minor", " ".join(self.minor)),
            ("property", "article:modified_time", self.modified or ""),
            ("http-equiv", "refresh", "" if self.refresh is None else str(self.refresh)),
        ]
        metas = "".join(f'<meta {kind}="{name}" content="{escape(value)}">\n' for kind, name, value in said if value)
        return (
            f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(self.title)}</title>\n'
            f"{metas}<h1>{escape(self.title)}</h1>\n"
            f"<p>{escape(self.text)}</p>\n{self._announcement()}<p>Version {self.version}.</p>\n</html>\n"
        )

    def _announcement(self) -> str:
        if self.concert is None:
            return ""
        return (
            '<div itemscope itemtype="http://microformats.org/profile/hcalendar#vevent">\n'
            '<h2 itemprop="summary">Harbour concert</h2>\n'
            f'<p>On <time itemprop="dtstart" datetime="{self.concert}">{self.concert}</time>, '
            'at <span itemprop="location">the old pier</span>.</p>\n</div>\n'
        )

    def _new_token(self, now: datetime) -> str:
        # Tokens are unique within a value (T06), and a second is their unit here.
        while (token := _token(now)) in {*self.major, *self.minor}:
            now += timedelta(seconds=1)
        return token


def first_pages(now: datetime) -> tuple[SitePage, ...]:
    """The site as the story finds it."""
    long_ago = (now - timedelta(days=30)).strftime("%Y-%m-%d")
    crowd = tuple(
        SitePage(f"/crowd-{number}", 1, f"One of many: {number}", modified=long_ago) for number in range(1, 7)
    )
    return (
        SitePage("/news", 0, "News", major=[long_ago], concert=_CONCERT),
        SitePage("/about", 0, "About us", modified=long_ago),
        SitePage("/quiet", 0, "Never changes", major=[long_ago], minor=[long_ago]),
        SitePage("/plain", 0, "Declares nothing"),
        SitePage("/ticker", 0, "Asks for patience", modified=long_ago),
        *crowd,
        SitePage("/shop", 2, "Fails for a while", modified=long_ago),
    )


def _token(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
