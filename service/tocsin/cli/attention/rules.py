"""Answers that stay in force, until they are lifted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.arguments import Number
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.progress import steps
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import RuleRow
    from tocsin.ports import Store


@click.command("lift", epilog="Example: tocsin attention lift 3")
@click.argument("rule", type=Number("a rule", "tocsin attention list --rules"), metavar="RULE")
@output.json_option
@click.pass_context
def lift(ctx: click.Context, rule: int) -> None:
    """Forget an answer that stays; its pages are checked again."""
    pages = with_store(ctx, lambda store: _lift(store, rule))
    told = f"Rule {rule} lifted; {count(pages, 'page')} checked again."
    output.emit({"rule": str(rule), "pages": pages}, lambda: output.say(told))


async def _lift(store: Store, rule_id: int) -> int:
    if all(rule.id != rule_id for rule in await store.rules()):
        raise UsageError(f"rule {rule_id}: there is none; see: tocsin attention list --rules")
    with steps("Lifting", "checked again") as on_step:
        return await store.lift_rule(rule_id, now(), on_step=on_step)


def print_rules(rules: Sequence[RuleRow]) -> None:
    """List them: a table for a person, a line each for a program."""
    if output.is_json():
        for rule in rules:
            output.print_json(
                {
                    "rule": str(rule.id),
                    "instruction": rule.instruction.kind,
                    "scope": rule.scope,
                    "url": rule.page_url,
                    "host": rule.host,
                    "cause": rule.cause,
                    "since": json_time(rule.created_at),
                }
            )
        return
    if not rules:
        output.say("No answer stays in force.")
        return
    rows = [
        (rule.id, rule.instruction.kind, rule.page_url or rule.host, rule.cause, show_time(rule.created_at))
        for rule in rules
    ]
    output.table(("rule", "instruction", "for", "cause", "since"), rows)
    output.say("Lift one with: tocsin attention lift RULE")
