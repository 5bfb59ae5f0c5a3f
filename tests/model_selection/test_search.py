"""A search is an evaluation of its candidates, one of which goes on: laws, and bad input."""

import re
import signal
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import stats
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError, UndefinedMetricWarning
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skstream as sk
from skstream.core.evaluators import execution as _execution
from skstream.metrics import Measure
from skstream.model_selection._search_plan import candidates_of
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import as_stream
from skstream.utils._seeds import seed_estimator
from tests._examples import newest_alone
from tests.model_selection._searches import search_of

N_ROWS, TUNING = 900, 400
GRID = {"alpha": [1e-4, 1e-2, 100.0], "penalty": ["l2", "l1"]}


def stream(n: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "UP", "DOWN")


def search(estimator: Any = None, grid: Any = None, **parameters: Any) -> sk.PrequentialSearch:
    return search_of(
        SGDClassifier() if estimator is None else estimator,
        GRID if grid is None else grid,
        **parameters,
    )


def fitted(estimator: Any = None, grid: Any = None, **parameters: Any) -> sk.PrequentialSearch:
    return search(estimator, grid, **parameters).fit(*stream())


def models_of(one: sk.PrequentialSearch) -> dict[str, Any]:
    """Return the candidates by their names in the results, with the seeds of a model alone."""
    models = {}
    for name, params in zip(one.result_.model_names, one.cv_results_["params"], strict=True):
        model = clone(one.estimator).set_params(**clone(params, safe=False))
        models[name] = seed_estimator(model, 0, type(model).__name__, 0)
    return models


def assert_same(one: sk.PrequentialSearch, other: sk.PrequentialSearch) -> None:
    """The same to the last bit, in whatever order the candidates are."""
    assert one.best_params_ == other.best_params_
    first, second = one.result_, other.result_
    results = [(first, second)]
    if one.run_.rules.tuning is not None and one.run_.tuned is not None:
        results.append((one.honest_result_, other.honest_result_))
        assert one.honest_interval_ == other.honest_interval_
    for ours, theirs in results:
        assert_array_equal(ours.checkpoints, theirs.checkpoints)
        assert sorted(ours.model_names) == sorted(theirs.model_names)
        for name in ours.model_names:
            for metric in ours.metric_names:
                assert_array_equal(ours.curve(name, metric), theirs.curve(name, metric))
            if ours.tape is not None and theirs.tape is not None:
                assert one.naive_scores_ == other.naive_scores_
                assert_array_equal(
                    ours.predictions(name, every_row=True), theirs.predictions(name, every_row=True)
                )
    assert_array_equal(one.best_estimator_.coef_, other.best_estimator_.coef_)


SEARCHES: list[tuple[Any, Any, dict[str, Any]]] = [
    (SGDClassifier(), GRID, {}),
    (SGDClassifier(), GRID, {"metric": "error", "forgetting": sk.FadingFactor(0.99)}),
    (SGDClassifier(), GRID, {"metric": "kappa", "batch_size": 40, "n_warmup": 5}),
    (SGDClassifier(), GRID, {"metric": "accuracy", "record_every": 70}),
    (
        sk.make_stream_pipeline(
            StandardScaler(), sk.TemporalCorrection(SGDClassifier(loss="log_loss"))
        ),
        {
            "temporalcorrection__fading_factor": [0.9, 1.0],
            "temporalcorrection__estimator__alpha": [0.01, 1.0],
        },
        {"metric": "kappa_temporal"},
    ),
    (
        sk.TemporalCorrection(SGDClassifier(loss="log_loss")),
        [{"smoothing": [0.5]}, {"estimator": [IncrementalGaussianNB()], "smoothing": [1.0, 2.0]}],
        {"metric": "accuracy"},
    ),
]


@pytest.mark.parametrize(("estimator", "grid", "parameters"), SEARCHES, ids=range(len(SEARCHES)))
def test_a_search_is_the_evaluation_of_its_candidates(estimator, grid, parameters):
    X, y = stream()
    whole = fitted(estimator, grid, **parameters)
    parts = fitted(estimator, grid, **parameters, tuning=TUNING)
    metric = parameters.get("metric", "kappa_plus")
    evaluator = sk.PrequentialEvaluator(
        list(dict.fromkeys([metric, "accuracy"])),
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        **{name: value for name, value in parameters.items() if name != "metric"},
    )
    for one, n_rows in ((whole, N_ROWS), (parts, parts.run_.rules.tuning)):
        expected = evaluator.evaluate(models_of(one), X[:n_rows], y[:n_rows], return_models=True)
        result = one.result_
        n_scored = result.n_rows
        assert n_scored == n_rows
        for name in expected.model_names:
            assert_array_equal(
                result.predictions(name, every_row=True),
                expected.predictions(name, every_row=True)[: len(result.tape.y)],
            )
            for one_metric in expected.metric_names:
                curve = expected.curve(name, one_metric)[expected.checkpoints <= n_scored]
                assert_array_equal(
                    result.curve(name, one_metric)[
                        np.isin(result.checkpoints, expected.checkpoints)
                    ],
                    curve,
                )
    everything = evaluator.evaluate(models_of(whole), X, y, return_models=True).models or {}
    for one in (whole, parts):
        best = everything[one.result_.model_names[one.best_index_]]
        assert_array_equal(one.predict(X[:50]), best.predict(X[:50]))
        assert joblib.hash(one.best_estimator_.get_params()) == joblib.hash(best.get_params())


KINDS: list[dict[str, Any]] = [
    {"tuning": TUNING},
    {"tuning": TUNING, "batch_size": 40, "metric": "kappa"},
    {"metric": "kappa_m"},
    {"tuning": TUNING, "batch_size": 32, "metric": "accuracy"},
]
every_kind = pytest.mark.parametrize("parameters", KINDS, ids=str)


@newest_alone
@every_kind
def test_it_does_not_depend_on_chunks(parameters: dict[str, Any]) -> None:
    X, y = stream()
    whole = fitted(**parameters)
    for size in (3, 97):
        chunks = [(X[k : k + size], y[k : k + size]) for k in range(0, N_ROWS, size)]
        assert_same(search(**parameters).fit(chunks, classes=["DOWN", "UP"]), whole)


