"""The state of a kernel is a value: no step changes an earlier one, at any depth."""

import copy
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib.hashing import NumpyHasher
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from skstream import MajorityClass, TemporalCorrection, TemporallyAugmented
from skstream.kernels import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
    find_kernel,
    kernel_of,
    make_kernel,
    registered_kernels,
    registry,
)
from skstream.kernels.linear import kernel as _linear
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.pipeline import make_stream_pipeline
from tests._examples import examples
from tests.kernels import _reference as ref
from tests.kernels._linear_reference import PATHS
from tests.kernels.test_support_table import CATEGORIES, KERNEL, classes_for, name_of

TASK = Task(np.arange(3), "predict_proba")


class _HasherOfValues(NumpyHasher):
    """Leaves out what kernels of members, which stand beside their states, have computed once."""

    def save(self, obj: Any) -> None:
        super().save(type(obj).__name__ if isinstance(obj, Kernel | TransformKernel) else obj)


def fingerprint(state: Any) -> str:
    """Of a state, to any depth."""
    found: str = _HasherOfValues("md5").hash(state)
    return found


def running_any(model: Any) -> ref.Running:
    """Kernel of a model, or of a transformer."""
    task = Task(classes_for(model))
    find = registry.find_kernel if hasattr(model, "predict") else registry.find_transform_kernel
    return ref.Running(find(copy.deepcopy(model), task))


def rows_for(model: Any, rng: np.random.Generator, n: int) -> Any:
    """Rows that most models take: small whole numbers; words for what reads texts."""
    numbers = rng.integers(0, len(CATEGORIES[0]), size=(n, 3)).astype(float)
    texts = np.array(["a word", "another word", "nothing"], dtype=object)[numbers[:, 0].astype(int)]
    if any(word in name_of(model) for word in ("Vectorizer", "FeatureHasher")):
        return [{"a": 1.0}] * n if "FeatureHasher" in name_of(model) else texts
    return numbers


