"""Warnings name the user's line, however deep in the package they arise."""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from skstream import KFoldEvaluator, MajorityClass, PrequentialEvaluator
from skstream.metrics import kappa_score
from skstream.streams import make_demo_stream
from tests.evaluation._models import FailsLater

STREAM = make_demo_stream(60, random_state=0)
CONSTANT = np.zeros((20, 1)), ["a"] * 20


def fails():
    PrequentialEvaluator(error_score=0.0).evaluate(
        {"a": FailsLater(0), "b": MajorityClass()}, STREAM
    )


def undefined():
    PrequentialEvaluator("kappa").evaluate(MajorityClass(), *CONSTANT, classes=["a", "b"])


def rescored():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = PrequentialEvaluator().evaluate(MajorityClass(), *CONSTANT, classes=["a", "b"])
    result.rescore("kappa")


def undefined_while_it_runs():
    run = KFoldEvaluator("kappa", n_folds=2).start(MajorityClass(), classes=["a", "b"])
    run.update(*CONSTANT)
    run.result()


def learns_row_by_row():
    PrequentialEvaluator().evaluate(GaussianNB(), STREAM)


def function_of_many_rows():
    PrequentialEvaluator(lambda y, p: 0.0).evaluate(MajorityClass(), make_demo_stream(10_001))


def batch():
    kappa_score([0, 0], [0, 0])


@pytest.mark.parametrize(
    "call",
    [
        *(fails, undefined, rescored, undefined_while_it_runs, learns_row_by_row),
        *(function_of_many_rows, batch),
    ],
)
def test_warnings_point_to_the_line_of_the_user(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