@newest_alone
@every_kind
def test_it_resumes_at_any_row(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, y = stream()
    whole = fitted(**parameters)
    for cut in (1, 65, 399, 401):
        one = search(**parameters)
        one.partial_fit(X[:cut], y[:cut], classes=["UP", "DOWN"])
        one = sk.load_run(one.save(tmp_path / "search"))
        one.partial_fit(X[cut:], y[cut:])
        if one.evaluator.batch_size > 1:
            one.run_.close()  # as fit does: an incomplete batch is learnt
        assert_same(one, whole)


@every_kind
def test_it_does_not_depend_on_the_order_of_candidates(parameters: dict[str, Any]) -> None:
    backwards = {name: values[::-1] for name, values in GRID.items()}
    assert_same(fitted(**parameters), fitted(grid=backwards, **parameters))


@newest_alone
@pytest.mark.parametrize(
    "parameters",
    [{}, {"tuning": TUNING}, {"batch_size": 40}, {"batch_size": 40, "tuning": TUNING}],
    ids=str,
)
def test_it_does_not_depend_on_workers(parameters, monkeypatch):
    monkeypatch.setattr(_execution, "why_one_process", lambda *_: "")  # else threads do not pay
    X, y = stream()
    whole = fitted(**parameters)
    with parallel_config(backend="threading"):
        one = fitted(**parameters, n_jobs=3)
        assert "one process" not in str(one)
        assert_same(one, whole)
        chunks = [(X[:500], y[:500]), (X[500:], y[500:])]
        assert_same(search(**parameters, n_jobs=3).fit(chunks, classes=["DOWN", "UP"]), whole)
    if "batch_size" in parameters and "tuning" in parameters:
        return  # the stream has ended
    if "tuning" in parameters:
        assert_same(one.partial_fit(X[:9], y[:9]), whole.partial_fit(X[:9], y[:9]))
    else:
        with pytest.raises(RuntimeError, match="The candidates were evaluated by workers"):
            one.partial_fit(X, y)


@pytest.mark.parametrize("metric", ["accuracy", "kappa_m", "kappa_temporal", "kappa_plus"])
def test_the_honest_score_is_of_rows_on_which_nothing_was_chosen(metric: str) -> None:
    X, y = stream()
    one = fitted(metric=metric, tuning=TUNING)
    name = one.result_.model_names[one.best_index_]
    assert one.result_.n_rows == TUNING
    tape = one.honest_result_.tape
    asked = tape.answers[name][0] >= 0
    assert_array_equal(np.flatnonzero(asked), np.arange(TUNING, N_ROWS))
    # An evaluation of that model alone, whose answers to the tuning rows do not count.
    alone = sk.PrequentialEvaluator(metric, random_state=0).evaluate(
        {name: models_of(one)[name]}, X, y
    )
    assert_array_equal(
        alone.predictions(name, every_row=True)[asked],
        one.honest_result_.predictions(name, every_row=True)[asked],
    )
    alone.tape.answers[name][0, :TUNING] = -1
    assert alone.rescore(metric).scores[name][metric] == one.honest_score_
    low, high = one.honest_interval_
    assert low < one.honest_score_ < high
    assert f"[{low:.4f}, {high:.4f}]" in str(one)


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "log_loss"},
        {"metric": "kappa_temporal", "tuning": TUNING},
        {"metric": "error", "tuning": TUNING, "batch_size": 40, "n_warmup": 5},
        {"metric": "accuracy", "tuning": TUNING, "forgetting": "window:7D"},
        {"metric": "recall:UP", "tuning": TUNING, "forgetting": sk.FadingFactor(0.99)},
        {"metric": "mae", "tuning": TUNING},
    ],
    ids=str,
)
def test_naive_guesses_are_scored_on_the_rows_of_the_score(parameters: dict[str, Any]) -> None:
    X, y = stream()
    labels, known = np.where(np.arange(N_ROWS) % 7 == 3, None, y), {"classes": ["DOWN", "UP"]}
    guesses: dict[str, Any] = {"persistent": sk.Persistent(), "majority": sk.MajorityClass()}
    model: Any = SGDClassifier(loss="log_loss")
    if parameters["metric"] == "mae":
        labels, known = np.where(np.arange(N_ROWS) % 7 == 3, np.nan, X[:, 0]), {}
        guesses = {"persistent": sk.PersistentRegressor(), "mean": sk.MeanRegressor()}
        model = SGDRegressor()
    arrival = np.datetime64("2026-01-01") + np.arange(N_ROWS) * np.timedelta64(1, "h")
    rows = as_stream(X, labels, arrival=arrival, sample_weight=1.0 + np.arange(N_ROWS) % 3)

    def score(model: Any, grid: Any) -> tuple[sk.PrequentialSearch, float]:
        one = search(model, grid, **parameters, missing_labels="skip").fit(rows, **known)
        return one, one.honest_score_ if "tuning" in parameters else one.best_score_

    one, last = score(model, {"alpha": [1e-4, 1e-2]})
    alone = {}
    for name, guess in guesses.items():  # searches that have only this guess to choose
        step = {type(guess).__name__.lower(): [guess]}
        alone[name] = score(sk.make_stream_pipeline(guess), step)[1]
    assert one.naive_scores_ == alone
    is_lower = parameters["metric"] in ("log_loss", "error", "mae")
    best = (min if is_lower else max)(alone, key=alone.__getitem__)
    printed = str(one)
    assert f"on the same rows: {best} {alone[best]:.4f}, " in printed
    is_no_better = alone[best] <= last if is_lower else alone[best] >= last
    assert (f"It is not better than the naive guess {best}." in printed) == is_no_better
    assert is_no_better == (parameters["metric"] == "log_loss")


def test_without_a_tape_there_are_no_naive_guesses() -> None:
    one = fitted(keep_tape=False)
    assert not hasattr(one, "naive_scores_")
    assert "The naive guesses are not scored, because no labels were kept" in str(one)