def everything(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """All supported estimators, and rows for each; sparse rows, too, where they are taken."""
    cases = [(model, rows_for(model, rng, 60)) for model in KERNEL]
    wide = sparse.random(60, 600, 0.02, "csr", random_state=np.random.RandomState(0))
    wide.data[:] = 1.0
    others = (MultinomialNB(), BernoulliNB(), ComplementNB(), SGDClassifier(), MaxAbsScaler())
    return cases + [(model, wide) for model in others]


CASES = everything(np.random.default_rng(0))
#: Places of those that learn rows of numbers one by one.
LEARNING = [
    place
    for place, model in enumerate(KERNEL)
    if hasattr(model, "partial_fit")
    and not any(name in name_of(model) for name in ("Vectorizer", "FeatureHasher", "Frozen"))
]


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("numba", ["1", "0"][: len(PATHS)], ids=PATHS)
@pytest.mark.parametrize("place", range(len(CASES)), ids=lambda i: f"{i}-{name_of(CASES[i][0])}")
def test_no_step_changes_an_earlier_state(place: int, numba: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", numba)
    monkeypatch.setattr(_linear, "UNCOMPILED_FEATURES", np.inf)
    monkeypatch.setattr("skstream.refit.perf_counter", lambda: 0.0)  # states hold such times
    model, X = CASES[place]
    if not isinstance(X, np.ndarray | sparse.sparray | sparse.spmatrix) or X.ndim == 1:
        pytest.skip("rows of texts: the kernel has no state that changes")
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 60)
    y = labels.astype(float) if is_regressor(model) else labels
    kernel = running_any(model)
    states, prints, seen = [kernel.state], [fingerprint(kernel.state)], []
    parts = ref.cut(ref.make_block(X, y, "polls", rng), [10, 11, 12, 40, 80])
    for part in parts:
        seen.append(kernel.run(part))
        states.append(kernel.state)
        prints.append(fingerprint(kernel.state))
    for i in rng.permutation(len(states)):
        assert fingerprint(states[i]) == prints[i]
        if i < len(parts):  # and it goes on from there as it did, as do copies of it
            kernel.state = states[i]
            copies = copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))
            for one in copies:
                one.export()
            for one in (*copies, kernel):
                assert joblib.hash(one.run(parts[i])) == joblib.hash(seen[i])
            assert fingerprint(kernel.state) == prints[i + 1]
    assert [fingerprint(state) for state in states] == prints


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("place", LEARNING, ids=lambda i: name_of(KERNEL[i]))
def test_what_is_exported_is_a_copy(place: int, is_sparse: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, size=(40, 3)).astype(float), rng.integers(0, 2, 40)
    kernel = running_any(copy.deepcopy(KERNEL[place]))
    y = y.astype(float) if is_regressor(kernel.estimator) else y
    rows = sparse.csr_array(X) if is_sparse else X
    first, second = ref.cut(ref.make_block(rows, y, "polls", rng), [30])
    try:
        kernel.run(first)
    except Declined:
        assert is_sparse
        return
    kernel.export()
    before = joblib.hash(kernel.estimator)
    kernel.run(second)
    assert joblib.hash(kernel.estimator) == before


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Stochastic Optimizer")
@pytest.mark.parametrize("fits", [False, True], ids=["partial_fit", "fit"])
@pytest.mark.parametrize("place", LEARNING, ids=lambda i: name_of(KERNEL[i]))
def test_goes_on_from_a_fitted_estimator_and_back(place: int, fits: bool) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, size=(55, 3)).astype(float), rng.integers(0, 2, 55)
    y[:2] = 0, 1
    X[:3] = np.arange(3)[:, np.newaxis]
    fitted = copy.deepcopy(KERNEL[place])
    if "random_state" in fitted.get_params(deep=False):
        fitted.set_params(random_state=0)
    classes = classes_for(fitted)
    labels = y.astype(float) if classes is None else classes[y]
    if fits and "IncrementalGaussianNB" not in name_of(fitted):
        fitted.fit(X[:30], labels[:30])
    else:
        known = {"classes": classes} if is_classifier(fitted) else {}
        for rows in (slice(0, 1), slice(1, 30)):
            fitted.partial_fit(X[rows], labels[rows], **known)
            known = {}
    kernel, literal = running_any(fitted), copy.deepcopy(fitted)
    block = ref.make_block(X, labels if classes is None else y, "polls", rng)
    later = ref.cut(block, [30])[1]
    if hasattr(literal, "predict"):
        ref.run_literally(literal, later, kernel.kernel.task)
    else:
        ref.transform_literally(literal, later)
    kernel.run(later)
    kernel.export()
    rtol = 0.0 if getattr(kernel.kernel, "bitwise", True) else 1e-9
    ref.assert_same_state(kernel.estimator, literal, rtol=rtol)
    for estimator in (kernel.estimator, literal):
        estimator.partial_fit(X, labels)
    ref.assert_same_state(kernel.estimator, literal, rtol=rtol)


BAD: dict[str, Any] = {
    "nan": lambda X: np.where(X == X[-1, 1], np.nan, X),
    "inf": lambda X: np.where(X == X[-1, 1], np.inf, X),
    "huge": lambda X: np.where(X == X[-1, 1], 1e200, X),
    "tiny": lambda X: np.where(X == X[-1, 1], 1e-101, X),
    "negative": lambda X: -1.0 - X,
    "wide": lambda X: np.hstack([X, X]),
    "objects": lambda X: X.astype(object),
    "half": lambda X: X.astype(np.float16),
    "one dimension": lambda X: X[:, 0],
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "tiny weight": lambda X: X,
}
GAUSSIAN, COUNTS = (GaussianNB(), IncrementalGaussianNB()), (MultinomialNB(), ComplementNB())
OF_NUMBERS = [
    *(*GAUSSIAN, *COUNTS, BernoulliNB(), CategoricalNB(min_categories=4)),
    *(StandardScaler(), MinMaxScaler(), MaxAbsScaler(), MLPClassifier(5, random_state=0)),
    WindowedKNeighborsClassifier(3),
]
#: Rows that only some of them leave to the loop.
ONLY = {
    "huge": (*GAUSSIAN, CategoricalNB, WindowedKNeighborsClassifier),
    "tiny": (*GAUSSIAN, CategoricalNB),
    "negative": (*COUNTS, CategoricalNB),
    "csr": (*GAUSSIAN, MinMaxScaler, MLPClassifier, CategoricalNB, WindowedKNeighborsClassifier),
    "tiny weight": (*GAUSSIAN, StandardScaler),
}


