"""Models that fail in the middle, while others go on."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.kernels import registered_kernels
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.preprocessing import StreamImputer
from skstream.streams import as_stream, make_demo_stream
from tests.evaluation._models import Scripted, numbered_rows


class FailsAfter(ClassifierMixin, BaseEstimator):
    """Repeats the label learnt last, until it has learnt so many rows."""

    def __init__(self, n_rows=100):
        self.n_rows = n_rows

    def partial_fit(self, X, y, classes=None):
        self.classes_ = getattr(self, "classes_", classes)
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(y)
        self.newest_ = y[-1]
        return self

    fit = partial_fit

    def predict(self, X):
        if self.n_learnt_ > self.n_rows:
            raise RuntimeError("worn out")
        return np.full(len(X), self.newest_)


@pytest.fixture(scope="module")
def rows():
    stream = make_demo_stream(300)
    return stream.X, stream.y


@contextmanager
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def evaluate(evaluator, rows, chunk_size=300, **models):
    models = {"fails": FailsAfter(), "persistent": sk.Persistent(), **models}
    with quietly():
        return evaluator.evaluate(models, as_stream(*rows, chunk_size=chunk_size))


EVALUATORS = [
    sk.PrequentialEvaluator("accuracy", error_score=np.nan, random_state=0),
    sk.PrequentialEvaluator("accuracy", batch_size=20, error_score=np.nan, random_state=0),
    sk.KFoldEvaluator("accuracy", n_folds=3, error_score=np.nan, random_state=0),
    sk.DelayedEvaluator(
        "accuracy", delay=5, error_score=np.nan, random_state=0, polling=sk.Polling(n_bins=3)
    ),
]


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda evaluator: type(evaluator).__name__)
def test_a_failed_model_keeps_what_came_before_for_any_chunking(evaluator, rows):
    results = [evaluate(evaluator, rows, size) for size in (300, 7)]
    whole = evaluate(evaluator, rows, fails=FailsAfter(10**6))
    for result in results:
        assert list(result.failures) == list(result.failed_at) == ["fails"]
        answers, right = (one.tape.answers["fails"] for one in (result, whole))
        curve, all_of_it = (one.curve("fails", "accuracy") for one in (result, whole))
        for fold, n_valid in enumerate(result.failed_at["fails"]):
            assert 50 < n_valid < 300
            np.testing.assert_array_equal(answers[fold, :n_valid], right[fold, :n_valid])
            assert (answers[fold, n_valid:] == -1).all()
            before = result.checkpoints <= n_valid
            np.testing.assert_array_equal(curve[before, fold], all_of_it[before, fold])
            assert np.isnan(curve[~before, fold]).all()
        assert np.isnan(result.scores["fails"]["accuracy"])
    for name in ("fails", "persistent"):
        first, second = (result.tape.answers[name] for result in results)
        np.testing.assert_array_equal(first, second)


def test_a_kernel_that_declines_keeps_what_came_before(rows):
    X, y = rows[0].copy(), rows[1]
    X[150, 0] = np.nan
    evaluator = sk.PrequentialEvaluator("accuracy", error_score=np.nan, random_state=0)
    results = [
        evaluate(evaluator, (X, y), size, sgd=SGDClassifier(random_state=0)) for size in (300, 40)
    ]
    whole = sk.prequential_predict(SGDClassifier(random_state=0), X[:150], y[:150], classes=set(y))
    for result in results:
        assert "predicting row 150" in result.failures["sgd"]
        np.testing.assert_array_equal(result.predictions("sgd", every_row=True)[1:150], whole)
        assert (result.tape.answers["sgd"][0, 150:] == -1).all()


def test_rescoring_keeps_the_folds_that_did_not_fail(rows):
    evaluator = sk.KFoldEvaluator(
        "accuracy",
        n_folds=2,
        error_score=np.nan,
        random_state=0,
        missing_labels="skip",
        strategy="split",
    )
    X, y = rows
    y = y.astype(object)
    y[0:200:2] = None  # the first fold learns a third of what the second does
    result = evaluate(evaluator, (X, y))
    last = result.curve("fails", "accuracy")[-1]
    assert np.isnan(last).tolist() == [False, True]
    np.testing.assert_array_equal(result.rescore("accuracy").curve("fails", "accuracy")[-1], last)


def test_the_earliest_failure_ends_the_evaluation_for_any_chunking(rows):
    models = {"late": FailsAfter(120), "early": FailsAfter(50), "persistent": sk.Persistent()}
    for size in (300, 90, 7):
        with pytest.raises(sk.ModelError, match="'early' failed while predicting row 51") as caught:
            sk.PrequentialEvaluator("accuracy").evaluate(models, as_stream(*rows, chunk_size=size))
        assert (caught.value.model, caught.value.fold, caught.value.row) == ("early", 0, 51)
        result = caught.value.result
        assert list(result.failures) == ["early"] or size == 300
        assert result.failed_at["early"] == [51]
        assert result.n_rows >= 51


ANSWERS = [
    (["c"], r"row 20: its prediction is 'c', which is not among the classes: \['a', 'b'\]\."),
    ([3], r"row 20: its prediction is 3, which is not among .* Labels have the type int"),
    (
        ["a", "b"],
        r"row 20: predict of 1 row returned predictions of shape \(2,\); \(1,\) is needed",
    ),
    ([], r"row 20: predict of 1 row returned predictions of shape \(0,\)"),
    ([["a"]], r"row 20: predict of 1 row returned predictions of shape \(1, 1\)"),
    ("a", r"row 20: predict of 1 row returned predictions of shape \(\)"),
    ([{}], r"row 20: predict returned something else: .* is not a label"),
    ([None], r'row 20: its prediction was missing \(None or NaN\)\. Pass unanswered="wrong"'),
    ([np.nan], r"row 20: its prediction was missing"),
    (np.ma.array(["a"], mask=[True]), r"row 20: its prediction was missing"),
    (ZeroDivisionError("by nothing"), "row 20: ZeroDivisionError: by nothing"),
]


@pytest.mark.parametrize(("answer", "message"), ANSWERS)
@pytest.mark.parametrize("score", ["raise", np.nan])
def test_bad_answers_are_failures_of_their_row(answer, message, score):
    X, y = numbered_rows(60), np.array(["a", "b"] * 30)
    # A later failure of the same model, and of another kind, does not come first.
    model = Scripted(answers={20: answer, 31: ["c"]}, learning={22: RuntimeError("later")})
    evaluator = sk.PrequentialEvaluator("accuracy", error_score=score)
    models = {"m": model, "good": sk.Persistent()}
    if score == "raise":
        with pytest.raises(sk.ModelError, match=message) as caught:
            evaluator.evaluate(models, X, y)
        assert caught.value.row == 20
        return
    with quietly():
        result = evaluator.evaluate(models, X, y)
    assert result.failed_at == {"m": [20]}
    assert (result.tape.answers["m"][0, 1:20] == 0).all()
    assert result.scores["good"]["accuracy"] == 0.0


class Infinite(RegressorMixin, BaseEstimator):
    """Answers with one bad number."""

    def __init__(self, answer=np.inf, at=20):
        self.answer = answer
        self.at = at

    def partial_fit(self, X, y):
        self.n_ = getattr(self, "n_", 0) + len(y)
        return self

    def predict(self, X):
        return [self.answer if self.n_ == self.at else 0.5] * len(X)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.inf, "row 20: its prediction is inf; predictions must be finite"),
        (np.nan, r"row 20: its prediction was missing \(None or NaN\)\.$"),
        ("many", "row 20: predict returned something else: could not convert string"),
        ([1.0, 2.0], r"row 20: predict of 1 row returned predictions of shape \(1, 2\)"),
    ],
)
def test_bad_numbers_are_failures_of_their_row(answer, message):
    X, y = numbered_rows(40), np.linspace(0, 1, 40)
    with pytest.raises(sk.ModelError, match=message):
        sk.PrequentialEvaluator("mae").evaluate(Infinite(answer), X, y)
    with quietly():
        result = sk.PrequentialEvaluator("mae", error_score=np.nan).evaluate(
            {"bad": Infinite(answer), "good": sk.PersistentRegressor()}, X, y
        )
    assert result.failed_at == {"bad": [20]}
    assert result.scores["good"]["mae"] == pytest.approx(1 / 39)


class Unclonable(sk.Persistent):
    """Changes its parameter."""

    def __init__(self, size=1):
        self.size = size + 1


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda evaluator: type(evaluator).__name__)
def test_a_model_that_refuses_gaps_says_how_to_fill_them(evaluator, rows):
    X = rows[0].copy()
    X[50, 1] = np.nan
    wrapped = sk.make_stream_pipeline(StreamImputer(), SGDClassifier())
    result = evaluate(evaluator, (X, rows[1]), sgd=SGDClassifier(), wrapped=wrapped)
    assert "wrapped" not in result.failures
    assert result.failures["sgd"].endswith(
        "Input X contains NaN. To fill gaps first, wrap the model: "
        "make_stream_pipeline(StreamImputer(), model)."
    )


@pytest.mark.parametrize("columns", [["text"], ["text", "amount"], ["date", "amount"]])
def test_a_model_that_refuses_texts_and_dates_says_how_to_encode_them(columns, rows, pd):
    date = pd.to_datetime("2025-01-01")
    X = pd.DataFrame({"text": ["am", "pm"] * 150, "date": date, "amount": 1.0})
    result = evaluate(EVALUATORS[0], (X[columns], rows[1]), sgd=SGDClassifier())
    assert result.failures["sgd"].endswith(
        ". Encode texts and dates: make_stream_pipeline(make_stream_preprocessor(X[:500]), model)."
    )


def test_a_model_that_cannot_be_copied_is_named(rows):
    for error_score in ("raise", np.nan):
        with pytest.raises(
            sk.ModelError, match=r"'odd' failed while being copied: .*RuntimeError: Cannot"
        ):
            sk.PrequentialEvaluator(error_score=error_score).evaluate({"odd": Unclonable()}, *rows)
    with pytest.raises(sk.ModelError, match="'Unclonable' failed while being copied"):
        sk.prequential_predict(Unclonable(), *rows)


@pytest.fixture
def broken_kernel(monkeypatch):
    """A kernel of `Persistent` that breaks at a row."""

    def breaking(number):
        kernel = registered_kernels()[sk.Persistent]
        step = kernel.step

        def broken(self, state, block):
            after = step(self, state, block)
            if (block.learn_X[block.learn_index, 0] == number).any():
                raise ZeroDivisionError("in the kernel")
            return after

        monkeypatch.setattr(kernel, "step", broken)

    return breaking


@pytest.mark.parametrize("size", [60, 20, 1])
def test_a_kernel_that_breaks_leaves_its_rows_to_the_loop(broken_kernel, size):
    X, y = numbered_rows(60), np.array(["a", "b"] * 30)
    broken_kernel(33)
    stream = as_stream(X, y, chunk_size=size)
    evaluator = sk.PrequentialEvaluator("accuracy")
    result = evaluator.evaluate(sk.Persistent(), stream)
    assert "loop" in result.paths["Persistent"]
    np.testing.assert_array_equal(result.predictions("Persistent", every_row=True)[1:], y[:-1])


@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_a_kernel_of_too_few_answers_is_named(monkeypatch, error_score):
    X, y = numbered_rows(60), np.array(["a", "b"] * 30)
    kernel = registered_kernels()[sk.Persistent]
    step = kernel.step

    def short(self, state, block):
        after, answers = step(self, state, block)
        return after, answers[1:]

    monkeypatch.setattr(kernel, "step", short)
    evaluator = sk.PrequentialEvaluator("accuracy", error_score=error_score)
    models = {"mine": sk.Persistent(), "other": sk.MajorityClass()}
    wanted = (
        r"Model 'mine' failed while running its kernel: PersistentKernel.step returned array\(.* "
        r"an array with one answer per ask, in their order; here int64 of shape \(\d+,\)"
    )
    if error_score == "raise":
        with pytest.raises(sk.ModelError, match=wanted):
            evaluator.evaluate(models, as_stream(X, y))
        return
    with pytest.warns(FitFailedWarning, match=wanted):
        result = evaluator.evaluate(models, as_stream(X, y))
    assert np.isnan(result.scores["mine"]["accuracy"])
    assert result.scores["other"]["accuracy"] > 0


def test_a_kernel_that_cannot_be_made_leaves_the_model_to_the_loop(monkeypatch):
    X, y = numbered_rows(60), np.array(["a", "b"] * 30)

    def refusal(estimator, task):
        raise ZeroDivisionError("in the kernel")

    monkeypatch.setattr(registered_kernels()[sk.Persistent], "refusal", refusal)
    result = sk.PrequentialEvaluator("accuracy").evaluate(sk.Persistent(), X, y)
    assert result.paths["Persistent"].startswith("loop")


def test_colliding_names_of_columns_are_named(rows, pd):
    label = f"previous_label_1={rows[1][0]}"
    X = pd.DataFrame(rows[0], columns=["a", "b", "c", label])
    model = sk.TemporallyAugmented(IncrementalGaussianNB())
    with pytest.raises(sk.ModelError, match=rf"failed while .* row 0: .*{label}.* Rename them"):
        sk.PrequentialEvaluator("accuracy").evaluate(model, X, rows[1])


@pytest.mark.parametrize("model", [SGDClassifier(), sk.make_stream_pipeline(SGDClassifier())])
def test_a_fitted_model_that_lacks_a_class_is_refused_at_the_start(model):
    rows, labels = np.arange(12.0).reshape(-1, 1), np.arange(12) % 3
    model.partial_fit(rows[:4], labels[:4] % 2, classes=[0, 1])
    evaluator = sk.PrequentialEvaluator("accuracy")
    message = r"Model 'm' was fitted .* classes \[0, 1\], and cannot be trained on \[2\]"
    with pytest.raises(ValueError, match=message):
        evaluator.evaluate({"m": model}, rows, labels, warm_start=True)
    with pytest.raises(ValueError, match=message):
        evaluator.start({"m": model}, classes=[0, 1, 2], warm_start=True)
    frozen = FrozenEstimator(model)
    assert evaluator.evaluate({"m": frozen}, rows, labels, warm_start=True).n_rows == 12


def result_so_far(evaluator, models, X, y, chunk_size, classes=None):
    with pytest.raises(sk.ModelError) as caught:
        evaluator.evaluate(models, as_stream(X, y, chunk_size=chunk_size), classes=classes)
    return caught.value.result


@pytest.mark.parametrize(
    "evaluator", [*EVALUATORS, sk.HoldoutEvaluator("accuracy", holdout="next", every=5)]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_at_the_first_row_leaves_no_result(evaluator, n_jobs):
    X, y = numbered_rows(20), np.array(["a", "b"] * 10)
    evaluator = clone(evaluator).set_params(error_score="raise", n_jobs=n_jobs)
    models = {name: Scripted(learning={0: RuntimeError("out of paper")}) for name in "ab"}
    with parallel_config("threading"):
        assert result_so_far(evaluator, models, X, y, 20) is None


class Lists(ClassifierMixin, BaseEstimator):
    """Answers with a list that holds the label learnt last."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.classes_ = getattr(self, "classes_", classes)
        self.newest_ = y[-1]
        return self

    def predict(self, X):
        return [self.newest_] * len(X)