def test_the_honest_interval_of_accuracy_needs_no_tape() -> None:
    with_tape, without = (
        fitted(metric="accuracy", tuning=TUNING, keep_tape=keep) for keep in (True, False)
    )
    assert with_tape.honest_interval_ == without.honest_interval_
    assert np.isnan(fitted(tuning=TUNING, keep_tape=False).honest_interval_).all()
    faded = fitted(tuning=TUNING, forgetting="window:100")
    assert np.isnan(faded.honest_interval_).all()
    assert "newest rows" in faded.honest_interval_method_


def test_honest_intervals_hold_the_score_of_other_rows() -> None:
    rng = np.random.default_rng(1)
    hits = {"accuracy": 0, "kappa": 0}
    for metric in hits:
        for _ in range(40):
            X = rng.normal(size=(400, 1))
            y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
            one = search(
                IncrementalGaussianNB(), {"var_smoothing": [1e-9]}, metric=metric, tuning=50
            ).fit(X, y)
            low, high = one.honest_interval_
            truth = 0.75 if metric == "accuracy" else 0.5  # of the best rule
            hits[metric] += low <= truth <= high
    assert min(hits.values()) >= 34


def test_the_interval_of_the_long_run_leaves_out_each_block_of_rows() -> None:
    one = fitted(metric="accuracy", tuning=TUNING)
    (name,) = one.honest_result_.model_names
    answers = one.honest_result_.predictions(name, every_row=True)[TUNING:]
    right = answers == np.asarray(stream(N_ROWS)[1])[TUNING:]
    blocks = np.array_split(np.arange(len(right)), 20)
    without = [np.delete(right, block).mean() for block in blocks]
    half = stats.t.ppf(0.975, 19) * np.sqrt(19 * np.var(without))
    expected = right.mean() - half, right.mean() + half
    assert one.long_run_interval_ == pytest.approx(expected, rel=1e-9)
    assert one.long_run_interval_ != one.honest_interval_
    assert "see long_run_interval_ for the long-run score" in str(one)
    of_kappa = fitted(metric="kappa", tuning=TUNING)
    assert of_kappa.long_run_interval_ == of_kappa.honest_interval_
    assert np.isnan(fitted(metric="accuracy", tuning=TUNING, keep_tape=False).long_run_interval_[0])


def test_the_best_score_is_read_with_a_warning_where_there_is_an_honest_one() -> None:
    one = fitted(tuning=TUNING)
    with pytest.warns(sk.OptimisticScoreWarning, match="too good on average"):
        assert one.best_score_ == one.cv_results_["mean_test_score"][one.best_index_]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < fitted().best_score_ < 1


def test_results_are_those_of_scikit_learns_searches() -> None:
    one = fitted(grid=[{"alpha": [1e-4, 1.0]}, {"penalty": ["l1"]}], metric="accuracy")
    results = one.cv_results_
    assert results["params"] == [{"alpha": 1e-4}, {"alpha": 1.0}, {"penalty": "l1"}]
    assert results["param_alpha"].mask.tolist() == [False, False, True]
    scores = results["mean_test_score"]
    assert results["rank_test_score"].tolist() == (1 + np.argsort(np.argsort(-scores))).tolist()
    assert one.best_params_ == results["params"][int(scores.argmax())]
    assert one.n_candidates_ == 3
    assert (results["seconds"] > 0).all()
    assert one.classes_.tolist() == ["DOWN", "UP"]
    assert one.score(*stream()) > 0.6


def test_equal_scores_go_to_the_higher_accuracy_then_to_the_earlier() -> None:
    # kappa_plus is 0 for all that beat no baseline.
    X, y = stream(200)
    y[:] = np.where(np.arange(200) % 10, "UP", "DOWN")
    grid = {"alpha": [1e5, 1e3, 1e4], "fit_intercept": [False]}
    one = search(grid=grid).fit(X, y)
    results = one.cv_results_
    n_tied = (results["mean_test_score"] == 0).sum()
    assert n_tied >= 2
    decided = f"{n_tied} have this score: accuracy and the order of the candidates decided)"
    assert decided in str(one)
    best = np.flatnonzero(results["mean_test_score"] == results["mean_test_score"].max())
    assert one.best_index_ == best[results["accuracy"][best].argmax()]
    same = search(Perceptron(), {"warm_start": [False, True], "verbose": [0]}).fit(X, y)
    assert same.best_index_ == 0


def test_regressors_are_searched_by_their_errors() -> None:
    X, _ = stream()
    y = np.clip(X[:, 0], -1, 1)
    grid = {"alpha": [1e-4, 10.0], "eta0": [0.01, 1e-5]}
    one = search(SGDRegressor(), grid, metric="mae", tuning=700).fit(X, y)
    assert not hasattr(one, "classes_")
    assert one.cv_results_["mean_test_score"].argmin() == one.best_index_
    low, high = one.honest_interval_
    assert (low, high) == one.long_run_interval_
    assert 0 <= low < one.honest_score_ < high


def test_candidates_that_fail_are_left_out_as_in_scikit_learn() -> None:
    X, y = rare(150)
    one = search(Rule(), {"at": [5, 10**9, 100]}, tuning=120, metric="accuracy")
    with pytest.warns(FitFailedWarning, match="it broke") as caught:
        one.fit(X, y)
    assert one.best_params_ == {"at": 10**9}
    assert len([w for w in caught if w.category is FitFailedWarning]) == len(one.run_.failures)
    assert np.isnan(one.cv_results_["mean_test_score"][0])
    assert "2 candidates failed: at=5" in str(one)
    with pytest.raises(sk.ModelError, match="it broke"):
        search(Rule(), {"at": [30, 50]}, error_score="raise").fit(X, y)
    with (
        pytest.raises(ValueError, match="failure: Model 'at=30' failed while training on row 29"),
        pytest.warns(FitFailedWarning),
    ):
        search(Rule(), {"at": [30, 50]}, metric="accuracy").fit(X, y)


