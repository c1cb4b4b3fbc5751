from __future__ import annotations

from tocsin.engine.agenda import Agenda


def test_the_agenda_gives_hosts_in_order_of_their_time_and_only_what_is_due() -> None:
    agenda = Agenda()
    for host_id, due in ((1, 30), (2, 10), (3, 20), (4, 99)):
        agenda.put(host_id, due)

    assert agenda.take(30, most=2) == [2, 3]
    assert agenda.take(30, most=5) == [1]
    assert agenda.next_due() == 99


def test_the_agenda_heeds_only_the_newest_time_of_a_host() -> None:
    agenda = Agenda()
    agenda.put(1, 10)
    agenda.put(1, 50)
    agenda.put(2, 20)
    agenda.put(2, None)

    assert agenda.take(40, most=5) == []
    assert agenda.hosts() == [1]
