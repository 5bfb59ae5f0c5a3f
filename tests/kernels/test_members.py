"""Kernels of DriftReset, of ensembles and of PrequentialCalibrator = their loops."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skstream as sk
from skstream.calibration import METHODS
from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm
from skstream.kernels import Declined, Task, adaptive, find_kernel
from skstream.kernels.naive_bayes.gaussian import IncrementalGaussianKernel
from skstream.naive_bayes import IncrementalGaussianNB
from tests._examples import examples, newest_alone
from tests.kernels import _reference as ref

CLASSES = np.array(["a", "b", "c"])
SGD = SGDClassifier(loss="log_loss", random_state=0)
BAYES, SCALER = IncrementalGaussianNB(), StandardScaler()
# They raise alarms again and again, so that models are replaced as often.
JUMPY = DDM(min_values=2, warning_level=0.3, drift_level=1.2)
ALARMS = ADWIN(delta=0.99, clock=1, min_window=5)
HINKLEY = PageHinkley(threshold=0.5)
RANDOM = RandomAlarm(0.2, warm_up=0, random_state=3)
MODELS = {
    "DDM": sk.DriftReset(sk.MajorityClass(), detector=JUMPY, warm_up=1),
    "DDM, linear": sk.DriftReset(SGD, detector=JUMPY, warm_up=0),
    "random, Persistent": sk.DriftReset(sk.Persistent(), detector=RANDOM, warm_up=2),
    "ADWIN": sk.DriftReset(sk.MajorityClass(), detector=ALARMS, warm_up=0),
    "Page-Hinkley, linear": sk.DriftReset(
        sk.make_stream_pipeline(SCALER, SGD), detector=HINKLEY, warm_up=1
    ),
    "DDM in a linear pipeline": sk.make_stream_pipeline(
        SCALER, sk.DriftReset(SGD, detector=JUMPY, warm_up=0)
    ),
    "DDM, corrected": sk.TemporalCorrection(
        sk.DriftReset(sk.MajorityClass(), detector=JUMPY, warm_up=0)
    ),
    "bag": sk.OnlineBagging(sk.MajorityClass(), 3),
    "bag of votes": sk.OnlineBagging(Perceptron(), 2),
    "bag, linear": sk.OnlineBagging(sk.make_stream_pipeline(SCALER, SGD), 2),
    "one member": sk.OnlineBagging(sk.Persistent(), 1, detector=HINKLEY),
    "bag with ADWIN": sk.OnlineBagging(sk.Persistent(), 3, detector=ALARMS),
    "leveraging bag": sk.OnlineBagging(sk.MajorityClass(), 2, detector=ALARMS, mean_weight=6),
    "bag with ADWIN, linear": sk.OnlineBagging(SGD, 2, detector=ALARMS),
    "bag with Page-Hinkley": sk.OnlineBagging(sk.MajorityClass(), 3, detector=HINKLEY),
    "bag in a linear pipeline": sk.make_stream_pipeline(
        SCALER, sk.OnlineBagging(SGD, 2, detector=ALARMS)
    ),
    "bag, corrected": sk.TemporalCorrection(
        sk.OnlineBagging(sk.MajorityClass(), 2, detector=ALARMS)
    ),
    "majority": sk.DynamicWeightedMajority(sk.Persistent(), period=4, max_estimators=4),
    "at every row": sk.DynamicWeightedMajority(sk.MajorityClass(), period=1, max_estimators=3),
    "majority, linear": sk.DynamicWeightedMajority(SGD, period=3, max_estimators=3),
    "majority of a bag": sk.DynamicWeightedMajority(
        sk.OnlineBagging(sk.Persistent(), 2), period=5, max_estimators=2
    ),
    **{
        f"calibrated by {method}": sk.PrequentialCalibrator(
            BAYES, method=method, forgetting="window:9", every=4
        )
        for method in METHODS
    },
    "calibrated, linear": sk.PrequentialCalibrator(SGD, forgetting="fading:0.5", every=3),
    "calibrated votes": sk.PrequentialCalibrator(
        Perceptron(random_state=0), forgetting="cumulative", every=5
    ),
    "calibrated in a linear pipeline": sk.make_stream_pipeline(
        SCALER, sk.PrequentialCalibrator(SGD, every=1)
    ),
    "calibrated and reset": sk.DriftReset(
        sk.PrequentialCalibrator(BAYES, every=2), detector=RANDOM
    ),
}


def seeded(model: Any) -> Any:
    """A copy with integer seeds; without one there is no kernel."""
    model = copy.deepcopy(model)
    unset = [name for name in model.get_params() if name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(unset, 5))


@pytest.mark.parametrize("name", MODELS)
@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    weighted=st.booleans(),
    has_learnt=st.booleans(),
)
@examples(3)
def test_kernel_is_the_loop(name, seed, timeline, method, weighted, has_learnt):
    if method == "predict_proba" and name.endswith("Persistent"):
        method = "predict"  # it has no probabilities
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 40)), int(rng.integers(2, 4))
    task = Task(CLASSES[:n_classes], method)
    model = seeded(MODELS[name])
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    X, y = rng.normal(size=(n, 2)), rng.integers(0, n_classes, n)
    block = ref.make_block(X, y, timeline, rng, weight)
    if has_learnt:
        model.partial_fit(X[:2], task.classes[y[:2]], classes=task.classes)
        model.partial_fit(X[2:9], task.classes[y[2:9]]) if n > 2 else None
    # Linear models round their probabilities otherwise, and maps are fitted to such numbers.
    rtol = 1e-6 if "calibrated" in name else 1e-9 if "linear" in name else 0.0
    size = int(rng.choice([1, 3, 8192]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "_AT_MOST", size)
        patch.setattr(adaptive, "_AT_FIRST", min(size, 2))
        cuts, scores = ref.random_cuts(block, rng), "predict_proba" if rtol else None
        known = {"rtol": rtol, "atol": min(rtol, 1e-9), "state_rtol": 0.0 if rtol < 1e-6 else rtol}
        ref.assert_equals_loop(model, block, task, cuts, scores=scores, **known)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("calibrated")])
def test_the_division_into_blocks_changes_no_bit(name: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    block = ref.make_block(X, y, "polls", rng)
    task = Task(CLASSES, "predict", scores="predict_proba")
    whole, parts = (ref.running(copy.deepcopy(MODELS[name]), task) for _ in range(2))
    expected = ref.run_kernel(whole, [block])
    answers = ref.run_kernel(parts, ref.cut(block, [1, 2, 30, 31, 64]))
    assert expected.shape[1] == 4
    np.testing.assert_array_equal(answers, expected)
    for one in (whole, parts):
        one.export()
    ref.assert_same_state(whole.estimator, parts.estimator)


def stream(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    side = np.where(np.arange(n) // 30 % 2, y, 1 - y)  # the classes change places
    return np.abs(rng.normal(size=(n, 3)) + 2.0 * side[:, np.newaxis]), CLASSES[y]


WATCHED = {
    "DDM": sk.DriftReset(BAYES, detector=DDM(min_values=10), warm_up=5),
    "random": sk.DriftReset(MultinomialNB(), detector=RandomAlarm(0.05, warm_up=3), warm_up=3),
    "linear": sk.DriftReset(SGDClassifier(loss="log_loss"), detector=JUMPY),
    "votes": sk.DriftReset(Perceptron(), detector=JUMPY),
    "bag": sk.OnlineBagging(MultinomialNB(), 2),
    "ADWIN": sk.OnlineBagging(sk.MajorityClass(), 2, detector=ALARMS),
    "majority": sk.DynamicWeightedMajority(sk.MajorityClass(), period=5, max_estimators=3),
    "beta": sk.PrequentialCalibrator(BAYES, method="beta", every=10),
    "fading": sk.PrequentialCalibrator(SGD, forgetting="fading:0.9", every=7),
}
BATCHES = {
    "DDM": "loop: DriftReset with batch_size=4 has no kernel",
    "ADWIN": "loop: OnlineBagging with a detector and batch_size=4 has no kernel",
    "bag": "kernel",
    "majority": "kernel",
    "beta": "loop: PrequentialCalibrator with batch_size=4 has no kernel",
}
EVALUATORS = {
    "prequential": sk.PrequentialEvaluator("accuracy", random_state=0),
    "skip": sk.PrequentialEvaluator("accuracy", missing_labels="skip", random_state=0),
    "batches": sk.PrequentialEvaluator("accuracy", batch_size=4, random_state=0),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout="next", every=20, random_state=0),
    "delayed": sk.DelayedEvaluator(
        "accuracy", delay=7, random_state=0, polling=sk.Polling(n_bins=3, poll_every=5)
    ),
    "csr": sk.PrequentialEvaluator("accuracy", random_state=0),
    "pandas": sk.PrequentialEvaluator("accuracy", random_state=0),
}


@newest_alone
@pytest.mark.parametrize("name", EVALUATORS)
def test_protocols_agree_between_kernel_and_loop(name: str) -> None:
    X, y = stream(60)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 60)
    known = {"sample_weight": weight} if name in ("prequential", "folds") else {}
    models = {m: WATCHED[m] for m in BATCHES} if name in ("batches", "pandas") else WATCHED
    if name == "skip":
        y = np.where(np.arange(60) % 3 == 1, None, y)
        known["classes"] = CLASSES[:2]
    if name == "csr":  # naive Bayes by Gauss takes no sparse rows
        X, models = sparse.csr_array(X), {m: WATCHED[m] for m in ("random", "bag", "majority")}
    if name == "pandas":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["u", "v", "w"])
    evaluator = EVALUATORS[name]
    by_kernel, by_loop = ref.both_ways(evaluator, models, X, y, **known)
    expected = BATCHES if name == "batches" else dict.fromkeys(models, "kernel")
    assert by_kernel.paths == expected
    n_resets = 0
    for model in models:
        answers = [result.tape.answers[model] for result in (by_kernel, by_loop)]
        np.testing.assert_array_equal(*answers)
        fitted = [result.models[model] for result in (by_kernel, by_loop)]
        for one, other in zip(*(f if isinstance(f, list) else [f] for f in fitted), strict=True):
            names = [getattr(m, "feature_names_in_", None) for m in (one, other)]
            np.testing.assert_array_equal(*names)
            if isinstance(one, sk.DriftReset):
                assert one.n_resets_ == other.n_resets_
                n_resets += one.n_resets_
    assert n_resets


def test_a_run_goes_on_after_saving(tmp_path: Any) -> None:
    X, y = stream(90)
    evaluator = sk.PrequentialEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(keep_tape=True)
    )
    whole = evaluator.evaluate(WATCHED, X, y)
    run = evaluator.start(WATCHED, classes=CLASSES[:2])
    run.update(X[:65], y[:65])
    run.save(tmp_path / "run")
    run = sk.load_run(tmp_path / "run")
    run.update(X[65:], y[65:])
    for model in WATCHED:
        assert (
            run.result().predictions(model, every_row=True).tolist()
            == whole.predictions(model, every_row=True).tolist()
        )


@pytest.mark.parametrize("model", [WATCHED["DDM"], sk.OnlineBagging(BAYES, 2, detector=HINKLEY)])
def test_rows_that_the_kernel_declines_are_looped_and_models_go_on(model: Any) -> None:
    X, y = stream(100)
    X[70, 1] = 1e-200  # IncrementalGaussianNB has a kernel for usual numbers only
    results = ref.both_ways(sk.PrequentialEvaluator(random_state=0), model, X, y)
    assert results[0].paths["m"].startswith("kernel and loop")
    np.testing.assert_array_equal(*(result.predictions("m", every_row=True) for result in results))
    name = "n_resets_" if isinstance(model, sk.DriftReset) else "n_replaced_"
    one, other = (np.asarray(getattr(result.models["m"], name)) for result in results)
    assert (one == other).all() and one.any()


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            sk.DriftReset(sk.Persistent(), detector=RandomAlarm()),
            "a detector with random_state=None",
        ),
        (sk.DriftReset(DecisionTreeClassifier()), "DecisionTreeClassifier has no kernel"),
        (sk.DriftReset(SGDClassifier(average=True)), "average=True"),
        (
            sk.PrequentialCalibrator(DecisionTreeClassifier()),
            "DecisionTreeClassifier has no kernel",
        ),
        (sk.PrequentialCalibrator(SGD, forgetting="adwin"), "parameters that it refuses"),
    ],
    ids=repr,
)
def test_what_has_no_kernel(model: Any, reason: str) -> None:
    with pytest.raises(Declined, match=reason):
        find_kernel(model, Task(CLASSES))


@newest_alone
def test_a_bag_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many calls of its members' kernels as parts: none for each row."""
    calls = []
    step = IncrementalGaussianKernel.step
    monkeypatch.setattr(
        IncrementalGaussianKernel,
        "step",
        lambda self, state, block: calls.append(block.n_learns) or step(self, state, block),
    )
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    result = evaluator.evaluate(sk.OnlineBagging(IncrementalGaussianNB()), X, X[:, 0] > 0)
    assert result.paths["OnlineBagging"] == "kernel" and len(calls) < 1000