def test_an_interrupted_search_can_be_used_and_goes_on() -> None:
    X, y = stream()

    def rows() -> Iterator[Any]:
        yield X[:300], y[:300]
        raise KeyboardInterrupt

    one = search(tuning=TUNING)
    with pytest.raises(sk.EvaluationInterrupted) as caught:
        one.fit(rows(), classes=["DOWN", "UP"])
    assert caught.value.result.n_rows == one.run_.n_rows == 300
    assert len(one.predict(X[:5])) == 5
    assert_same(one.partial_fit(X[300:], y[300:]), fitted(tuning=TUNING))


class Interrupted(SGDClassifier):
    """Ctrl-C is pressed at a row."""

    pressed_: ClassVar[list[int]] = []

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        self.pressed_.append(len(self.pressed_))
        if len(self.pressed_) == 100:
            signal.raise_signal(signal.SIGINT)
        return super().partial_fit(X, y, classes=classes)


def test_ctrl_c_comes_between_two_steps() -> None:
    X, y = stream(200)
    grid = {"alpha": [1e-4, 1.0], "penalty": ["l2"]}
    one, whole = (search(Interrupted(), grid, tuning=50) for _ in range(2))
    Interrupted.pressed_.clear()
    with pytest.raises(sk.EvaluationInterrupted):
        one.fit(X, y)
    n = one.run_.n_rows
    assert 0 < n < 200
    assert one.cv_results_["mean_test_score"].shape == (2,)
    assert_same(one.partial_fit(X[n:], y[n:]), whole.fit(X, y))


def test_a_search_that_was_stopped_in_a_row_says_what_can_be_done(tmp_path: Path) -> None:
    X, y = stream(200)

    class Pressed(SGDClassifier):
        def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
            if getattr(self, "t_", 0) > 100:
                raise KeyboardInterrupt
            return super().partial_fit(X, y, classes=classes)

    one = search(Pressed(), {"alpha": [1e-4, 1.0]}, tuning=50)
    with pytest.raises(sk.EvaluationInterrupted):
        one.fit(X, y)
    assert one.result_.n_rows == 50
    with pytest.raises(RuntimeError, match=r"result_ has the scores before, .* Call fit again"):
        one.partial_fit(X, y)


def test_candidates_are_sampled_from_distributions() -> None:
    grid = {"alpha": loguniform(1e-5, 1.0), "penalty": ["l1", "l2"]}
    one, again = (fitted(grid=grid, n_iter=5) for _ in range(2))
    assert one.n_candidates_ == 5
    assert one.cv_results_["params"] == again.cv_results_["params"]
    with pytest.warns(UserWarning, match="gave 2 different candidates"):
        fitted(grid={"alpha": loguniform(1, 1.0000001), "penalty": ["l2"]} | {"alpha": _Coin()},
               n_iter=9)  # fmt: skip


class _Coin:
    """A distribution of two values."""

    def rvs(self, random_state: Any) -> float:
        return float(random_state.choice([0.1, 0.2]))


def test_without_refit_nothing_predicts() -> None:
    one = fitted(refit=False)
    assert not hasattr(one, "predict")
    assert not hasattr(one, "best_estimator_")
    assert one.best_params_


def held(one: Any) -> dict[str, str]:
    """What a search holds, part by part, so that a difference has a name."""
    state = {**vars(one), **one.run_.__getstate__()}
    return {name: joblib.hash(value) for name, value in state.items()}


def held_beside_engine(one: Any) -> dict[str, str]:
    """The same, with the fitted model in place of the engine.

    An engine that holds a failure has no one pickle: equal ones may differ in their bytes.
    """
    parts = {name: value for name, value in held(one).items() if name not in ("_run", "_engine")}
    return {**parts, "model": joblib.hash(vars(one.best_estimator_))}


def test_reading_changes_nothing() -> None:
    one = fitted(tuning=TUNING)
    before = held(one)
    assert one.cv_results_
    assert str(one)
    assert one.predict(stream()[0]).shape == (N_ROWS,)
    assert held(one) == before
    with pytest.raises(NotFittedError):
        search().predict(stream()[0])
    assert "PrequentialSearch(" in str(search())


BAD: list[tuple[dict[str, Any], str]] = [
    ({"metric": "acuracy"}, "accuracy"),
    ({"metric": ["accuracy", "kappa"]}, "metric must be one measure"),
    ({"metric": Measure(lambda y, p: 0.0, name="odd")}, "higher_is_better"),
    ({"forgetting": {"a": "cumulative", "b": "adwin"}}, "forgetting must be one mechanism"),
    ({"grid": {}}, "is empty: name parameters"),
    ({"grid": []}, "is empty: name parameters"),
    ({"grid": {"alpha": []}}, "non-empty"),
    ({"grid": {"alfa": [1]}}, "Invalid parameter 'alfa' for estimator SGDClassifier"),
    ({"grid": {"alpha": [1.0, 2.0, 1.0]}}, "Candidates 0 and 2 of param_grid are equal"),
    ({"grid": {"alpha": loguniform(1, 2)}}, "is a distribution: pass n_iter"),
    ({"n_iter": 0}, "n_iter must be"),
    ({"tuning": N_ROWS}, "leaves no row for the honest score (n_samples=900)"),
    ({"tuning": 1}, "all in the warm-up"),
    ({"n_warmup": N_ROWS}, "n_warmup=900 leaves no row to score (n_samples=900)"),
    ({"chunks": "unlabelled"}, "Row 0 has no label"),
    ({"tuning": 1.0}, "tuning must be"),
    ({"tuning": True}, "tuning must be"),
    ({"chunks": "beside y"}, "y is given together with a source of chunks (list)"),
    ({"chunks": "made, beside y"}, "y is given together with a source of chunks (function)"),
    ({"n_jobs": 2, "chunks": "one-shot"}, "needs a stream that can be read again"),
    ({"tuning": 0.5, "chunks": "one-shot"}, "share of the rows"),
    ({"tuning": 5000, "chunks": "one-shot"}, "ended after 900"),
]


