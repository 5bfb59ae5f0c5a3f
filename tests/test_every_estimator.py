"""Every estimator of scikit-learn with ``partial_fit`` runs in every evaluator, or is refused."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skstream as sk
from benchmarks.bench_estimators import Case, cases, how

PAGE = Path(__file__).resolve().parents[1] / "docs" / "estimators.md"
N_ROWS = 48  # MiniBatchKMeans changes its way with fewer
N_FEW = 36
CASES = {case.name: case for case in cases(N_ROWS)}
EVALUATORS = [
    sk.PrequentialEvaluator("error", n_warmup=20, random_state=0),
    sk.KFoldEvaluator("error", n_folds=2, n_warmup=20, random_state=0),
    sk.DelayedEvaluator(
        "error", delay=3, n_warmup=20, random_state=0, polling=sk.Polling(n_bins=2)
    ),
    sk.HoldoutEvaluator("error", holdout="next", every=10, n_warmup=20, random_state=0),
]


def rows_of_the_table() -> dict[str, str]:
    found = re.findall(
        r"^\| (\w+) \| (kernel|part by loop|loop|refused) \|", PAGE.read_text(), re.M
    )
    return dict(found)


@pytest.mark.parametrize("name", CASES)
def test_the_table_says_how_it_is_executed(name: str) -> None:
    kind, _ = how(CASES[name], N_ROWS)
    said = rows_of_the_table()
    if name not in said:  # of another version of scikit-learn
        pytest.skip("the table is about the newest version")
    assert kind.partition(":")[0] == said[name]
    if kind.startswith("refused"):
        sentence = kind.partition(": ")[2]
        assert sentence.startswith("Model 'model' failed while training on row")
        assert "\n" not in sentence


def test_the_table_is_complete() -> None:
    assert set(CASES) <= set(rows_of_the_table())


@pytest.mark.parametrize("place", range(len(EVALUATORS)))
@pytest.mark.parametrize("name", CASES)
def test_runs_or_is_refused_in_every_evaluator(name: str, place: int) -> None:
    case: Case = CASES[name]
    evaluator: Any = EVALUATORS[place]
    is_regression = case.y.dtype.kind == "f"
    evaluator.set_params(metrics="mae" if is_regression else "error")
    refused = rows_of_the_table().get(name) == "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = evaluator.evaluate({"model": case.model}, case.X[:N_FEW], case.y[:N_FEW])
        except sk.ModelError as error:
            assert refused, error
            assert str(error).startswith("Model 'model'")
        else:
            assert np.isfinite(result.scores["model"]["mae" if is_regression else "error"])
