"""How many threads of an index work at the same time."""

from __future__ import annotations

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from envsolve.index.limits import MAX_CONNECTIONS
from envsolve.index.pace import Pace


def _most_at_once(pace: Pace, threads: int) -> int:
    """How many of some threads had a turn at the same time."""
    lock, now, most = threading.Lock(), 0, 0

    def work() -> None:
        nonlocal now, most
        with pace.turn():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    started = [threading.Thread(target=work) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return most


def _after(*waits: float) -> Pace:
    pace = Pace()
    for wait in waits:
        pace.note(wait)
    return pace


def test_an_index_nearby_is_asked_by_few() -> None:
    assert _after(*[0.003] * 20).limit == Pace().limit < MAX_CONNECTIONS


def test_an_index_far_away_is_asked_by_many() -> None:
    assert _after(*[0.1] * 20).limit == MAX_CONNECTIONS


def test_slow_answers_among_quick_ones_tell_nothing() -> None:
    """They may have waited for a connection, or for us."""
    assert _after(*[0.2, 0.2, 0.003] * 6).limit == Pace().limit


def test_it_follows_the_last_answers() -> None:
    pace = _after(*[0.1] * 20)
    for _ in range(20):
        pace.note(0.002)
    assert pace.limit == Pace().limit


def test_no_more_than_that_work_at_once() -> None:
    pace = Pace()
    assert _most_at_once(pace, 12) == pace.limit


def test_those_who_wait_go_on_when_more_may() -> None:
    pace = Pace()
    here, leave = threading.Barrier(11), threading.Event()

    def work() -> None:
        with pace.turn():
            here.wait(30)
            leave.wait(30)

    started = [threading.Thread(target=work) for _ in range(10)]
    for thread in started:
        thread.start()
    for _ in range(20):
        pace.note(0.1)
    here.wait(30)  # all ten have a turn, which is more than there were at first
    leave.set()
    for thread in started:
        thread.join()


def test_an_error_gives_the_turn_back() -> None:
    pace = Pace()
    for _ in range(pace.limit + 1):
        try:
            with pace.turn():
                raise ValueError
        except ValueError:
            pass
    assert _most_at_once(pace, 6) == pace.limit


@given(st.lists(st.floats(min_value=0, max_value=1000)))
def test_the_limit_is_always_one_that_can_be(waits: list[float]) -> None:
    assert Pace().limit <= _after(*waits).limit <= MAX_CONNECTIONS