@pytest.mark.parametrize(
    ("parameters", "message"), BAD, ids=lambda one: str(one)[:60].split(" at 0")[0]
)
def test_bad_input_is_refused_in_words(parameters: dict[str, Any], message: str) -> None:
    X, y = stream()
    rows = {
        None: (X, y),
        "beside y": ([(X, y)], y),
        "made, beside y": (lambda: [(X, y)], y),
        "one-shot": (iter([(X, y)]),),
        "unlabelled": (X, [None, *y[1:]]),
    }[parameters.get("chunks")]
    one = search(**{name: value for name, value in parameters.items() if name != "chunks"})
    with pytest.raises(ValueError, match=re.escape(message)):
        one.fit(*rows, classes=["DOWN", "UP"])


def test_bad_estimators_and_missing_attributes_are_explained() -> None:
    with pytest.raises(TypeError, match="has no partial_fit"):
        search(SVC(), {"C": [1.0]}).fit(*stream())
    with pytest.raises(TypeError, match="is not a dict"):
        fitted(grid="alpha")
    with pytest.raises(AttributeError, match=r"Pass tuning="):
        _ = fitted().honest_score_
    one = search(tuning=TUNING).partial_fit(*stream(100), classes=["DOWN", "UP"])
    with pytest.raises(AttributeError, match="chosen after 400 rows, and 100 have come"):
        _ = one.honest_score_
    assert "no honest score yet" in str(one)


class Rule(ClassifierMixin, BaseEstimator):
    """A fixed rule, whose parameters say whether it is useful and when it fails."""

    def __init__(self, k: Any = 0, at: int = 10**9) -> None:
        self.k = k
        self.at = at

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Rule":
        self.classes_ = np.array([0, 1])
        self.n_ = getattr(self, "n_", 0) + len(y)
        if self.n_ >= self.at:
            raise RuntimeError("it broke")
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0) * int(str(self.k)[-1] == "1")


def rare(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which few are of class 1: always 0 is accurate, the rule is useful."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    return np.where(y == 1, 1.0, rng.choice([1.0, -1.0], size=n, p=[0.15, 0.85]))[:, None], y


def accuracy(y: Any, p: Any) -> float:
    return float(np.mean([(p[y == one] == one).mean() for one in (0, 1) if one in y]))


def error(y: Any, p: Any) -> float:
    return accuracy(y, p) - 1.0


@pytest.mark.parametrize(
    "metric",
    [
        {"accuracy": "balanced_accuracy"},
        Measure(accuracy, higher_is_better=True),
        Measure(error, higher_is_better=True),
    ],
)
def test_a_measure_is_what_it_computes_and_not_its_name(metric: Any) -> None:
    one = search(Rule(), {"k": [0, 1]}, metric=metric, tuning=300).fit(*rare())
    assert one.best_params_ == {"k": 1}
    assert abs(one.honest_score_) < 0.95
    assert "confidence sequence" not in one.honest_interval_method_


def test_equal_candidates_of_a_measure_called_accuracy_are_told_apart_by_accuracy() -> None:
    always = Measure(lambda y, p: 0.5, name="accuracy", higher_is_better=True)
    one = search(Rule(), {"k": [1, 0]}, metric=always).fit(*rare())
    assert one.best_params_ == {"k": 0}


def test_names_are_different_and_short() -> None:
    long = "x" * 50
    params = [f"{long} #{k}" for k in (0, 1, 0)]
    grid = [{"k": [one + tail for one in params[:2]], "at": [10**6]} for tail in ("0", "1")]
    one = search(Rule(), grid).fit(*rare(50))
    assert len(set(one.result_.model_names)) == 4
    grid = {"k": ["a", "a #2"], "at": [9e9]}
    assert candidates_of(grid, None, 0).names == ["k=a", "k=a #2"]
    texts = ["y" * 36 + " #2" + end for end in ("1111", "2222")] + ["y" * 36 + " #2"]
    assert len(set(candidates_of({"k": texts}, None, 0).names)) == 3
    floats = {"alpha": [9.999999999999999e-06, 1e-4], "beta": [0.1, 0.1 + 1e-12]}
    names = candidates_of(floats, None, 0).names
    assert names[0] != names[1]
    assert len(set(names)) == 4
    floats = {"alpha": [9.999999999999999e-06, 1e-4], "beta": [1]}
    assert candidates_of(floats, None, 0).names == ["alpha=1e-05", "alpha=0.0001"]


def test_partial_fit_warns_of_a_choice_among_undefined_scores() -> None:
    X, _ = rare(50)
    one = search(Rule(), {"k": [0, 1]}, metric="kappa_m", tuning=30)
    with pytest.warns(UndefinedMetricWarning, match="undefined for every candidate"):
        one.partial_fit(X, np.zeros(50, dtype=int), classes=[0, 1])


def test_tuning_ends_with_a_batch() -> None:
    X, y = rare(1500)
    one = search(Rule(), {"k": [0, 1]}, metric="accuracy", tuning=700, batch_size=64).fit(X, y)
    assert one.result_.n_rows == 705
    assert "705 tuning rows" in str(one)
    assert "795 rows after them" in str(one)
    asked = one.honest_result_.tape.answers[one.run_.chosen][0] >= 0
    assert_array_equal(np.flatnonzero(asked), np.arange(705, 1500))
    with pytest.raises(ValueError, match=r"tuning=30 .*batch_size=64"):
        search(Rule(), {"k": [0, 1]}, tuning=30, batch_size=64).fit(X, y)
    with pytest.raises(ValueError, match=r"tuning=1490, .*batch_size=64"):
        search(Rule(), {"k": [0, 1]}, tuning=1490, batch_size=64).fit(X, y)
    assert search(Rule(), {"k": [0]}, tuning=0.07).fit(*rare(100)).result_.n_rows == 7


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_waits_for_rows_that_are_not_learnt(engine, weighted, tmp_path):
    """A warm-up of 5 learnt rows ends at row 12: batches end at 52, 92, ..., 452."""
    n = 600
    X, y = stream(n)
    labels, weight = y.astype(object), np.ones(n)
    unlearnt = np.r_[1:8, 300:330]
    if weighted:
        weight[unlearnt] = 0
    else:
        labels[unlearnt] = None
    parameters = {"batch_size": 40, "n_warmup": 5, "missing_labels": "skip"}
    kernels = engine == "auto"
    one = search(metric="accuracy", tuning=420, kernels=kernels, **parameters)
    one.fit(X, labels, classes=["DOWN", "UP"], sample_weight=weight)
    assert one.run_.rules.tuning == 445
    assert one.result_.n_rows == 452
    evaluator = sk.PrequentialEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(kernels=kernels, keep_tape=True), **parameters
    )
    expected = evaluator.evaluate(
        models_of(one), X[:452], labels[:452], classes=["DOWN", "UP"], sample_weight=weight[:452]
    )
    for name, scores in expected.scores.items():
        assert one.result_.scores[name]["accuracy"] == scores["accuracy"]
        assert_array_equal(
            one.result_.predictions(name, every_row=True),
            expected.predictions(name, every_row=True),
        )
    asked = one.honest_result_.tape.answers[one.run_.chosen][0] >= 0
    assert_array_equal(np.flatnonzero(asked), np.arange(452, n))
    for size in (7, 97):
        chunks = [
            (X[k : k + size], labels[k : k + size], {"sample_weight": weight[k : k + size]})
            for k in range(0, n, size)
        ]
        again = search(metric="accuracy", tuning=420, kernels=kernels, **parameters)
        assert_same(again.fit(chunks, classes=["DOWN", "UP"]), one)
    with parallel_config(backend="threading"):
        again = search(metric="accuracy", tuning=420, **parameters, n_jobs=2)
        assert_same(again.fit(X, labels, classes=["DOWN", "UP"], sample_weight=weight), one)
    live = search(metric="accuracy", tuning=420, **parameters)
    classes: list[str] | None = ["DOWN", "UP"]
    for begin, end in pairwise([0, 30, 420, 445, 449, 460, n]):
        live.partial_fit(X[begin:end], labels[begin:end], classes, weight[begin:end])
        live, classes = sk.load_run(live.save(tmp_path / "search")), None
        assert (live.run_.tuned is not None) == (end >= 452)
        if end == 445:
            with pytest.raises(AttributeError, match="445 rows, at the end of a batch, and 445"):
                live.honest_score_  # noqa: B018
            assert "(so far)" in str(live)
    live.run_.close()
    assert_same(live, one)