def leaves(model: Any, bad: str) -> bool:
    kinds = tuple(one if isinstance(one, type) else type(one) for one in ONLY.get(bad, OF_NUMBERS))
    return isinstance(model, kinds)


@pytest.mark.parametrize(
    ("model", "bad"),
    [(model, bad) for model in OF_NUMBERS for bad in BAD if leaves(model, bad)],
    ids=repr,
)
def test_declines_and_changes_nothing(model: Any, bad: str) -> None:
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, 4, size=(30, 3)).astype(float), rng.integers(0, 2, 30)
    X[:4] = np.arange(4)[:, np.newaxis]
    good = ref.make_block(X, y, "polls", rng)
    kernel, before, fresh = (running_any(model) for _ in range(3))
    kernel.run(good)
    before.run(good)
    weight = np.append(np.ones(29), 1e-9) if bad == "tiny weight" else None
    block = ref.make_block(BAD[bad](X), y, "prequential", rng, weight)
    for one in (kernel, fresh) if bad != "wide" else (kernel,):
        with np.errstate(all="ignore"), pytest.raises(Declined):
            one.run(block)
    assert joblib.hash(kernel.run(good)) == joblib.hash(before.run(good))
    kernel.export()
    before.export()
    ref.assert_same_state(kernel.estimator, before.estimator)
    fresh.export()
    ref.assert_same_state(fresh.estimator, copy.deepcopy(model))


class Nervous(ClassifierMixin, BaseEstimator):
    """Its kernel declines the row with the number `declines`, and fails at `fails`, at the end."""

    def __init__(self, declines: float = -1.0, fails: float = -2.0):
        self.declines = declines
        self.fails = fails


class NervousScaler(StandardScaler):
    """The same, as a transformer."""

    def __init__(self, declines: float = -1.0, fails: float = -2.0):
        super().__init__()
        self.declines = declines
        self.fails = fails


def _falter(estimator: Any, rows: np.ndarray) -> None:
    if (np.abs(rows) == estimator.declines).any():
        raise Declined("this row has no kernel")
    if (np.abs(rows) == estimator.fails).any():
        raise ZeroDivisionError("in the kernel")


