"""An event is taken when its step is committed, and not before."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream.core.engine.run import Engine, ModelRun
from skstream.core.timelines.delayed import DatedArrivals, DelayedTimeline, Dropped, Labels
from skstream.core.timelines.timeline import Arrivals, End, PrequentialTimeline
from skstream.kernels import Task

X = np.arange(40.0).reshape(-1, 2)
Y = np.arange(20) % 2


class Interrupt(BaseException):
    pass


def an_engine(timeline, features=None):
    task = Task(np.array([0, 1]))
    return Engine([ModelRun("m", 0, SGDClassifier(), task)], [timeline], features)


def arrivals(first, n, **dates):
    labelled = np.full(n, not dates)
    if not dates:
        return Arrivals(first, labelled), X[first : first + n], Y[first : first + n]
    event = DatedArrivals(
        first,
        labelled,
        arrival=np.arange(first, first + n, dtype=float),
        label_time=np.full(n, np.inf),
        expected=np.ones(n, dtype=bool),
    )
    return event, X[first : first + n], np.full(n, -1)


def test_rows_that_are_only_asked_may_be_asked_again():
    engine = an_engine(DelayedTimeline(poll_every=1))
    engine.commit(engine.execute(*arrivals(0, 3, dated=True)))
    engine.commit(engine.execute(Labels(np.array([1]), 3.0, np.ones(1)), None, Y[1:2]))
    found = []
    for n in (5, 2, 2):  # the first two are given up
        step = engine.execute(*arrivals(3, n, dated=True))
        assert engine.states[0].pending.numbers().tolist() == [0, 2]
        found.append(step.answered[0].answers)
        if len(found) < 3:
            engine.abandon()
    np.testing.assert_array_equal(found[1], found[2])
    engine.commit(step)
    assert engine.states[0].pending.numbers().tolist() == [0, 2, 3, 4]
    engine.commit(engine.execute(Dropped(np.array([0, 3]))))
    assert engine.states[0].pending.numbers().tolist() == [2, 4]
    step = engine.execute(Labels(np.array([4]), 5.0, np.ones(1)), None, Y[4:5])
    assert step.answered[0].operations.asked.row.tolist() == [2, 4]
    assert step.answered[0].operations.ask_rows.tolist() == [4]  # row 2 came during the warm-up


def test_an_event_that_fails_before_a_model_learns_can_be_executed_again():
    failures = [Interrupt()]

    def features(rows, times):
        if failures:
            raise failures.pop()
        return X[rows]

    engine = an_engine(DelayedTimeline(), features)
    engine.commit(engine.execute(*arrivals(0, 3, dated=True)))
    before = engine.states[0]
    labels = Labels(np.array([0]), 3.0, np.ones(1)), None, Y[:1]
    with pytest.raises(Interrupt):
        engine.execute(*labels)
    assert engine.states[0] is before
    assert not engine.is_inconsistent
    step = engine.execute(*labels)
    assert step.answered[0].operations.learn_rows.tolist() == [0]
    engine.commit(step)
    assert engine.states[0].n_learnt == 1


def test_an_interrupt_while_a_model_learns_is_known():
    class Interrupted(ModelRun):
        def run(self, block):
            raise Interrupt

    task = Task(np.array([0, 1]))
    model = Interrupted("m", 0, SGDClassifier(), task)
    engine = Engine([model], [PrequentialTimeline()])
    with pytest.raises(Interrupt):
        engine.execute(*arrivals(0, 3))
    assert engine.is_inconsistent
    assert engine.states[0].next_row == 0


def test_rows_of_an_incomplete_batch_stay_until_the_end():
    engine = an_engine(PrequentialTimeline(n_warmup=2, batch_size=3))
    asked = []
    for event in (arrivals(0, 4), arrivals(4, 3), (End(),)):
        step = engine.execute(*event)
        engine.commit(step)
        asked.append(step.answered[0].operations.ask_rows.tolist())
    assert asked == [[], [2, 3, 4], [5, 6]]
