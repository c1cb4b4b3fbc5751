from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences.compare import narrow

LINES = st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=12).map("\n".join)


@given(LINES, LINES)
def test_what_is_taken_off_are_whole_lines_that_both_begin_or_end_with(before: str, latest: str) -> None:
    was, now, is_cut = narrow(before, latest, 1000)

    assert not is_cut
    assert len(before) - len(was) == len(latest) - len(now)
    starts = [
        start
        for start in range(len(before) - len(was) + 1)
        if before[start:].startswith(was)
        and latest[start:].startswith(now)
        and before[:start] == latest[:start]
        and before[start + len(was) :] == latest[start + len(now) :]
        and (start == 0 or before[start - 1] == "\n")
        and (start + len(was) == len(before) or (before[:start] + was).endswith("\n") or not was)
    ]
    assert starts


def test_lines_in_the_middle_are_left() -> None:
    assert narrow("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", 1000) == ("two\n", "2\n", False)
    assert narrow("one\ntwo\n", "one\nand\ntwo\n", 1000) == ("", "and\n", False)


def test_what_is_beyond_is_cut_and_said_to_be() -> None:
    assert narrow("x" * 50, "y" * 60, 10) == ("x" * 10, "y" * 10, True)