def test_a_stream_that_ends_in_the_batch_of_the_choice_says_so() -> None:
    X, y = rare(690)
    one = search(Rule(), {"k": [0, 1]}, metric="accuracy", tuning=650, batch_size=64)
    with pytest.raises(
        ValueError, match=r"tuning=650 rows, up to the end of a batch \(row 705\), "
    ):
        one.fit([(X, y)], classes=[0, 1])


def test_the_chosen_one_that_fails_is_an_error() -> None:
    X, y = rare(300)
    one = search(Rule(), {"k": [0], "at": [150]}, metric="accuracy", tuning=100)
    with pytest.raises(
        sk.ModelError, match=r"Model 'at=150, k=0' failed while training on row 149"
    ):
        one.fit(X, y)
    before = held_beside_engine(one)
    assert "49 rows after them" in str(one)
    assert np.isnan(one.honest_score_)
    assert np.isnan(one.honest_interval_).all()
    assert "has failed" in one.honest_interval_method_
    assert len(one.predict(X)) == 300
    assert held_beside_engine(one) == before
    live = clone(one).partial_fit(X[:120], y[:120], classes=[0, 1])
    for _ in range(2):
        with pytest.raises(sk.ModelError, match="row 149"):
            live.partial_fit(X[120:], y[120:])


def test_a_stream_that_ends_at_the_choice_is_told() -> None:
    with pytest.warns(UndefinedMetricWarning, match="no row is left for the honest score"):
        search(Rule(), {"k": [0]}, tuning=50).fit([rare(50)], classes=[0, 1])


def test_a_function_that_returns_one_iterator_loses_no_row() -> None:
    X, y = rare(90)
    chunks = [(X[k : k + 30], y[k : k + 30]) for k in range(0, 90, 30)]
    once = iter(chunks)
    with (
        parallel_config(backend="threading"),
        pytest.raises(ValueError, match="needs a stream that can be read again"),
    ):
        search(Rule(), {"k": [0, 1]}, n_jobs=2).fit(lambda: once, classes=[0, 1])
    with parallel_config(backend="threading"):
        result = sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(
            {"a": Rule(), "b": Rule("1")}, lambda: once, classes=[0, 1]
        )
        assert result.n_rows == 90
        again = search(Rule(), {"k": [0, 1]}, n_jobs=2).fit(lambda: iter(chunks), classes=[0, 1])
        assert again.result_.n_rows == 90


