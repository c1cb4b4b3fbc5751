"""Whether what channels were given is what the store says they accepted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import AlertRow


def is_settled(alerts: Sequence[AlertRow]) -> bool:
    """Say whether every channel has accepted every alert."""
    return all(delivery[1] == "accepted" for alert in alerts for delivery in alert.deliveries)


def find_fault(alerts: Sequence[AlertRow], given: Sequence[dict[str, Any]]) -> str | None:
    """Compare the store's alerts with the events that a channel was given; None if they are as promised.

    given  in the order in which the channel took them; a repetition with the same id is allowed
    Delivery is at least once, and in order for one page.
    """
    ids = list(dict.fromkeys(event["id"] for event in given))
    lost = [alert.id for alert in alerts if alert.id not in ids]
    if lost:
        return f"{len(lost)} alerts never came, the first of them {lost[0]}"
    unknown = set(ids) - {alert.id for alert in alerts}
    if unknown:
        return f"{len(unknown)} events are of no alert, one of them {min(unknown)}"
    place = {id_: number for number, id_ in enumerate(ids)}
    latest: dict[int, AlertRow] = {}
    for alert in alerts:
        if alert.page_id is None:
            continue
        before = latest.get(alert.page_id)
        if before is not None and place[before.id] > place[alert.id]:
            return f"alerts {before.position} and {alert.position} of {alert.url} came in the wrong order"
        latest[alert.page_id] = alert
    return None
