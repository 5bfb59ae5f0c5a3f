"""Holdout evaluation against its definition: learn, freeze, ask the whole set."""

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.naive_bayes import BernoulliNB

import skstream as sk
from tests._examples import examples

METRICS = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "f1_macro"]


def data(n=400, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 3)) + y[:, np.newaxis]
    return X, np.array(["a", "b", "c", "d"])[y]


def as_frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows, columns=["p", "q", "r"])


def models():
    return {
        "nb": BernoulliNB(binarize=1.0),
        "sgd": SGDClassifier(random_state=0),
        "persistent": sk.Persistent(),
        "majority": sk.MajorityClass(),
    }


X, Y = data()
TRAIN, HELD = slice(0, 300), slice(300, 400)
FIXED = X[HELD], Y[HELD]
FRESH = [(X[k : k + 7], Y[k : k + 7]) for k in range(300, 400, 7)]
WAYS = {
    "fixed": {"holdout": FIXED, "every": 70},
    "fresh": {"holdout": FRESH, "every": 70, "holdout_size": 12},
    "next": {"holdout": "next", "every": 40},
}


def assert_same(one, other):
    np.testing.assert_array_equal(one.checkpoints, other.checkpoints)
    for model in other.model_names:
        np.testing.assert_array_equal(one.tape.answers[model], other.tape.answers[model])
        for metric in other.metric_names:
            np.testing.assert_array_equal(one.curve(model, metric), other.curve(model, metric))
    for name in ("y", "weight", "previous", "majority", "inclusive"):
        np.testing.assert_array_equal(getattr(one.tape, name), getattr(other.tape, name))


@examples(25)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(2, 60),
    n_warmup=st.integers(1, 5),
    weighted=st.booleans(),
    gaps=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:Undefined", "ignore:No row was scored")
def test_every_row_with_the_next_as_holdout_is_prequential(seed, n, n_warmup, weighted, gaps):
    X, y = data(n, seed)
    rng = np.random.default_rng(seed)
    y = y.astype(object)
    if gaps:
        y[rng.random(n) < 0.2] = None
    options = {"n_warmup": n_warmup, "missing_labels": "skip", "random_state": 0}
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n) if weighted else None
    ours, theirs = (
        evaluator.evaluate(
            models(), X, y, classes=["a", "b", "c"], sample_weight=weight, return_models=True
        )
        for evaluator in (
            sk.HoldoutEvaluator(METRICS, holdout="next", every=1, **options),
            sk.PrequentialEvaluator(
                METRICS, forgetting=sk.SlidingWindow(1), record_every=1, **options
            ),
        )
    )
    n_unasked = n - ours.tape.n_rows
    np.testing.assert_array_equal(ours.checkpoints, theirs.checkpoints[n_unasked:])
    for name in models():
        np.testing.assert_array_equal(
            ours.tape.answers[name], theirs.tape.answers[name][:, n_unasked:]
        )
        # Everything but the majority, which forgets with the window.
        assert joblib.hash(ours.models[name]) == joblib.hash(theirs.models[name])
        scored = np.flatnonzero(theirs.tape.y[n_unasked:] >= 0)
        if weight is None:
            for metric in ("accuracy", "kappa", "kappa_temporal"):
                np.testing.assert_array_equal(
                    ours.curve(name, metric)[scored], theirs.curve(name, metric)[n_unasked:][scored]
                )


