"""Temporal meta-classifiers against a literal reading of their definitions."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

from skstream import ModelError, PrequentialEvaluator, RunOptions, prequential_predict
from skstream.base import asks_row_by_row
from skstream.noise import LabelNoise
from skstream.pipeline import make_stream_pipeline
from skstream.streams import make_demo_stream
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from tests._examples import examples

LABELS = np.array(["b", "c", "a"])
SORTED = np.sort(LABELS)


class Scripted(ClassifierMixin, BaseEstimator):
    """Answers what the first column says, and writes down what it is taught."""

    def fit(self, X, y):
        return self.partial_fit(X, y, classes=np.unique(y))

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes)
        self.lessons_ = [*getattr(self, "lessons_", []), *zip(X.tolist(), list(y), strict=True)]
        return self

    def predict_proba(self, X):
        favour = np.asarray(X)[:, 0].astype(int) % len(self.classes_)
        P = np.full((len(X), len(self.classes_)), 0.1)
        P[np.arange(len(X)), favour] += 1 - P[0].sum()
        return P

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class LiteralCorrection:
    """P(i | x, j) ∝ P(i | j) / P(i) · P(i | x), from a list of everything that was learnt."""

    def __init__(self, fading_factor: float, smoothing: float):
        self.alpha, self.s = fading_factor, smoothing
        self.rows: list[tuple[str, float]] = []

    def learn(self, label: str, weight: float) -> None:
        if weight > 0:
            self.rows.append((label, weight))

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        N, T = np.zeros(3), np.zeros((3, 3))
        code = {label: i for i, label in enumerate(SORTED)}
        for age, (label, weight) in enumerate(reversed(self.rows)):
            N[code[label]] += weight * self.alpha**age
            before = len(self.rows) - age - 2
            if before >= 0:
                T[code[self.rows[before][0]], code[label]] += weight * self.alpha**age
        return N, T

    def correct(self, posterior: np.ndarray, previous: str | None) -> np.ndarray:
        if previous is None:
            return posterior
        N, T = self.counts()
        j, k, s = list(SORTED).index(previous), len(N), self.s
        p = (N + s) / (N.sum() + k * s)
        p_given = (T[j] + s) / (T[j].sum() + k * s)
        corrected = p_given / p * posterior
        return corrected / corrected.sum()


streams = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(LABELS.tolist()), st.integers(0, 2)),
    min_size=1,
    max_size=25,
).filter(lambda rows: rows[0][2] > 0)


@given(
    rows=streams,
    fading_factor=st.sampled_from([1.0, 0.9, 0.3]),
    smoothing=st.sampled_from([1.0, 0.01, 5.0]),
    previous_label=st.sampled_from(["known", "predicted"]),
)
@examples(60)
def test_correction_is_the_definition(rows, fading_factor, smoothing, previous_label) -> None:
    literal = LiteralCorrection(fading_factor, smoothing)
    model = TemporalCorrection(
        Scripted(), fading_factor=fading_factor, smoothing=smoothing, previous_label=previous_label
    )
    asked = np.array([[0.0], [1.0], [2.0], [0.0]])
    known: dict[str, Any] = {"classes": LABELS}
    for x, label, weight in rows:
        model.partial_fit(np.array([[float(x)]]), [label], sample_weight=[weight], **known)
        known = {}
        literal.learn(label, weight)
        previous = literal.rows[-1][0]
        for P, posterior in zip(
            model.predict_proba(asked), model.estimator_.predict_proba(asked), strict=True
        ):
            expected = literal.correct(posterior, previous)
            np.testing.assert_allclose(P, expected, rtol=1e-12)
            if previous_label == "predicted":
                second, best = np.sort(expected)[-2:]
                if best - second < 1e-9:
                    break  # the last digits decide which label is taken for the next row
                previous = SORTED[expected.argmax()]
    N, T = literal.counts()
    np.testing.assert_allclose(model.class_counts_, N, rtol=1e-12)
    np.testing.assert_allclose(model.transition_counts_, T, rtol=1e-12)
    assert model.previous_labels_.tolist() == [literal.rows[-1][0]]


@given(
    rows=streams,
    n_lags=st.integers(0, 4),
    encoding=st.sampled_from(["onehot", "ordinal"]),
    n_calls=st.integers(1, 4),
)
@examples(60)
def test_augmentation_is_the_definition(rows, n_lags, encoding, n_calls) -> None:
    def encoded(past: list[str]) -> list[float]:
        lags = [*reversed(past), *[None] * n_lags][:n_lags]
        if encoding == "ordinal":
            return [3 if lag is None else SORTED.tolist().index(lag) for lag in lags]
        # a missing label has no column of its own: all of the lag's are 0
        return [float(lag == level) for lag in lags for level in SORTED]

    model = TemporallyAugmented(Scripted(), n_lags=n_lags, encoding=encoding)
    X = np.array([[float(x)] for x, _, _ in rows])
    y = [label for _, label, _ in rows]
    weight = [float(w > 0) for _, _, w in rows]
    bounds = np.linspace(0, len(rows), n_calls + 1).astype(int)
    for begin, end in itertools.pairwise(bounds):
        if begin < end:
            piece = slice(begin, end)
            model.partial_fit(X[piece], y[piece], classes=LABELS, sample_weight=weight[piece])
    expected, past = [], []
    for x, label, w in rows:
        if w:
            expected.append(([float(x), *encoded(past)], label))
            past.append(label)
    assert model.estimator_.lessons_ == expected
    assert model.previous_labels_.tolist() == list(reversed(past))[:n_lags]


def test_augmented_questions_in_both_modes() -> None:
    class Follower(Scripted):
        """Answers the class after the previous label, and writes nothing down."""

        def predict_proba(self, X):
            codes = np.asarray(X)[:, 1:4].argmax(axis=1)
            return np.eye(3)[(codes + 1) % 3]

    X, y = np.zeros((4, 1)), ["a", "b", "c", "a"]
    known = TemporallyAugmented(Follower()).fit(X, y)
    predicted = TemporallyAugmented(Follower(), previous_label="predicted").fit(X, y)
    assert known.predict(X).tolist() == ["b", "b", "b", "b"]
    assert predicted.predict(X).tolist() == ["b", "c", "a", "b"]
    np.testing.assert_array_equal(predicted.predict_proba(X), np.eye(3)[[1, 2, 0, 1]])
    # One row per call: both modes agree.
    assert [predicted.predict(X[[i]])[0] for i in range(4)] == known.predict(X).tolist()
    assert asks_row_by_row(predicted) and not asks_row_by_row(known)


def test_probabilities_sum_to_one_in_an_exact_world(rng: np.random.Generator) -> None:
    # The printed expression, not normalised, reaches 1.9 there.
    y = np.repeat(rng.integers(0, 2, 200), 5)
    X = np.eye(2)[np.where(rng.random(1000) < 0.8, y, 1 - y)]
    model = TemporalCorrection(MultinomialNB()).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@given(
    n=st.integers(2, 30),
    cut=st.integers(0, 30),
    seed=st.integers(0, 1000),
    weighted=st.booleans(),
    fading_factor=st.sampled_from([1.0, 0.9, 0.123]),
)
@examples(30)
def test_cutting_a_call_changes_no_bit(n, cut, seed, weighted, fading_factor) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 9, (n, 2)).astype(float), rng.integers(0, 3, n)
    weight = rng.random(n) if weighted else np.ones(n)
    for model in (
        TemporalCorrection(MultinomialNB(), fading_factor=fading_factor),
        TemporallyAugmented(MultinomialNB(), n_lags=3),
    ):
        whole, parts = clone(model), clone(model)
        whole.partial_fit(X, y, classes=[0, 1, 2], sample_weight=weight)
        for piece in (slice(0, cut), slice(cut, n)):
            if len(y[piece]):
                parts.partial_fit(
                    X[piece], y[piece], classes=[0, 1, 2], sample_weight=weight[piece]
                )
        for name in ("class_counts_", "transition_counts_", "previous_labels_"):
            if hasattr(whole, name):
                np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


class TestContainers:
    y = np.array(["UP", "DOWN", "UP"])
    columns = ("previous_label_1=DOWN", "previous_label_1=UP")

    @pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
    @pytest.mark.parametrize("encoding", ["onehot", "ordinal"])
    def test_sparse(self, kind, encoding) -> None:
        X = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]], dtype=np.float32)
        dense = TemporallyAugmented(MultinomialNB(), encoding=encoding).fit(X, self.y)
        thin = TemporallyAugmented(MultinomialNB(), encoding=encoding).fit(kind(X), self.y)
        np.testing.assert_array_equal(
            dense.estimator_.feature_count_, thin.estimator_.feature_count_
        )
        np.testing.assert_array_equal(dense.predict_proba(X), thin.predict_proba(kind(X)))

    @pytest.mark.parametrize("kind", ["pandas", "polars"])
    def test_frames(self, kind) -> None:
        frames = pytest.importorskip(kind)
        X = frames.DataFrame({"x": [1.0, 2.0, 3.0], "z": [1, 2, 3]})
        model = TemporallyAugmented(MultinomialNB()).fit(X, frames.Series(self.y.tolist()))
        assert model.feature_names_in_.tolist() == ["x", "z"]
        assert model.estimator_.feature_names_in_.tolist() == ["x", "z", *self.columns]
        counts = model.estimator_.feature_count_
        arrays = TemporallyAugmented(MultinomialNB()).fit(X.to_numpy(), self.y)
        np.testing.assert_array_equal(counts, arrays.estimator_.feature_count_)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(
                model.predict_proba(X[1:]), arrays.predict_proba(X.to_numpy()[1:])
            )
        ordinal = TemporallyAugmented(MultinomialNB(), encoding="ordinal", n_lags=2).fit(X, self.y)
        assert ordinal.estimator_.feature_names_in_.tolist() == [
            "x",
            "z",
            "previous_label_1",
            "previous_label_2",
        ]
        taken = type(X)({self.columns[0]: [1.0, 2.0, 3.0]})
        with pytest.raises(ValueError, match="already has columns named"):
            TemporallyAugmented(MultinomialNB()).fit(taken, self.y)

    def test_frames_in_nested_wrappers(self, pd: Any) -> None:
        X = pd.DataFrame(np.ones((3, 2)), columns=["x", "z"])
        inside = make_stream_pipeline(TemporallyAugmented(MultinomialNB()))
        model = TemporallyAugmented(TemporallyAugmented(inside, encoding="ordinal")).fit(X, self.y)
        model.predict(X)
        innermost = model.estimator_.estimator_.pipeline_[-1].estimator_
        assert innermost.feature_names_in_.tolist() == [
            *("x", "z"),
            *("outer_outer_previous_label_1=DOWN", "outer_outer_previous_label_1=UP"),
            "outer_previous_label_1",
            *self.columns,
        ]

    def test_nominal_columns_of_a_frame_stay_nominal(self, pd: Any) -> None:
        class Looks(Scripted):
            def partial_fit(self, X, y, classes=None):
                self.dtypes_ = X.dtypes
                self.classes_ = np.unique(["UP", "DOWN"])
                return self

        X = pd.DataFrame({"day": pd.Categorical(["mo", "tu", "mo"]), "x": [1.0, 2.0, 3.0]})
        model = TemporallyAugmented(Looks()).fit(X, self.y)
        assert model.estimator_.dtypes_["day"] == X.dtypes["day"]

    def test_texts_may_be_corrected_but_not_extended(self) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        model = make_stream_pipeline(
            HashingVectorizer(n_features=16, alternate_sign=False), MultinomialNB()
        )
        texts = np.array(["up we go", "down", "up"])
        corrected = TemporalCorrection(model).fit(texts, self.y)
        assert corrected.predict(["up up"]).tolist() == ["UP"]
        with pytest.raises(ValueError, match="TemporallyAugmented needs rows with columns"):
            TemporallyAugmented(model).fit(texts, self.y)


class TestWeights:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    y = np.array([0, 1, 1, 0])

    def test_whole_weights_become_repetition_at_the_innermost_model(self) -> None:
        weight = [1, 2, 0, 3]
        model = TemporallyAugmented(Scripted()).fit(self.X, self.y, sample_weight=weight)
        lessons = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], *[[2, 0, 0, 1]] * 3]
        assert [row for row, _ in model.estimator_.lessons_] == lessons
        deeper = TemporalCorrection(TemporallyAugmented(Scripted()))
        deeper.fit(self.X, self.y, sample_weight=weight)
        assert [row for row, _ in deeper.estimator_.estimator_.lessons_] == lessons
        np.testing.assert_array_equal(deeper.class_counts_, [4.0, 2.0])

    def test_metadata_routing(self) -> None:
        weight = np.array([1.0, 2.0, 1.0, 3.0])
        unset = TemporalCorrection(MultinomialNB())
        with sklearn.config_context(enable_metadata_routing=True):
            asked = TemporalCorrection(MultinomialNB().set_partial_fit_request(sample_weight=True))
            inner = MultinomialNB().set_partial_fit_request(sample_weight=False)
            refused = TemporalCorrection(inner)
            with pytest.raises(UnsetMetadataPassedError):
                unset.fit(self.X, self.y, sample_weight=weight)
            assert asked.fit(self.X, self.y, weight).estimator_.class_count_.sum() == 7.0
            assert refused.fit(self.X, self.y, weight).estimator_.class_count_.sum() == 4.0
            assert refused.class_counts_.sum() == 7.0
            nested = TemporallyAugmented(clone(asked))
            assert nested.fit(self.X, self.y, weight).estimator_.class_counts_.sum() == 7.0
            assert unset.fit(self.X, self.y).class_counts_.sum() == 4.0
            repeated = TemporallyAugmented(Scripted()).fit(self.X, self.y, sample_weight=weight)
            assert len(repeated.estimator_.lessons_) == 7


class TestBadInput:
    X = np.ones((2, 1))
    y = ("a", "b")

    @pytest.mark.parametrize("meta", [TemporalCorrection, TemporallyAugmented])
    def test_models_that_cannot_learn(self, meta) -> None:
        with pytest.raises(TypeError, match="LogisticRegression cannot learn from a stream"):
            meta(LogisticRegression()).fit(self.X, self.y)
        with pytest.raises(TypeError, match=r"LinearRegression .* no partial_fit"):
            meta(LinearRegression()).fit(self.X, self.y)
        with pytest.raises(TypeError, match="needs a classifier"):
            meta(SGDRegressor()).fit(self.X, self.y)

    def test_models_without_probabilities(self) -> None:
        with pytest.raises(TypeError, match=r'SGDClassifier as set .* Set loss="log_loss"'):
            TemporalCorrection(SGDClassifier()).fit(self.X, self.y)
        pipeline = make_stream_pipeline(StandardScaler(), SGDClassifier())
        with pytest.raises(TypeError, match='Set sgdclassifier__loss="log_loss"'):
            TemporalCorrection(pipeline).fit(self.X, self.y)

    @pytest.mark.parametrize(
        ("model", "parameter"),
        [
            (TemporallyAugmented(Scripted(), n_lags=-1), "n_lags"),
            (TemporallyAugmented(Scripted(), n_lags=1.5), "n_lags"),
            (TemporallyAugmented(Scripted(), encoding="binary"), "encoding"),
            (TemporallyAugmented(Scripted(), previous_label="true"), "previous_label"),
            (TemporalCorrection(Scripted(), previous_label=None), "previous_label"),
            (TemporalCorrection(Scripted(), fading_factor=0), "fading_factor"),
            (TemporalCorrection(Scripted(), fading_factor=1.1), "fading_factor"),
            (TemporalCorrection(Scripted(), smoothing=0), "smoothing"),
        ],
        ids=repr,
    )
    def test_parameters_are_validated_at_fit(self, model, parameter) -> None:
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of"):
            model.fit(self.X, self.y)

    @pytest.mark.parametrize("meta", [TemporalCorrection, TemporallyAugmented])
    def test_labels_and_widths(self, meta) -> None:
        model = meta(MultinomialNB())
        with pytest.raises(NotFittedError):
            model.predict(self.X)
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            model.partial_fit(self.X, self.y)
        with pytest.raises(ValueError, match="Row 1 has the label 'b', which is not among"):
            model.partial_fit(self.X, self.y, classes=["a", "c"])
        model = meta(MultinomialNB()).fit(self.X, self.y)
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 1 features"):
            model.partial_fit(np.ones((2, 2)), self.y)
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 1 features"):
            model.predict(np.ones((2, 2)))
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.partial_fit(np.ones((3, 1)), self.y)

    @pytest.mark.parametrize("meta", [TemporalCorrection, TemporallyAugmented])
    def test_a_failed_lesson_leaves_no_trace_in_the_memory(self, meta) -> None:
        model = meta(MultinomialNB()).fit(self.X, self.y)
        before = model.previous_labels_.copy()
        with pytest.raises(ValueError, match="Negative values"):
            model.partial_fit(-self.X, ["a", "a"])
        np.testing.assert_array_equal(model.previous_labels_, before)
        fresh = meta(MultinomialNB())
        with pytest.raises(ValueError, match="Negative values"):
            fresh.partial_fit(-self.X, self.y, classes=["a", "b"])
        fresh.partial_fit(np.ones((2, 3)), self.y)
        assert fresh.n_features_in_ == 3


class TestClassesOfAFittedModel:
    """A model that is fitted already, inside: its classes are compared with those here."""

    X = np.random.default_rng(0).random((30, 2))
    y = np.where(X[:, 0] > 0.5, "up", "down")

    def frozen(self, *labels: str) -> Any:
        model = SGDClassifier(loss="log_loss", random_state=0)
        if len(labels) == 1:
            model = MultinomialNB()
        return FrozenEstimator(model.fit(self.X, np.resize(labels, 30)))

    @pytest.mark.parametrize("labels", [("a", "z"), ("down", "same", "up"), ("up",), ("0", "1")])
    @pytest.mark.parametrize("piped", [False, True])
    def test_other_columns_are_not_corrected(self, labels, piped) -> None:
        inner = self.frozen(*labels)
        model = TemporalCorrection(make_stream_pipeline(inner) if piped else inner)
        with pytest.raises(ValueError, match=r"has the classes .*, but the classes here are"):
            model.partial_fit(self.X, self.y, classes=["down", "up"])
        y = (self.y == "up").astype(int)
        with pytest.raises(ValueError, match=r"the classes here are \[0, 1\]"):
            clone(model).fit(self.X, y)
        for engine in ("auto", "loop"):
            with pytest.raises(ModelError, match="but the classes here are"):
                PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
                    model, self.X, self.y
                )
        model.partial_fit(self.X[:1], [labels[0]], classes=sorted(labels))

    @pytest.mark.parametrize("meta", [TemporallyAugmented, LabelNoise])
    def test_answers_must_be_among_the_classes(self, meta) -> None:
        options = {"n_lags": 0} if meta is TemporallyAugmented else {"noise": 0.0}
        with pytest.raises(ValueError, match="has the classes"):
            meta(self.frozen("a", "z"), **options).fit(self.X, self.y)
        fewer = meta(self.frozen("up"), **options).fit(self.X, self.y)
        assert set(fewer.predict(self.X)) == {"up"}
        if meta is TemporallyAugmented:
            with pytest.raises(ValueError, match="has the classes"):
                fewer.predict_proba(self.X)

    @pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
    def test_columns_asked_for_are_those_of_the_evaluation(self, method) -> None:
        model = self.frozen("a", "m", "z")
        y = np.array(["x", "y", "z"])[np.arange(30) % 3]
        with pytest.raises(ModelError, match=r"row 1: .* for the classes \['a', 'm', 'z'\]"):
            prequential_predict(model, self.X, y, method=method)
        own = prequential_predict(model, self.X, np.resize(["a", "m", "z"], 30), method=method)
        np.testing.assert_array_equal(own[:1], getattr(model, method)(self.X[1:2]))

    def test_a_frozen_model_is_not_warned_of(self) -> None:
        model = TemporalCorrection(FrozenEstimator(GaussianNB().fit(self.X, self.y)))
        PrequentialEvaluator("accuracy").evaluate(model, self.X, self.y)
        with pytest.warns(UserWarning, match="GaussianNB row by row"):
            PrequentialEvaluator("accuracy").evaluate(
                [model, TemporalCorrection(GaussianNB(var_smoothing=0.1))], self.X, self.y
            )

    def test_a_loss_that_is_right_is_not_advised(self) -> None:
        class Silent(LabelNoise):
            @property
            def predict_proba(self) -> Any:
                raise AttributeError

        noisy = Silent(SGDClassifier(loss="log_loss"))
        with pytest.raises(TypeError, match=r"gives none\. Use a model with predict_proba"):
            TemporalCorrection(noisy).fit(self.X, self.y)

    def test_wrong_numbers_of_columns_are_refused(self) -> None:
        class Two(MultinomialNB):
            def predict_proba(self, X: Any) -> Any:
                return np.full((len(X), 2), 0.5)

        model = TemporalCorrection(Two()).fit(np.ones((3, 1)), ["a", "b", "c"])
        with pytest.raises(ValueError, match=r"shape \(3, 2\), but there are 3 classes"):
            model.predict(np.ones((3, 1)))


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
def test_dropped_previous_labels_are_said(engine: str, remainder: str) -> None:
    """A column transformer drops the columns that it is not told of, by default."""
    X, y, _ = next(iter(make_demo_stream(60)))
    columns = ColumnTransformer([("numeric", StandardScaler(), [0, 1])], remainder=remainder)
    model = make_stream_pipeline(columns, SGDClassifier())
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    models = {"plain": model, "augmented": TemporallyAugmented(model)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = evaluator.evaluate(models, X[:, :2], y)
    same = np.array_equal(
        result.predictions("plain", every_row=True), result.predictions("augmented", every_row=True)
    )
    assert same == (remainder == "drop")
    assert [w.filename for w in caught] == [__file__] * same
    assert all("drops them" in str(w.message) for w in caught)
