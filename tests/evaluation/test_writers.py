"""Models that write into the rows, labels and weights they are given."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)

import skstream as sk
from skstream.streams import make_demo_stream

N = 60


class Writer(ClassifierMixin, BaseEstimator):
    """Overwrites whatever it is given, then answers with the first class."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is not None:
            self.classes_ = np.array(classes)
            classes[:] = classes[0]
        for given in (X, y, sample_weight):
            overwrite(given)
        return self

    def predict(self, X):
        n = X.shape[0]
        overwrite(X)
        return np.repeat(self.classes_[:1], n)


def overwrite(given):
    if sparse.issparse(given):
        given.data[:] = -7.0
    elif hasattr(given, "iloc"):
        given.iloc[:, 0] = -7.0
        given.to_numpy(copy=False)
    elif given is not None:
        given[:] = given.flat[0] if given.dtype.kind in "US" else -7.0


def in_place(X):
    X *= 2.0
    return X


TRANSFORMERS = [
    *(StandardScaler(copy=False), MinMaxScaler(copy=False), MaxAbsScaler(copy=False)),
    *(Normalizer(copy=False), Binarizer(copy=False)),
    SimpleImputer(strategy="constant", keep_empty_features=True, copy=False),
    FunctionTransformer(in_place),
]


@pytest.fixture
def rows():
    stream = make_demo_stream(N)
    return np.ascontiguousarray(stream.X), stream.y


def run(evaluator, models, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluator.evaluate(models, X, y, **more)


def models_with(writer):
    return {
        "writes": writer,
        "sgd": SGDClassifier(random_state=0),
        "scaled": sk.make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        "last": sk.Persistent(),
    }


@pytest.mark.parametrize(
    ("transformer", "engine"),
    [*((one, "auto") for one in TRANSFORMERS), *((one, "loop") for one in TRANSFORMERS[::6])],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_in_place_transformers_change_only_their_own_rows(transformer, engine, rows):
    X, y = rows
    before = X.copy()
    pipeline = sk.make_stream_pipeline(transformer, SGDClassifier(random_state=0))
    evaluator = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=engine == "auto"))
    together = run(evaluator, models_with(pipeline), X, y)
    np.testing.assert_array_equal(X, before)
    alone = run(evaluator, {k: m for k, m in models_with(None).items() if m is not None}, X, y)
    for name in alone.model_names:
        np.testing.assert_array_equal(together.tape.answers[name], alone.tape.answers[name])
    # The same as by hand, where each call gets rows of its own.
    if transformer.get_params().get("copy") is False:
        copying = clone(transformer).set_params(copy=True)
        twin = sk.make_stream_pipeline(copying, SGDClassifier(random_state=0))
        expected = sk.prequential_predict(twin, X, y, kernels=False)
        np.testing.assert_array_equal(together.predictions("writes", every_row=True)[1:], expected)


def laid_out(X, layout):
    if layout == "frame":
        return pytest.importorskip("pandas").DataFrame(X.copy(), copy=False)
    if layout == "sparse":
        return sparse.csr_array(X)
    return {
        "array": X.copy(),
        "columns first": np.asfortranarray(X),
        "backwards": X[:, ::-1].copy()[:, ::-1],
        "every second": np.repeat(X, 2, axis=1)[:, ::2],
    }[layout]


EVALUATORS = [
    sk.PrequentialEvaluator("accuracy"),
    sk.PrequentialEvaluator("accuracy", batch_size=N),
    sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0),
    sk.DelayedEvaluator("accuracy", delay=4, polling=sk.Polling(n_bins=2)),
]


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("layout", ["array", "columns first", "backwards", "sparse", "frame"])
def test_a_hostile_writer_changes_nothing_of_others(evaluator, layout, rows):
    n_jobs = 2 if layout in ("array", "frame") else 1
    X, y = laid_out(rows[0], layout), rows[1].copy()
    weight = np.ones(N)
    weight[5] = 2.0
    kept = [one.copy() for one in (X, y, weight)]
    plain = laid_out(rows[0], layout)
    evaluator = type(evaluator)(**{**evaluator.get_params(), "n_jobs": n_jobs, "error_score": 0.0})
    models = {"writes": Writer(), "sgd": SGDClassifier(random_state=0), "last": sk.Persistent()}
    if n_jobs == 2:
        models["loop"] = FunctionTransformerClassifier()
    together = run(evaluator, models, X, y, sample_weight=weight)
    for one, before in zip((X, y, weight), kept, strict=True):
        if sparse.issparse(one):
            assert (one != before).nnz == 0
        else:
            np.testing.assert_array_equal(np.asarray(one), np.asarray(before))
    alone = run(
        type(evaluator)(**{**evaluator.get_params(), "n_jobs": 1}),
        {"sgd": SGDClassifier(random_state=0), "last": sk.Persistent()},
        plain,
        rows[1],
        sample_weight=kept[2],
    )
    for name in alone.model_names:
        np.testing.assert_array_equal(together.tape.answers[name], alone.tape.answers[name])
    np.testing.assert_array_equal(together.tape.y, alone.tape.y)


class FunctionTransformerClassifier(Writer):
    """Another model without a kernel, so that workers are used."""


def test_a_refilled_buffer_is_copied_by_live_runs():
    stream = make_demo_stream(60)
    answers = {}
    for kind in ("new arrays", "buffer", "strided buffer"):
        run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2)).start(
            {"sgd": SGDClassifier(random_state=0), "keeps": Keeps()}, classes=["DOWN", "UP"]
        )
        buffer = np.empty((1, stream.X.shape[1]))
        if kind == "strided buffer":
            buffer = np.empty((1, 2 * stream.X.shape[1]))[:, ::2]
        said = []
        for t in range(60):
            row = stream.X[t : t + 1].copy()
            if kind != "new arrays":
                buffer[:] = row
                row = buffer
            said.append(run.ask(row, [t], t=t))
            if t >= 5:
                run.label([t - 5], stream.y[t - 5 : t - 4], t=t)
        answers[kind] = said
    for kind in ("buffer", "strided buffer"):
        assert str(answers[kind]) == str(answers["new arrays"])


class Keeps(ClassifierMixin, BaseEstimator):
    """Keeps the rows it was asked, without copying them, and answers by their sum."""

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        return self

    def predict(self, X):
        self.kept = [*getattr(self, "kept", []), X]
        return self.classes_[[int(sum(row.sum() for row in self.kept) > 0)] * len(X)]