@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("way", WAYS)
def test_scores_are_those_of_a_frozen_copy(way, batch_size):
    y_learnt = Y.astype(object)
    y_learnt[[3, 9, 55, *range(80, 90)]] = None  # and a whole batch
    evaluator = sk.HoldoutEvaluator(
        ["accuracy", "f1_macro", "arithmetic_accuracy"],
        **WAYS[way],
        batch_size=batch_size,
        run=sk.RunOptions(keep_tape=True),
        missing_labels="skip",
        random_state=0,
    )
    chunks = [(X[k : k + 37], y_learnt[k : k + 37]) for k in range(0, 297, 37)]
    chunks[-1] = X[296:300], y_learnt[296:300]
    result = evaluator.evaluate(models(), chunks, classes=["a", "b", "c"])
    starts = [0, *result.tape.sets[0][:-1]]
    for name, model in models().items():
        n_learnt = 0
        for k, (start, end) in enumerate(zip(starts, result.tape.sets[0], strict=True)):
            checkpoint = result.checkpoints[k]
            stop = checkpoint - (end - start) if way == "next" else checkpoint
            for first in range(n_learnt, stop, batch_size):
                rows = range(first, min(first + batch_size, stop))
                batch = [row for row in rows if y_learnt[row] is not None]
                if batch:
                    model.partial_fit(X[batch], Y[batch], classes=["a", "b", "c"])
            n_learnt = stop
            rows = {
                "fixed": np.arange(300, 400),
                "fresh": np.arange(300 + start, 300 + end),
                "next": np.arange(stop, checkpoint),
            }[way]
            p = model.predict(X[rows])
            np.testing.assert_array_equal(result.predictions(name, every_row=True)[start:end], p)
            if way == "next":
                scored = np.array([y_learnt[row] is not None for row in rows])
                rows, p = rows[scored], p[scored]
            assert result.curve(name, "accuracy")[k, 0] == np.mean(p == Y[rows])
            expected = f1_score(Y[rows], p, average="macro"), balanced_accuracy_score(Y[rows], p)
            for metric, value in zip(("f1_macro", "arithmetic_accuracy"), expected, strict=True):
                np.testing.assert_allclose(result.curve(name, metric)[k, 0], value, rtol=1e-12)


@pytest.mark.parametrize("way", ["fixed", "fresh"])
def test_asking_changes_no_model(way):
    asked = sk.HoldoutEvaluator(METRICS, **WAYS[way], random_state=0)
    alone = sk.PrequentialEvaluator(METRICS, random_state=0)
    ours, theirs = (
        one.evaluate(models(), X[TRAIN], Y[TRAIN], return_models=True) for one in (asked, alone)
    )
    for name in models():
        assert joblib.hash(ours.models[name]) == joblib.hash(theirs.models[name])


