"""Warm-ups of models that need several rows first: learnt in one call, however the rows come."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.core.rows.chunk import Chunk
from tests._data import data_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
SGD = SGDClassifier(random_state=0)
N = 20

MODELS = {
    "pca": sk.make_stream_pipeline(StandardScaler(), IncrementalPCA(3), SGD),
    "means": sk.make_stream_pipeline(MiniBatchKMeans(5, random_state=0, n_init=1), SGD),
}


def by_hand(model, rows, labels, weight=None):
    """Learn the warm-up in one call, then go row by row."""
    classes, answers = np.unique(labels), []
    w = {} if weight is None else {"sample_weight": weight[:N]}
    model.partial_fit(rows[:N], labels[:N], classes=classes, **w)
    for row in range(N, len(labels)):
        answers.append(model.predict(rows[[row]])[0])
        w = {} if weight is None else {"sample_weight": weight[[row]]}
        model.partial_fit(rows[[row]], labels[[row]], **w)
    return np.array(answers)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cuts", [[80], [1] * 80, [7, 14, 59]])
def test_the_warmup_is_learnt_in_one_call_whatever_the_chunks(name, cuts) -> None:
    ends = np.cumsum(cuts)
    chunks = [(X[end - n : end], Y[end - n : end]) for n, end in zip(cuts, ends, strict=True)]
    expected = by_hand(clone(MODELS[name]), X, Y)
    options = {"n_warmup": N, "kernels": len(cuts) > 1, "random_state": None}
    answers = sk.prequential_predict(MODELS[name], chunks, classes=["down", "up"], **options)
    np.testing.assert_array_equal(answers, expected)


def test_a_run_saved_within_the_warmup_goes_on(tmp_path) -> None:
    evaluator = sk.PrequentialEvaluator("accuracy", n_warmup=N, random_state=0)
    expected = evaluator.evaluate(MODELS["pca"], X, Y).scores
    run = evaluator.start(MODELS["pca"], classes=["down", "up"])
    run.update(X[:7], Y[:7])
    run = sk.load_run(run.save(tmp_path / "run"))
    run.update(X[7:], Y[7:])
    run.close()
    assert run.result().scores == expected


@pytest.mark.parametrize("cuts", [[80], [1] * 80])
def test_failures_name_the_rows_of_the_call(cuts) -> None:
    bad = X.copy()
    bad[4, 1] = np.nan
    ends = np.cumsum(cuts)
    chunks = [(bad[end - n : end], Y[end - n : end]) for n, end in zip(cuts, ends, strict=True)]
    options = {"classes": ["down", "up"], "n_warmup": N}
    with pytest.raises(
        sk.ModelError, match=r"training on rows 0 to 19 \(row 4 is not finite\)"
    ) as e:
        sk.prequential_predict(MODELS["means"], chunks, **options)
    assert e.value.row == 4
    steady = sk.make_stream_pipeline(StandardScaler(), SGD)
    with pytest.raises(sk.ModelError, match="training on row 4:"):
        sk.prequential_predict(steady, chunks, **options)


class LateServer(ClassifierMixin, BaseEstimator):
    """Cannot learn while its server is away."""

    away = False

    def partial_fit(self, X, y, classes=None):
        if LateServer.away:
            raise OSError("the server is away")
        self.classes_ = np.array([0, 1])
        self.seen_ = [*getattr(self, "seen_", []), len(y)]
        return self

    def predict(self, X):
        return np.full(len(X), sum(self.seen_) % 2)


@pytest.mark.parametrize("size", [1, 4])
def test_a_warmup_that_failed_ends_the_run_and_a_saved_one_goes_on(size, tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", n_warmup=3, run=sk.RunOptions(keep_tape=True))
    run, path = (
        evaluator.start({"m": LateServer()}, classes=[0, 1], return_models=True),
        tmp_path / "run",
    )
    rows, labels = np.ones((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    LateServer.away = True
    try:
        with pytest.raises(
            sk.ModelError, match="training on rows 0 to 2: OSError: the server is away"
        ):
            for i in range(0, 6, size):
                begin = i
                run.save(path)
                run.update(rows[i : i + size], labels[i : i + size])
        with pytest.raises(RuntimeError, match="cannot continue"):
            run.save(path)
    finally:
        LateServer.away = False
    run = sk.load_run(path)
    for i in range(begin, 6, size):
        run.update(rows[i : i + size], labels[i : i + size])
    result = run.result()
    assert result.tape.answers["m"][0].tolist() == [-1, -1, -1, 1, 0, 1]
    assert sum(result.models["m"].seen_) == 6


EVERY_PROTOCOL = [
    sk.PrequentialEvaluator(),
    sk.PrequentialEvaluator(batch_size=4),
    sk.KFoldEvaluator(n_folds=2, strategy="split"),
    sk.HoldoutEvaluator(holdout="next", every=5),
    sk.DelayedEvaluator(delay=7, polling=sk.Polling(n_bins=3, poll_every=2)),
]


@pytest.mark.parametrize("evaluator", EVERY_PROTOCOL, ids=lambda e: f"{e.protocol}-{e.batch_size}")
def test_without_a_warm_up_fitted_models_and_baselines_answer_every_row(evaluator, rng):
    X, y = rng.random((40, 2)), np.array(["a", "b"])[rng.integers(0, 2, 40)]
    models = {
        "sgd": SGDClassifier(random_state=0).partial_fit(X[:9], y[:9], classes=["a", "b"]),
        "last": sk.Persistent(),
        "window": sk.MajorityWindow(5),
        "majority": sk.MajorityClass(),
    }
    options = {"n_warmup": 0, "random_state": 0, "metrics": ["accuracy"]}
    evaluator = clone(evaluator).set_params(**options)
    whole = evaluator.evaluate(models, X, y, warm_start=True)
    assert sorted(whole.tape.answers) == sorted(models)
    for answers in whole.tape.answers.values():
        asked = answers >= 0
        assert asked.all() or evaluator.protocol.startswith("k-fold")
    if evaluator.protocol in ("prequential", "delayed"):
        assert whole.n_rows == 40
        first = {name: whole.tape.answers[name].reshape(40, -1)[0, 0] for name in models}
        assert (first["last"], first["majority"], first["window"]) == (0, 0, 0)  # the lowest class
        assert whole.classes[first["sgd"]] == models["sgd"].predict(X[:1])[0]
        with pytest.raises(ValueError, match="'sgd' is untrained, but n_warmup=0"):
            evaluator.evaluate(models, X, y)

    def equal(other):
        for name in models:
            np.testing.assert_array_equal(other.tape.answers[name], whole.tape.answers[name])
        return other.scores == whole.scores

    loop = clone(evaluator).set_params(run__kernels=False)
    assert equal(loop.evaluate(models, X, y, warm_start=True))
    pieces = [(X[k : k + 3], y[k : k + 3]) for k in range(0, 40, 3)]
    chunks = clone(evaluator).set_params(run__keep_tape=True)
    assert equal(chunks.evaluate(models, pieces, classes=["a", "b"], warm_start=True))
    run = chunks.start(models, classes=["a", "b"], warm_start=True)
    for k, piece in enumerate(pieces):
        run = pickle.loads(pickle.dumps(run)) if k in (0, 1, 7) else run
        run.feed(Chunk.of(*piece, {}))
    assert equal(run.close().result())


def test_a_search_without_a_warm_up():
    y = np.tile(["a", "b"], 20)
    at_once = sk.PrequentialEvaluator(n_warmup=0)
    search = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [1, 2]}, evaluator=at_once)
    search.fit(np.zeros((40, 1)), y)
    assert search.result_.n_rows == 40
    assert search.best_params_ == {"window_size": 2}  # a, a, then ties, which are a
    with pytest.raises(ValueError, match="'alpha=1' is untrained, but n_warmup=0"):
        sk.PrequentialSearch(SGDClassifier(), {"alpha": [1]}, evaluator=at_once).fit(X, Y)


def test_the_first_answer_of_baselines_in_every_kind_of_score():
    X, y, targets = np.zeros((6, 1)), np.array(list("bcabca")), np.arange(6.0) + 1
    evaluator = sk.PrequentialEvaluator("log_loss", n_warmup=0, run=sk.RunOptions(keep_tape=True))
    result = evaluator.evaluate([sk.Persistent(), sk.MajorityClass()], X, y)
    assert result.predictions("Persistent", every_row=True).tolist() == [
        *("a", "b", "c", "a", "b", "c")
    ]
    assert result.tape.probabilities("MajorityClass")[0].tolist() == [1 / 3] * 3
    proba = sk.prequential_predict(sk.MajorityClass(), X, y, n_warmup=0, method="predict_proba")
    np.testing.assert_array_equal(proba, result.tape.probabilities("MajorityClass"))
    for model, answers in (
        (sk.PersistentRegressor(), [0, 1, 2]),
        (sk.MeanRegressor(), [0, 1, 1.5]),
    ):
        assert sk.prequential_predict(model, X, targets, n_warmup=0)[:3].tolist() == answers
    with pytest.raises(ValueError, match="'RandomClass' is untrained"):
        sk.prequential_predict(sk.RandomClass(), X, y, n_warmup=0)
    with pytest.raises(NotFittedError):
        sk.Persistent().predict(X)


def test_rows_asked_before_the_first_label_count_as_in_the_tables_of_the_paper(pd):
    labels = pd.read_parquet(data_path("covertype_labels"))["class"].to_numpy()[:24500]
    targets = pd.read_parquet(data_path("bike_sharing_hour"))["cnt"].to_numpy(dtype=float)
    cases = [
        ("accuracy", labels, 1000, sk.Persistent(), (0.3420, 0.7051)),
        ("accuracy", labels, 1000, sk.MajorityClass(), (0.3116, 0.3962)),
        ("mae", targets, 168, sk.MeanRegressor(), (132.30, 131.80)),
    ]
    for metric, y, delay, model, printed in cases:
        evaluator = sk.DelayedEvaluator(
            metric,
            delay=delay,
            n_warmup=0,
            run=sk.RunOptions(keep_tape=False),
            polling=sk.Polling(n_bins=1, poll_every=None),
        )
        result = evaluator.evaluate(model, np.zeros((len(y), 1)), y)
        values = result.by_bin(type(model).__name__)[[0, -1]]
        np.testing.assert_array_equal(values.round(4 if metric == "accuracy" else 2), printed)