def test_ctrl_c_with_workers_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    one = search(n_jobs=2)
    monkeypatch.setattr(_execution, "why_one_process", lambda *_: "")
    monkeypatch.setattr("skstream.utils._sklearn.QuietParallel.__call__", interrupted)
    with (
        parallel_config(backend="threading"),
        pytest.raises(sk.EvaluationInterrupted, match="keeps no results of its workers") as caught,
    ):
        one.fit(*stream())
    assert "With n_jobs=None it keeps all" in str(caught.value)
    assert not hasattr(one, "best_params_")


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, member in vars(sk.PrequentialSearch).items()
        if isinstance(member, property) and name.endswith("_") and name[0] != "_"
    ),
)
def test_attributes_are_not_there_before_fit(name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(search(), name)


def test_odd_arguments_are_refused_in_words(tmp_path: Path) -> None:
    X, y = rare(50)
    with pytest.raises(TypeError, match=r"by texts\. Got 1 instead"):
        search(Rule(), {1: [2]}).fit(X, y)
    with pytest.raises(ValueError, match="which contains its own labels"):
        search(Rule(), {"k": [0]}).fit(sk.as_stream(X, y), y)
    with pytest.raises(ValueError, match="'n_jobs' parameter of PrequentialEvaluator"):
        search(Rule(), {"k": [0]}, n_jobs=0).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search(Rule(), {"k": [0, 1]}, n_iter=100).fit(X, y)
    assert ["Use n_iter=None" in str(one.message) for one in caught] == [True]


def test_what_is_printed_is_what_was_fitted() -> None:
    one = fitted(tuning=TUNING, metric="accuracy")
    printed = str(one)
    assert str(one.set_params(tuning=300, metric="kappa")) == printed


class Coin(ClassifierMixin, BaseEstimator):
    """Answers at random, with a part that is a function or nothing."""

    def __init__(self, a: int = 0, b: int = 0, part: Any = None, random_state: Any = None) -> None:
        self.a = a
        self.b = b
        self.part = part
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Coin":
        self.classes_ = np.array([0, 1])
        self.n_ = getattr(self, "n_", 0) + 1
        return self

    def predict(self, X: Any) -> Any:
        rng = np.random.default_rng([self.random_state, self.a, self.b, self.n_])
        return rng.integers(0, 2, len(X))


def test_a_candidate_is_evaluated_as_it_would_be_alone() -> None:
    X, y = rare(200)
    alone = sk.PrequentialEvaluator("accuracy", random_state=3).evaluate(Coin(a=1), X, y)
    grids: list[Any] = [
        {"a": [1]}, {"a": [2, 1]}, {"a": [1, 2], "b": [0, 1]}, {"a": [1], "part": [np.sin]},
        [{"a": [1]}, {"part": [repr, lambda x: x]}],
    ]  # fmt: skip
    for grid in grids:
        one = search(Coin(), grid, metric="accuracy", random_state=3).fit(X, y)
        scores = {
            score
            for score, params in zip(
                one.cv_results_["mean_test_score"], one.cv_results_["params"], strict=True
            )
            if params.get("a") == 1 and not params.get("b")
        }
        assert scores == {alone.scores["Coin"]["accuracy"]}


def test_names_are_the_same_in_every_process() -> None:
    class Part:
        def f(self) -> None:
            pass

    values = [np.sin, accuracy, lambda x: x, Part, Part(), Part().f, partial(accuracy, 1), {"b"}]
    names = candidates_of({"part": values}, None, 0).names
    assert not [name for name in names if "0x" in name]
    assert names[1] == "part=accuracy"
    assert names[-1] == "part={'b'}"


def test_a_class_as_a_value_is_refused_in_words() -> None:
    model = sk.make_stream_pipeline(StandardScaler(), SGDClassifier())
    with pytest.raises(
        TypeError, match=r"\['sgdclassifier'\] contains the class SGD.*SGDClassifier\("
    ):
        fitted(model, {"sgdclassifier": [SGDClassifier]})
    grid = {"k": [Rule, SGDClassifier]}  # where the model wants a class
    assert search(Rule(dict), grid).fit(*rare(50)).n_candidates_ == 2


def test_a_short_stream_of_workers_leaves_no_half_of_a_search(monkeypatch):
    monkeypatch.setattr(_execution, "why_one_process", lambda *_: "")
    X, y = rare(60)
    one = search(Rule(), {"k": [0, 1]}, metric="accuracy", tuning=100, n_jobs=2)
    with (
        parallel_config(backend="threading"),
        pytest.raises(ValueError, match="and the search keeps none of them") as caught,
    ):
        one.fit([(X, y)], classes=[0, 1])
    assert caught.value.result.model_names == ["k=0", "k=1"]  # type: ignore[attr-defined]
    with pytest.raises(NotFittedError):
        _ = one.cv_results_


def test_a_fit_that_is_refused_keeps_the_search_before_it() -> None:
    X, y = rare(100)
    one = search(Rule(), {"k": [0, 1]}, tuning=50).fit(X, y)
    before = held(one)
    for bad in (
        {"tuning": 1000},
        {"metric": "none"},
        {"param_grid": {"no": [1]}},
        {"evaluator": sk.PrequentialEvaluator(error_score=0.0)},
    ):
        good = {name: getattr(one, name) for name in bad}
        with pytest.raises(ValueError, match=r"\S"):
            one.set_params(**bad).fit(X, y)
        one.set_params(**good)
    with pytest.raises(ValueError, match="100 rows, but y has 99"):
        one.fit(X[:, [0, 0]], y[1:])
    assert held(one) == before


def test_a_search_goes_on_as_it_began(tmp_path: Path) -> None:
    X, y = rare(100)
    one = search(Rule(), {"k": [0, 1]}, tuning=50).partial_fit(X[:20], y[:20], classes=[0, 1])
    one = sk.load_run(one.save(tmp_path / "search"))
    one.set_params(refit=False, evaluator__n_jobs=2, tuning=int("50"))
    one.partial_fit(X[20:25], y[20:25])
    others = {
        "tuning": 60,
        "metric": "error",
        "param_grid": {"k": [0]},
        "evaluator__n_warmup": 2,
        "evaluator__forgetting": sk.FadingFactor(0.9),
    }
    for name, value in others.items():
        good = one.get_params()[name]
        with pytest.raises(ValueError, match=f"^{name} was .* when the search began"):
            one.set_params(**{name: value}).partial_fit(X[25:], y[25:])
        one.set_params(**{name: good})
    assert one.partial_fit(X[25:], y[25:]).run_.n_rows == 100


@pytest.mark.filterwarnings("ignore::skstream.model_selection.OptimisticScoreWarning")
def test_candidates_are_chosen_by_probabilities(rng):
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    grid = {"alpha": [1e-4, 1.0]}
    model = SGDClassifier(loss="log_loss", random_state=0)
    search = search_of(model, grid, metric="log_loss", tuning=80).fit(X, y)
    shares = {
        alpha: sk.prequential_predict(
            clone(model).set_params(alpha=alpha), X, y, method="predict_proba"
        )
        for alpha in grid["alpha"]
    }
    losses = {alpha: log_loss(y[1:80], share[:79]) for alpha, share in shares.items()}
    best = min(losses, key=losses.__getitem__)
    assert search.best_params_ == {"alpha": best}
    assert search.best_score_ == pytest.approx(losses[best])
    assert search.honest_score_ == pytest.approx(log_loss(y[80:], shares[best][79:]))
    assert " in [" in str(search)  # the interval, from the tape


def test_without_a_warmup_the_advice_is_one_of_a_search() -> None:
    X, y = stream()
    with pytest.raises(ValueError, match="A search starts every candidate unfitted") as error:
        search(SGDClassifier(), {"alpha": [0.1, 1.0]}, n_warmup=0).fit(X, y)
    assert "warm_start" not in str(error.value)


def test_candidates_without_what_the_measure_needs_end_the_search_before_the_first_row() -> None:
    X, y = stream(300)
    for losses in (["hinge", "log_loss"], ["log_loss", "hinge"]):
        one = search(SGDClassifier(), {"loss": losses}, metric="log_loss", tuning=100)
        with pytest.raises(ValueError, match=r"loss=hinge.* has no predict_proba"):
            one.fit(X, y)


def test_rows_without_an_error_have_no_interval_of_the_long_run() -> None:
    X, y = np.zeros((300, 1)), np.repeat([0, 1], [1, 299])
    one = search(IncrementalGaussianNB(), {"var_smoothing": [1e-9]}, metric="accuracy", tuning=50)
    one.fit(X, y)
    assert one.honest_score_ == 1.0
    assert np.isnan(one.long_run_interval_).all()


def test_an_evaluator_is_that_of_its_search_and_stays_as_it_was() -> None:
    X, y = stream(300)
    evaluator = sk.PrequentialEvaluator(forgetting="window:50", n_warmup=5, random_state=3)
    one = sk.PrequentialSearch(SGDClassifier(), GRID, evaluator=evaluator, tuning=100)
    assert one.get_params()["evaluator__n_warmup"] == 5
    copied = clone(one)
    assert copied.evaluator is not evaluator
    assert str(copied) == str(one)
    before = evaluator.get_params()
    assert one.fit(X, y).evaluator is evaluator
    assert evaluator.get_params() == before
    assert_same(copied.fit(X, y), one)
    assert one.result_.parameters["seed"] == 3
    assert one.result_.forgetting_names == ["window:50"]
    copied.set_params(evaluator__n_warmup=9).fit(X, y)
    assert (evaluator.n_warmup, copied.result_.parameters["n_warmup"]) == (5, 9)


def test_without_an_evaluator_a_search_has_the_default_one() -> None:
    one = sk.PrequentialSearch(SGDClassifier(random_state=0), GRID, tuning=100).fit(*stream(300))
    other = clone(one).set_params(evaluator=sk.PrequentialEvaluator()).fit(*stream(300))
    assert_same(one, other)
    assert one.result_.parameters | {"seed": 0} == other.result_.parameters | {"seed": 0}


REFUSED = {"metrics": "accuracy", "error_score": 0.0, "run__checkpoint": "run"}


@pytest.mark.parametrize(("name", "value"), REFUSED.items(), ids=list(REFUSED))
def test_settings_that_a_search_does_not_take_are_refused(name: str, value: Any) -> None:
    message = f"^The evaluator of a search has {name.removeprefix('run__')}="
    with pytest.raises(ValueError, match=message):
        search(**{name: value} if name != "error_score" else {}).set_params(
            **{f"evaluator__{name}": value}
        ).fit(*stream(200))


def test_every_setting_of_an_evaluator_is_taken_or_refused() -> None:
    taken = {
        *("forgetting", "n_warmup", "batch_size", "record_every", "missing_labels", "unanswered"),
        *("run", "random_state", "n_jobs", "progress"),
    }
    assert {*sk.PrequentialEvaluator().get_params()} == {*taken, *REFUSED} - {"run__checkpoint"}
    words = str(sk.PrequentialSearch.__doc__)
    assert [
        name for name in {*taken, *REFUSED} - {"run__checkpoint"} if f"`{name}`" not in words
    ] == []


@pytest.mark.parametrize("bad", [sk.KFoldEvaluator(), sk.PrequentialEvaluator, "prequential"])
def test_another_evaluator_is_refused(bad: Any) -> None:
    X, y = stream(50)
    one = sk.PrequentialSearch(SGDClassifier(), GRID, evaluator=bad)
    says = r"evaluator must be a PrequentialEvaluator, or None: .* Got .*\w instead"
    for call in (one.fit, partial(one.partial_fit, classes=["DOWN", "UP"])):
        with pytest.raises(TypeError, match=says):
            call(X, y)


def test_a_candidate_without_an_answer_may_be_wrong_instead_of_a_failure() -> None:
    X, y = rare(200)

    class Silent(Rule):
        def predict(self, X: Any) -> Any:
            answers = super().predict(X).astype(float)
            return np.where(X[:, 0] > 0.5, np.nan, answers)

    one = search(Silent(), {"k": [0, 1]}, metric="accuracy", unanswered="wrong", tuning=100)
    one.fit(X, y)
    right = Silent(k=one.best_params_["k"]).predict(X) == y
    assert one.honest_score_ == pytest.approx(right[100:].mean())
    failing = search(Silent(), {"k": [0, 1]}, metric="accuracy", tuning=100)
    with pytest.raises(ValueError, match="All 2 candidates failed"):
        failing.fit(X, y)


def test_a_candidate_without_an_error_is_not_behind_one_whose_kappa_is_defined() -> None:
    """Cohen's kappa of the right one is undefined: all labels and answers are of one class."""
    X, y = np.ones((100, 1)), np.zeros(100, dtype=int)
    one = search(Rule(), {"k": [1, 0]}, metric="kappa", tuning=60)
    with pytest.warns(UndefinedMetricWarning, match="kappa is undefined for the best candidate"):
        one.fit(X, y, classes=[0, 1])
    assert one.best_params_ == {"k": 0}
    assert one.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert "nan (undefined: accuracy and the order of the candidates decided)" in str(one)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_missing_label_among_texts_is_named_by_its_row(gap):
    labels = np.array(["yes", "no"] * 10, dtype=object)
    labels[7] = gap
    with pytest.raises(ValueError, match="Row 7 has no label"):
        sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [3, 5]}).fit(
            np.zeros((20, 1)), labels
        )
