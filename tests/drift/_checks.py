"""Laws that tests put to detectors, and to broken twins of them."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from tests.drift._literal import UNIT, LiteralADWIN


def check_cuts(detector, parts):
    """Calls of any size, single updates and a pickle in between lead to the same state."""
    values = np.concatenate(parts)
    whole, cut = clone(detector), clone(detector)
    expected = whole.update_many(values).tolist()
    begin, alarms = 0, []
    for i, part in enumerate(parts):
        if i % 3 == 0:
            alarms += [begin + j for j, x in enumerate(part) if cut.update(x).drift_detected]
        else:
            alarms += (begin + cut.update_many(part)).tolist()
        begin += len(part)
        cut = pickle.loads(pickle.dumps(cut))
    assert alarms == expected
    assert whole.n_detections == cut.n_detections == len(expected)
    assert whole.drift_detected == cut.drift_detected == (expected[-1:] == [len(values) - 1])
    # An unpickled empty array has other strides, so that both must have made the journey.
    assert joblib.hash(cut) == joblib.hash(pickle.loads(pickle.dumps(whole)))


def check_against_literal(detector, parts):
    """ADWIN equals the literal algorithm after every one of several calls."""
    literal = LiteralADWIN(**detector.get_params())
    detector, told = clone(detector), clone(detector)
    for part in parts:
        begin, n_alarms, n_shrinks = literal.n_seen, len(literal.alarms), len(literal.shrinks)
        for value in part.tolist():
            literal.update(value)
        if literal.narrowest < 1e-9:  # where rounding could decide, both are right
            break
        alarms = begin + detector.update_many(part)
        assert alarms.tolist() == literal.alarms[n_alarms:]
        assert detector.n_detections == len(literal.alarms)
        if len(part):
            assert detector.drift_detected == (literal.alarms[-1:] == [literal.n_seen - 1])
        assert detector.width == literal.width

        possible = {*told.boundaries().tolist(), *range(begin, begin + len(part))}
        positions, starts = told.advance(part)
        assert [*zip(begin + positions, starts, strict=True)] == literal.shrinks[n_shrinks:]
        assert possible.issuperset(starts.tolist())
        assert told.boundaries().tolist() == literal.boundaries()
        if literal.width:
            scale = 1 + np.abs(literal.values).max() * UNIT
            assert told.mean == pytest.approx(literal.mean, rel=1e-12, abs=1e-12 * scale)
            assert told.variance == pytest.approx(literal.variance, rel=1e-10, abs=1e-13 * scale**2)
    return literal