def test_labels_that_end_in_nul_are_not_taken_for_others(tmp_path):
    y = ["a", "a\0"] * 5 + ["a\0", "a"] * 5
    X = numbered_rows(20)
    models = {
        "lists": Lists(),
        "piped": sk.make_stream_pipeline(StandardScaler(), Lists()),
        "last": sk.Persistent(),
    }
    result = sk.PrequentialEvaluator("accuracy").evaluate(models, X, y)
    for name in models:
        assert result.predictions(name, every_row=True).tolist()[1:] == y[:-1]
        assert result.scores[name]["accuracy"] == pytest.approx(1 / 19)
    with pytest.raises(ValueError, match=r"label 'a\\x00' ends in NUL, which would be lost"):
        result.save(tmp_path / "result.npz")
    # Of bytes, which no model of scikit-learn takes, too.
    y = [label.encode() for label in y]
    result = sk.PrequentialEvaluator("accuracy").evaluate(Lists(), X, y)
    assert result.predictions("Lists", every_row=True).tolist()[1:] == y[:-1]


def test_estimators_keep_labels_that_end_in_nul():
    y = ["a", "a\0"]
    X = numbered_rows(2)
    model = sk.Persistent().partial_fit(X, y, classes=y)
    assert model.partial_fit(X, y, classes=y).classes_.tolist() == y
    assert model.predict(X[:1]).tolist() == ["a\0"]
    piped = sk.make_stream_pipeline(StandardScaler(), Lists()).partial_fit(X, y, classes=y)
    assert piped.predict(X[:1]).tolist() == ["a\0"]


