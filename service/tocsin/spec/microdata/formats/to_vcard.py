"""Contacts of a page as vCard 3.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.microdata.formats.content_lines import Budget, Written, tell_cut, tell_unfit
from tocsin.spec.microdata.formats.vcard_export import ExportedCards
from tocsin.spec.microdata.formats.vcard_text import Cards
from tocsin.spec.microdata.values import HCARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.microdata.values import Item, Microdata


def write_cards(data: Microdata, *, profile: str = "export", which: int | None = 1) -> Written:
    """Write one contact of a page, or all, as a vCard, and tell what was left out of it.

    profile  export: as today's address books read it; text: as text 003 has it, to the letter
    which    its number among the page's contacts, from 1 (VC-09); None: all of them one after another, but for those
             that are only the agents of others
    Source   text 003, vCard: conversion (VC-09 to VC-20)
    """
    cards = find_cards(data)
    budget = Budget()
    chosen = _find_independent(cards, budget) if which is None else cards[max(0, which - 1) : max(0, which)]
    writer = (Cards if profile == "text" else ExportedCards)(data, budget)
    sheets: list[str] = []
    for card in chosen:
        if budget.is_spent and sheets:
            break
        sheets.append(writer.write(card))
    if not sheets:
        return Written(None)
    unfit = tell_unfit(writer.unfit, "address books")
    return Written("".join(sheets), unfit + tell_cut(budget, "contact", len(chosen) - len(sheets)))


def find_cards(data: Microdata) -> tuple[Item, ...]:
    """Give the contacts of a page as they are numbered: in tree order, agents too."""
    return tuple(item for item in data.all if HCARD in item.types)


def _agents_of(card: Item) -> Iterator[Item]:
    """Give the contacts that a contact names as its agents."""
    for each in card.properties:
        if each.item is not None and "agent" in each.names and HCARD in each.item.types:
            yield each.item


def _find_independent(cards: tuple[Item, ...], budget: Budget) -> tuple[Item, ...]:
    """Leave out who is only an agent; of those that are one another's, the first stays."""
    agents = {card: tuple(_agents_of(card)) for card in cards if budget.look(len(card.properties))}
    dependent = {agent for card, its_own in agents.items() for agent in its_own if agent is not card}
    chosen = {card for card in cards if card not in dependent}
    reached: set[Item] = set()
    for start in (*chosen, *cards):
        if start in reached:
            continue
        chosen.add(start)
        waiting = [start]
        while waiting:
            card = waiting.pop()
            if card not in reached:
                reached.add(card)
                waiting.extend(agents.get(card, ()))
    return tuple(card for card in cards if card in chosen)
