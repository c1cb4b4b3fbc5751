"""Lists of questions for people; their part of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.attention.attention import read_questions, to_rule
from tocsin.adapters.stores.sql.attention.questions import SQL as ATTENTION
from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.pages.lists import COUNTED
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import BoundedCount, Slice

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import QuestionRow, RuleRow

SQL = queries("question_lists")


class QuestionListRole(Role):
    """Implements what ports.BrowseStore says of questions and of what waits."""

    async def browse_questions(
        self, *, closed: bool = False, cursor: str | None = None, limit: int = 50
    ) -> Slice[QuestionRow]:
        """Questions that are open (the most pages first), or that ended (the latest first)."""
        walk = "ended" if closed else "open"
        cursors = Cursors(2, "questions", walk)
        pages, before = cursors.read(cursor) or (LAST, LAST)
        values = {"pages": pages, "before": before, "limit": limit + 1}

        def read(db: Session) -> Slice[QuestionRow]:
            found = db.execute(SQL[walk], values).fetchall()
            shown = [row[0] for row in found[:limit]]
            rows = {question.id: question for question in read_questions(db, "these", {"ids": ids(shown)})}
            goes_on = None
            if len(found) > limit:
                question_id, at = found[limit - 1]
                goes_on = cursors.write((at, question_id))
            return Slice(tuple(rows[question_id] for question_id in shown), goes_on)

        return await self._view(read)

    async def browse_rules(self, *, cursor: str | None = None, limit: int = 50) -> Slice[RuleRow]:
        """Rules in force, the latest first."""
        cursors = Cursors(1, "rules")
        (before,) = cursors.read(cursor) or (LAST,)
        values = {"before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(ATTENTION["latest_rules"], values).fetchall())
        goes_on = cursors.write((rows[limit - 1][0],)) if len(rows) > limit else None
        return Slice(tuple(to_rule(row) for row in rows[:limit]), goes_on)

    async def rule(self, rule_id: int) -> RuleRow | None:
        """One rule in force."""
        place = {"rule": bounded(rule_id)}
        row = await self._view(lambda db: db.execute(ATTENTION["one_rule"], place).fetchone())
        return to_rule(row) if row is not None else None

    async def tally_questions(self) -> BoundedCount:
        """How many questions were asked and wait for an answer."""
        return await self._tally("count_waiting")

    async def tally_renders(self) -> BoundedCount:
        """How many pages wait for their rendering, or hold a slot."""
        return await self._tally("count_renders")

    async def _tally(self, query: str) -> BoundedCount:
        (number,) = await self._view(lambda db: db.execute(SQL[query], {"limit": COUNTED + 1}).fetchone())
        return BoundedCount(min(number, COUNTED), is_exact=number <= COUNTED)