@pytest.mark.parametrize("way", WAYS)
def test_results_are_scored_again_saved_selected_compared_and_drawn(way, tmp_path, pd, matplotlib):
    def right(y_true, y_pred):
        return np.mean(y_true == y_pred)

    evaluator = sk.HoldoutEvaluator([*METRICS, right], **WAYS[way], random_state=0)
    result = evaluator.evaluate(models(), X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(result.curve("nb", "right"), result.curve("nb", "accuracy"))
    again = result.rescore([*METRICS, "mcc"])
    for metric in METRICS:
        np.testing.assert_array_equal(again.curve("nb", metric), result.curve("nb", metric))
    loaded = sk.load(result.save(tmp_path / "result.npz"))
    assert_same(loaded, result)
    assert loaded.rescore("kappa_m").scores["sgd"]["kappa_m"] == result.scores["sgd"]["kappa_m"]
    compared = str(result.compare("nb", "persistent", test="mcnemar"))
    n_rows = {"fixed": 100, "fresh": 12, "next": 40}[way]
    assert f"the {n_rows} holdout rows at row {result.checkpoints[-1]}" in " ".join(
        compared.split()
    )
    at = int(result.checkpoints[1])
    assert f"at row {at}" in " ".join(str(result.compare("nb", "sgd", at=at)).split())
    if way == "next":  # the others are asked about the same rows again
        other = evaluator.evaluate(models(), *data(300, seed=1))
        assert set(result.rank(other).names) == set(models())
    assert len(result.to_frame()) == len(models()) * 6 * len(result.checkpoints)
    assert len(result.plot().lines_) == len(models())


def test_regressors_and_weights():
    y = X[:, 0] + 0.1
    held = [(X[300:], y[300:], {"sample_weight": np.linspace(0.0, 2.0, 100)})]
    evaluator = sk.HoldoutEvaluator(holdout=held, holdout_size=25, every=100, random_state=0)
    result = evaluator.evaluate(
        {"sgd": SGDRegressor(), "mean": sk.MeanRegressor()}, X[:300], y[:300]
    )
    p, w = result.predictions("sgd", every_row=True), held[0][2]["sample_weight"]
    for k, start in enumerate(range(0, 75, 25)):
        part = slice(start, start + 25)
        error = np.average(np.abs(p[part] - y[300:][part]), weights=w[part])
        np.testing.assert_allclose(result.curve("sgd", "mae")[k, 0], error, rtol=1e-12)


class FailsLater(BernoulliNB):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        if self.n_calls_ > 150:
            raise RuntimeError("full")
        return super().partial_fit(X, y, classes, sample_weight)


@pytest.mark.parametrize("way", ["fixed", "next"])
def test_a_model_that_fails_keeps_its_earlier_scores(way):
    given = {"fails": FailsLater(), "persistent": sk.Persistent()}
    evaluator = sk.HoldoutEvaluator("accuracy", **WAYS[way], error_score=-1.0)
    with pytest.warns(match="full"):
        result = evaluator.evaluate(given, X[TRAIN], Y[TRAIN])
    n_valid = result.failed_at["fails"][0]
    curve = result.curve("fails", "accuracy").ravel()
    assert 100 <= n_valid <= 161
    assert (curve[result.checkpoints <= n_valid] >= 0).all()
    assert (curve[result.checkpoints > n_valid] == -1.0).all()
    with pytest.raises(sk.ModelError, match="row 150"):
        sk.HoldoutEvaluator("accuracy", **WAYS[way]).evaluate(given, X[TRAIN], Y[TRAIN])


def test_an_unanswerable_holdout_row_is_named():
    rows = X[HELD].copy()
    rows[17, 1] = np.nan
    evaluator = sk.HoldoutEvaluator("accuracy", holdout=(rows, Y[HELD]), every=70)
    with pytest.raises(
        sk.ModelError, match=r"rows 0 to 99 \(row 17 is not finite\) at checkpoint 70 of"
    ):
        evaluator.evaluate(SGDClassifier(), X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize(
    ("holdout", "match"),
    [
        ((X[300:], np.full(100, "z")), "In the holdout rows: .*'z'"),
        ((X[300:, :2], Y[300:]), "holdout rows have 2 features; the rows of the stream have 3"),
        ((X[:0], Y[:0]), "holdout"),
        ([(X[300:, :2], Y[300:])], "holdout rows have 2 features; the rows of the stream have 3"),
        ([(X[300:320], Y[300:320])], "stream of holdout sets ended after 20 rows"),
        ((X[300:], Y[300:], None), "tuple of 3"),
        ("last", 'must be .X, y., a stream, or "next"'),
        ((X[300:], np.array(["a", None] * 50, dtype=object)), "Row 1 has no label"),
        ((X[300:], Y[299:]), "In the holdout rows"),
    ],
)
def test_bad_holdout_sets_are_refused_in_words(holdout, match):
    with pytest.raises(ValueError, match=match):
        sk.HoldoutEvaluator("accuracy", holdout=holdout, every=70).evaluate(
            sk.Persistent(), X[TRAIN], Y[TRAIN]
        )


def test_bad_parameters_are_refused_in_words():
    with pytest.raises(ValueError, match="'every' parameter of HoldoutEvaluator"):
        sk.HoldoutEvaluator(holdout=FIXED, every=0).evaluate(sk.Persistent(), X, Y)
    with pytest.raises(
        TypeError, match=r"no parameter 'forgetting'\. Each of its scores is that of"
    ):
        sk.HoldoutEvaluator(holdout=FIXED, forgetting="window:9")
    with pytest.raises(ValueError, match=r"every=70 is not a multiple of batch_size=30.*every=90"):
        sk.HoldoutEvaluator(holdout=FIXED, every=70, batch_size=30).evaluate(sk.Persistent(), X, Y)
    with pytest.raises(ValueError, match="holdout_size is the size of sets drawn"):
        sk.HoldoutEvaluator(holdout=FIXED, holdout_size=3).evaluate(sk.Persistent(), X, Y)
    result = sk.HoldoutEvaluator("accuracy", holdout=FIXED).evaluate(
        sk.Persistent(), X[TRAIN], Y[TRAIN]
    )
    with pytest.raises(ValueError, match="Forgetting does not apply"):
        result.rescore("kappa", forgetting="window:10")
    with pytest.raises(ValueError, match="record_every does not apply"):
        result.rescore("kappa", record_every=10)


@pytest.mark.parametrize("holdout", [None, 7])
def test_what_is_no_holdout_is_named(holdout):
    with pytest.raises(TypeError, match=r"holdout must be one set \(X, y\), a stream of"):
        sk.HoldoutEvaluator("accuracy", holdout=holdout).evaluate(
            sk.Persistent(), np.zeros((9, 1)), np.arange(9) % 2
        )


def test_no_score_rests_on_an_incomplete_set():
    X, y = np.zeros((1000, 1)), np.arange(1000) % 3
    evaluator = sk.HoldoutEvaluator("accuracy", holdout="next", every=300)
    result = evaluator.evaluate(MeetsRows(), X, y, return_models=True)
    assert result.checkpoints.tolist() == [301, 601, 901]
    assert result.models["MeetsRows"].n_learnt_ == 1000
    assert "holdout='next', every=300" in str(result)
    with pytest.warns(
        UndefinedMetricWarning,
        match=r"than the warm-up and a whole set need .n_warmup=1, every=2000",
    ):
        sk.HoldoutEvaluator("accuracy", holdout="next", every=2000).evaluate(MeetsRows(), X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_heading_does_not_say_that_no_row_came_before_the_first_checkpoint():
    X, y = np.zeros((90, 1)), np.arange(90) % 3
    evaluator = sk.HoldoutEvaluator("accuracy", holdout="next", every=2000)
    result = evaluator.evaluate(sk.Persistent(), X, y)
    assert str(result).startswith("holdout evaluation before the first checkpoint; holdout=")
    assert "accuracy nan before the first checkpoint; see" in repr(result)


class MeetsRows(sk.Persistent):
    """Counts the rows learnt."""

    def partial_fit(self, X, y, classes=None):
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(X)
        return super().partial_fit(X, y, classes)


def test_a_stream_of_held_out_rows_may_reuse_its_buffer():
    def reused():
        rows, targets = np.empty((10, 3)), np.empty(10)
        for k in range(300, 400, 10):
            rows[:], targets[:] = X[k : k + 10], X[k : k + 10].sum(axis=1)
            yield rows, targets

    results = [
        sk.HoldoutEvaluator(
            "mae", holdout=holdout, every=70, holdout_size=16, random_state=0
        ).evaluate(SGDRegressor(), X[TRAIN], X[TRAIN].sum(axis=1))
        for holdout in (reused, [(X[HELD], X[HELD].sum(axis=1))])
    ]
    assert_same(*results)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, as_frame])
def test_a_fresh_set_may_end_where_a_chunk_ends(container):
    chunks = [(container(X[k : k + 20]), Y[k : k + 20]) for k in range(300, 400, 20)]
    evaluator = sk.HoldoutEvaluator(
        METRICS,
        holdout=chunks,
        every=70,
        holdout_size=20,
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
    )
    given = {"sgd": SGDClassifier(random_state=0), "nb": BernoulliNB(binarize=1.0)}
    run = evaluator.start(given, classes=["a", "b", "c"])
    for k in range(0, 300, 5):
        run.update(container(X[k : k + 5]), Y[k : k + 5])
    assert_same(run.close().result(), evaluator.evaluate(given, container(X[TRAIN]), Y[TRAIN]))


def test_holdout_rows_without_a_label_are_counted(tmp_path):
    labels = Y[HELD].astype(object)
    labels[::2] = None
    fresh = [(X[HELD], labels)]
    options = {"every": 70, "missing_labels": "skip", "random_state": 0}
    one_set, sets = (
        sk.HoldoutEvaluator("accuracy", holdout=holdout, **given, **options).evaluate(
            models(), X[TRAIN], Y[TRAIN], classes=["a", "b", "c"]
        )
        for holdout, given in [((X[HELD], labels), {}), (fresh, {"holdout_size": 10})]
    )
    assert "50 of 100 holdout rows without a label: not scored" in str(one_set)
    assert "25 of 50 holdout rows without a label: not scored" in str(sets)
    assert "50 of 100 holdout rows" in one_set._repr_html_()
    assert "50 of 100 holdout rows" in str(sk.load(one_set.save(tmp_path / "r.npz")))
    assert "50 of 100 holdout rows" in str(one_set.rescore("kappa"))
    assert one_set.n_unlabelled == 0
    compared = str(one_set.compare("nb", "sgd"))
    assert "50 of the 100 holdout rows at row 300" in " ".join(compared.split())
    whole = sk.HoldoutEvaluator("accuracy", **WAYS["fixed"]).evaluate(models(), X[TRAIN], Y[TRAIN])
    assert "without a label" not in str(whole)
    assert "the 100 holdout rows at row 300" in " ".join(str(whole.compare("nb", "sgd")).split())


def fresh_sets():
    yield from FRESH


def test_an_iterator_of_held_out_rows_is_read_once(tmp_path):
    once = sk.HoldoutEvaluator("accuracy", **{**WAYS["fresh"], "holdout": fresh_sets()})
    once.evaluate(sk.Persistent(), X[TRAIN], Y[TRAIN])
    with pytest.raises(
        ValueError, match=r"holdout is a one-shot iterator \(generator\).*holdout=:"
    ):
        once.evaluate(sk.Persistent(), X[TRAIN], Y[TRAIN])
    for holdout in (once.holdout, sk.as_stream(fresh_sets())):
        other = sk.HoldoutEvaluator("accuracy", **{**WAYS["fresh"], "holdout": holdout})
        if holdout is not once.holdout:
            once.set_params(holdout=holdout).evaluate(sk.Persistent(), X[TRAIN], Y[TRAIN])
        with pytest.raises(ValueError, match="an earlier evaluation has already read from it"):
            other.evaluate(sk.Persistent(), X[TRAIN], Y[TRAIN])
    once.set_params(holdout=fresh_sets(), n_jobs=2)
    with pytest.raises(ValueError, match="each worker needs all of its rows: pass n_jobs=1"):
        once.evaluate(models(), X[TRAIN], Y[TRAIN])
    run = once.start(sk.Persistent(), classes=["a", "b", "c"])
    run.update(X[:80], Y[:80])
    with pytest.raises(ValueError, match=r"cannot be saved: its holdout is a one-shot.*list of"):
        run.save(tmp_path / "run")
    again = once.set_params(holdout=fresh_sets).start(sk.Persistent(), classes=["a", "b", "c"])
    again.update(X[:80], Y[:80])
    assert sk.load_run(again.save(tmp_path / "run")).n_rows == 80


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, as_frame])
def test_held_out_rows_of_the_stream_are_warned_of(kind, recwarn):
    rows = kind(X)
    evaluator = sk.HoldoutEvaluator("accuracy", holdout=(rows[250:], Y[250:]), every=200)
    with pytest.warns(match="stream share rows of one array or data frame: models"):
        evaluator.evaluate(sk.Persistent(), rows[:300], Y[:300])
    evaluator.evaluate(sk.Persistent(), rows[:250], Y[:250])
    apart = sk.HoldoutEvaluator("accuracy", holdout=(rows[1::2], Y[1::2]))
    apart.evaluate(sk.Persistent(), rows[::2], Y[::2])
    with pytest.warns(match="holdout rows and the stream are the same"):
        sk.HoldoutEvaluator("accuracy", holdout=FRESH, every=100).evaluate(
            sk.Persistent(), FRESH, classes=["a", "b", "c"]
        )
    assert not recwarn.list
