from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences.compare import Work, _Part, _SequenceMatching, find_common

ITEMS = st.lists(st.integers(0, 5), max_size=40)


def length_of_longest(one: list[int], other: list[int]) -> int:
    """How much two lists have in common at most, by the textbook's table."""
    row = [0] * (len(other) + 1)
    for item in one:
        new = [0]
        for place, against in enumerate(other):
            new.append(row[place] + 1 if item == against else max(row[place + 1], new[-1]))
        row = new
    return row[-1]


@given(ITEMS, ITEMS, st.sampled_from([0, 5, 50, 100_000]))
def test_what_is_found_stands_in_both_and_in_order_however_little_work_is_allowed(
    before: list[int], latest: list[int], steps: int
) -> None:
    i = j = 0
    for run in find_common(before, latest, Work(steps)):
        assert run.length > 0
        assert (run.i > i or run.j > j) or i == j == 0
        assert run.i >= i
        assert run.j >= j
        assert before[run.i : run.i + run.length] == latest[run.j : run.j + run.length]
        i, j = run.i + run.length, run.j + run.length


@given(ITEMS)
def test_equal_sequences_are_one_run(items: list[int]) -> None:
    found = find_common(items, items, Work(1000))

    assert [(run.i, run.j, run.length) for run in found] == ([(0, 0, len(items))] if items else [])


@given(ITEMS, ITEMS)
def test_the_shortest_way_is_the_shortest(before: list[int], latest: list[int]) -> None:
    matching = _SequenceMatching(before, latest, Work(100_000))

    found = matching._shortest(_Part(0, len(before), 0, len(latest)))

    assert sum(run.length for run in found) == length_of_longest(before, latest)


def test_where_the_shortest_way_is_too_long_the_nth_stands_for_the_nth() -> None:
    # A thousand things twice each in another order: no anchors, and far more edits than are looked for.
    before = [place % 1000 for place in range(2000)]
    latest = [number for place in before for number in (place, 5000 + place)]

    found = sum(run.length for run in find_common(before, latest, Work(1_000_000)))

    assert found == 2000