class Faltering:
    """Falters when all the work is done."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._inner = self._kernel_inside(task)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        return None

    def initial_state(self) -> Any:
        return self._inner.initial_state()

    def step(self, state: Any, block: Any) -> Any:
        after = self._inner.step(state, block)
        _falter(self.estimator, self._looked_at(block))
        return after

    def export(self, state: Any) -> None:
        self._inner.export(state)


class NervousKernel(Faltering, Kernel):
    def _kernel_inside(self, task: Task) -> Any:
        return find_kernel(MultinomialNB(), task)

    def _looked_at(self, block: Any) -> Any:
        return block.y[: block.n_learns] + 1000.0


class NervousScalerKernel(Faltering, TransformKernel):
    def _kernel_inside(self, task: Task) -> Any:
        return registry.find_transform_kernel(MaxAbsScaler(), task)

    def _looked_at(self, block: Any) -> Any:
        return block.learn_X[block.learn_index]


@pytest.fixture(scope="module", autouse=True)
def nervous_kernels() -> Any:
    kernel_of(Nervous)(NervousKernel)
    kernel_of(NervousScaler)(NervousScalerKernel)
    yield
    del registry._MODELS[Nervous], registry._TRANSFORMERS[NervousScaler]


WRAPPERS = (
    TemporalCorrection,
    TemporallyAugmented,
    lambda inner: make_stream_pipeline(StandardScaler(with_mean=False), MaxAbsScaler(), inner),
    lambda inner: make_stream_pipeline(
        make_column_transformer(
            (NervousScaler(7.0, 8.0), [0]), (MaxAbsScaler(), [1, 2]), remainder="passthrough"
        ),
        inner,
    ),
    lambda inner: make_stream_pipeline(NervousScaler(7.0, 8.0), inner),
    lambda inner: make_stream_pipeline(
        make_stream_pipeline(MaxAbsScaler(), NervousScaler(5.0)), inner
    ),
)


@given(
    depth=st.lists(st.integers(0, len(WRAPPERS) - 1), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
    number=st.sampled_from([7.0, 8.0, 5.0]),
    faltering_label=st.sampled_from([None, "declines", "fails"]),
)
@examples(60)
def test_a_block_that_is_not_executed_leaves_every_state(depth, seed, number, faltering_label):
    rng = np.random.default_rng(seed)
    model: Any = Nervous(**({} if faltering_label is None else {faltering_label: 1002.0}))
    for wrapper in depth:
        model = WRAPPERS[wrapper](model)
    X, y = rng.poisson(1.0, size=(40, 3)).clip(0, 3).astype(float), rng.integers(0, 2, 40)
    bad_X, bad_y = X.copy(), y.copy()
    if faltering_label is None:
        bad_X[rng.integers(25, 40), 0] = number
    else:
        bad_y[rng.integers(25, 40)] = 2
    rows = [ref.make_block(*data, "prequential", rng) for data in ((X, y), (bad_X, bad_y))]
    (first, _), (_, bad) = (ref.cut(block, [40]) for block in rows)
    (_, good) = ref.cut(rows[0], [40])
    kernel, other = ref.running(model, TASK), ref.running(copy.deepcopy(model), TASK)
    for each in (kernel, other):
        each.run(first)
    before, printed = kernel.state, fingerprint(kernel.state)
    try:
        kernel.run(bad)
    except (Declined, ZeroDivisionError):
        assert kernel.state is before and fingerprint(before) == printed
        np.testing.assert_array_equal(kernel.run(good), other.run(good))
        assert fingerprint(kernel.state) == fingerprint(other.state)


def test_faltering_parts_do_falter(rng: np.random.Generator) -> None:
    X, y = rng.integers(0, 4, size=(40, 3)).astype(float), rng.integers(0, 3, 40)
    X[30, 0] = 7.0
    block = ref.make_block(X, y, "prequential", rng)
    with pytest.raises(Declined):
        ref.running(WRAPPERS[3](Nervous()), TASK).run(block)
    with pytest.raises(ZeroDivisionError):
        ref.running(TemporalCorrection(Nervous(fails=1002.0)), TASK).run(block)


@pytest.mark.parametrize("model", [MultinomialNB(), ComplementNB(), BernoulliNB()], ids=repr)
def test_single_rows_do_not_copy_large_counts(model: Any, rng: np.random.Generator) -> None:
    X = sparse.random(40, 1 << 18, 1e-4, "csr", random_state=np.random.RandomState(0))
    X.data[:] = 1.0
    kernel = ref.running(model, Task(np.arange(2)))
    first, *parts = ref.cut(
        ref.make_block(X, rng.integers(0, 2, 40), "prequential", rng), range(20, 79)
    )
    kernel.run(first)
    memory = kernel.state.memory.table.read()
    for part in parts:
        kernel.run(part)
    assert kernel.state.memory.table.read() is memory


class TestRegistry:
    """Which estimators have kernels."""

    def test_a_type_of_the_same_name_is_not_meant(self) -> None:
        names = {"__module__": SGDClassifier.__module__, "__qualname__": "SGDClassifier"}
        twin = type("SGDClassifier", (SGDClassifier,), names)
        with pytest.raises(Declined, match="SGDClassifier has no kernel"):
            find_kernel(twin(), TASK)

    def test_by_name(self) -> None:
        class Own(MajorityClass):
            pass

        kernel = registered_kernels()[MajorityClass]
        kernel_of(Own, "skstream.baselines.Unheard")(kernel)
        try:
            assert make_kernel(Own(), TASK) is not None
            assert make_kernel(type("Own", (Own,), {})(), TASK) is None
        finally:
            del registry._MODELS[Own], registry._MODELS["skstream.baselines.Unheard"]

    def test_methods_changed_before_the_first_use(self, monkeypatch: Any) -> None:
        for kind, name in ((MajorityClass, "predict"), (MultinomialNB, "partial_fit")):
            with monkeypatch.context() as patch:
                patch.setattr(kind, name, lambda self, *rest, **more: self)
                with pytest.raises(Declined, match=f"a changed {name}"):
                    find_kernel(kind(), TASK)
            assert make_kernel(kind(), TASK) is not None
        with monkeypatch.context() as patch:
            inherited = MultinomialNB.predict
            patch.setattr(MultinomialNB, "predict", inherited, raising=False)
            assert make_kernel(MultinomialNB(), TASK) is None