# -- the last steps: copying, pickling, measuring and saving models never cost scores


class GrowsDeep(FailsAfter):
    """Holds a chain of lists, as a tree does whose branches are all on one side."""

    def partial_fit(self, X, y, classes=None):
        for _ in range(30 * len(y)):
            self.chain_ = [getattr(self, "chain_", None)]
        return super().partial_fit(X, y, classes)


class NotCopied(FailsAfter):
    """Raises where it is copied or pickled after it has learnt."""

    def __getstate__(self):
        if hasattr(self, "newest_"):
            raise NotImplementedError("its memory is elsewhere")
        return super().__getstate__()


class NotLoaded(FailsAfter):
    """Raises where a worker has sent it back."""

    def __setstate__(self, state):
        if "newest_" in state:
            raise OSError("its file is on another machine")
        super().__setstate__(state)


LAST_STEPS = [GrowsDeep, NotCopied, NotLoaded]
RETURNING = [
    sk.PrequentialEvaluator("accuracy", random_state=0),
    sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0),
    sk.DelayedEvaluator("accuracy", delay=5, random_state=0, polling=sk.Polling(n_bins=2)),
    sk.HoldoutEvaluator("accuracy", holdout="next", every=50, random_state=0),
]


@pytest.mark.parametrize("kind", LAST_STEPS)
@pytest.mark.parametrize("evaluator", RETURNING, ids=lambda one: type(one).__name__)
def test_a_model_that_cannot_be_copied_is_returned_as_it_is(evaluator, kind, rows):
    models = {"odd": kind(1000), "persistent": sk.Persistent()}
    result = evaluator.evaluate(models, *rows, return_models=True)
    like = evaluator.evaluate({"odd": FailsAfter(1000), "persistent": sk.Persistent()}, *rows)
    assert result.scores == like.scores if result.bins is None else True
    for name, of_folds in result.models.items():
        models = of_folds if isinstance(of_folds, list) else [of_folds]
        assert all(hasattr(one, "classes_") for one in models), name


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.parametrize("kind", LAST_STEPS)
def test_scores_come_back_from_workers_without_a_model_that_cannot(kind, backend, rows):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    models = {"odd": kind(1000), "looped": FailsAfter(1000)}
    here = evaluator.evaluate(models, *rows, return_models=True)
    parallel = evaluator.set_params(n_jobs=2)
    with parallel_config(backend=backend), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        there = parallel.evaluate(models, *rows, return_models=True)
    said = [str(one.message) for one in caught if "cannot be returned" in str(one.message)]
    assert there.scores == here.scores
    assert there.models["looped"].newest_ == here.models["looped"].newest_
    assert (there.models["odd"] is None) == (backend != "threading") == bool(said)
    if said:
        (words,) = said
        assert words.startswith("Model 'odd' cannot be returned (")
        assert "Its scores are complete" in words


def test_a_live_run_gives_its_scores_without_a_model_that_cannot_be_copied(rows):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    run = evaluator.start(
        {"odd": GrowsDeep(1000), "last": sk.Persistent()},
        classes=["DOWN", "UP"],
        return_models=True,
    )
    X, y = rows
    run.update(X[:200], y[:200])
    with pytest.warns(UserWarning, match="Model 'odd' cannot be returned"):
        so_far = run.result()
    assert so_far.models["odd"] is None and so_far.models["last"] is not None
    run.update(X[200:], y[200:])
    assert run.n_rows == 300


def test_a_kernel_that_cannot_write_its_model_costs_no_scores(rows, monkeypatch):
    from skstream.kernels.baselines import MajorityClassKernel

    models = {"majority": sk.MajorityClass(), "persistent": sk.Persistent()}
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    whole = evaluator.evaluate(models, *rows, return_models=True)
    monkeypatch.setattr(MajorityClassKernel, "export", lambda *_: 1 / 0)
    monkeypatch.setattr("skstream.core.run.run._FIRST_MEASURED", 64)  # in the run, too
    with pytest.warns(UserWarning) as caught:
        result = evaluator.evaluate(models, *rows, return_models=True)
    assert result.scores == whole.scores
    assert result.models["majority"] is None and result.models["persistent"] is not None
    assert np.isnan(result.costs["majority"].size)
    words = [str(one.message) for one in caught]
    assert any("MajorityClassKernel.export" in one and "size is not known" in one for one in words)
    assert any("Model 'majority' cannot be returned" in one for one in words)


def test_a_model_that_cannot_be_saved_any_more_is_evaluated_to_the_end(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(sk.RunOptions, "seconds", 0.0)
    folder = tmp_path / "run"
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0, run=folder)
    models = {"odd": GrowsDeep(1000), "persistent": sk.Persistent()}
    with pytest.warns(UserWarning, match="the earlier checkpoint is kept"):
        result = evaluator.evaluate(models, *rows)
    plain = evaluator.set_params(run__checkpoint=None).evaluate(models, *rows)
    assert result.scores == plain.scores
