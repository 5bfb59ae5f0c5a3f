"""Comparison of models: which is better, by which measure, and what the statement says."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.stats
from sklearn import metrics as sk
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from skstream import (
    DelayedEvaluator,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
    RunOptions,
    load,
)
from skstream.baselines import MeanRegressor, PersistentRegressor
from skstream.core.measures.registry import CLASSIFICATION, REGRESSION
from skstream.core.run.tape import Tape
from skstream.evaluation import EvaluationResult
from skstream.metrics import Measure, cost
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.stats import anytime_comparison, friedman_nemenyi, mcnemar, mcnemar_curve, q_statistic
from skstream.streams import SEA, Sine, make_demo_stream
from tests.evaluation._models import FailsLater


def wrong_share(y_true, y_pred):
    return np.mean(y_true != y_pred)


#: Persistent answers far more rows of the demo stream than the majority class.
MODELS = {"last": Persistent(), "majority": MajorityClass()}
STREAM = make_demo_stream(400, random_state=0)


def k_fold(metrics, **options):
    evaluator = KFoldEvaluator(metrics, n_folds=10, random_state=0, **options)
    return evaluator.evaluate(MODELS, STREAM)


NO_TAPE = RunOptions(keep_tape=False)


def one_run(metrics="accuracy", stream=STREAM, **options):
    return PrequentialEvaluator(metrics, **options).evaluate(MODELS, stream)


def one_run_of_regressors(metrics=None):
    X, y = np.zeros((300, 1)), np.cumsum(np.random.default_rng(0).normal(size=300))
    models = {"last": PersistentRegressor(), "mean": MeanRegressor()}
    return PrequentialEvaluator(metrics).evaluate(models, X, y)


def losses_of_rows(result):
    y = result.tape.y
    losses = [(p[0] != y).astype(float) for p in result.tape.answers.values()]
    return [loss[1:] for loss in losses]  # the first row is learnt unasked


def losing(y_true, y_pred, sample_weight=None):
    return np.average(y_true != y_pred, weights=sample_weight)


def as_named_by_users(measures):
    """Each measure under its own name, and under names that sound like the other direction."""
    for item in measures:
        for name in (None, "accuracy", "error", "mae", "score", "loss"):
            yield item if name is None else {name: item}


OF_LABELS = [
    *(name for name in CLASSIFICATION if name not in ("kappa_se", "chance_accuracy", "cmd")),
    sk.zero_one_loss,
    sk.hamming_loss,
    sk.accuracy_score,
    sk.cohen_kappa_score,
    partial(sk.zero_one_loss, normalize=False),
    partial(sk.f1_score, average="macro"),
    "balanced_accuracy",
    "matthews_corrcoef",
    Measure(losing, higher_is_better=False),
    Measure(sk.zero_one_loss),
]
OF_TARGETS = [
    *(name for name in REGRESSION if name != "quantile_coverage"),
    sk.mean_absolute_error,
    sk.median_absolute_error,
    sk.max_error,
    sk.r2_score,
    sk.explained_variance_score,
    partial(sk.mean_pinball_loss, alpha=0.4),
    "neg_mean_squared_error",
    "neg_max_error",
]


def far_apart(n_folds=6, regression=False):
    """A tape of two models of which "good" is better in every fold by every measure."""
    rng = np.random.default_rng(0)
    n = 300
    y = rng.normal(size=n).cumsum() if regression else (rng.random(n) < 0.4).astype(int)
    away = {"good": 0.05, "bad": 0.45}
    answers = {
        name: np.stack(
            [
                y + 10 * size * rng.normal(size=n)
                if regression
                else np.where(rng.random(n) < size, 1 - y, y)
                for _ in range(n_folds)
            ]
        )
        for name, size in away.items()
    }
    classes = None if regression else np.array([0, 1])
    tape = Tape(classes=classes, y=y, weight=None, answers=answers)
    return EvaluationResult(
        protocol="k-fold", checkpoints=np.array([n]), values={"good": {}, "bad": {}}, tape=tape
    )


@pytest.mark.parametrize("regression", [False, True])
def test_no_measure_under_any_name_names_the_wrong_winner(regression):
    result = far_apart(regression=regression)
    for metrics in as_named_by_users(OF_TARGETS if regression else OF_LABELS):
        scored = result.rescore(metrics, record_every=300)
        for a, b in (("good", "bad"), ("bad", "good")):
            assert scored.compare(a, b).better == "good", metrics
            assert scored.compare(a, b, test="sign").better == "good", metrics
            assert scored.compare(a, b, test="q", fold=0).ahead == "good", metrics
        assert scored.rank().ranking == ("good", "bad"), metrics


def test_measures_that_do_not_say_their_direction_are_refused_by_name():
    result = k_fold([wrong_share, "kappa_se"])
    for metric in ("wrong_share", "kappa_se"):
        with pytest.raises(ValueError, match=f"{metric}.*Measure.function, higher_is_better"):
            result.compare("last", "majority", metric=metric)
        with pytest.raises(ValueError, match=f"{metric}.*Measure.function, higher_is_better"):
            result.rank(metric=metric)
    assert result.compare("majority", "last", higher_is_better=False).better == "last"
    assert result.rank(higher_is_better=False).ranking[0] == "last"


def test_results_keep_what_measures_say(tmp_path):
    loss = Measure(wrong_share, higher_is_better=False, bounds=(0, 1))
    evaluator = PrequentialEvaluator({"err": "error", "mine": loss, "k": "kappa", "f1:UP": "f1:UP"})
    result = evaluator.evaluate(Persistent(), make_demo_stream(100))
    loaded = load(result.save(tmp_path / "result.npz"))
    assert loaded.measures == result.measures
    assert loaded.details.mechanisms == result.details.mechanisms == {"cumulative": "cumulative"}
    err, mine, kappa, f1 = result.measures.values()
    assert (err.name, err.higher_is_better, err.bounds) == ("error", False, (0.0, 1.0))
    assert (mine.name, mine.higher_is_better, mine.bounds) == ("wrong_share", False, (0.0, 1.0))
    assert (kappa.higher_is_better, kappa.baseline_is_zero) == (True, True)
    assert (f1.name, f1.bounds) == ("f1:UP", (0.0, 1.0))
    rescored = loaded.rescore({"e": "error"}, forgetting={"recent": "window:50"})
    assert {name: facts.name for name, facts in rescored.measures.items()} == {"e": "error"}
    assert rescored.details.mechanisms == {"recent": "window:50"}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"higher_is_better": "less"}, "'higher_is_better' parameter of Measure must be"),
        ({"bounds": (1, 0)}, "'bounds' parameter of Measure must be two numbers"),
        ({"bounds": 1}, "'bounds' parameter of Measure must be two numbers"),
        ({"row_loss": "cubic"}, "'row_loss' parameter of Measure must be a str among"),
        ({"max_classes": 0}, "'max_classes' parameter of Measure must be an int in"),
    ],
)
def test_measures_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Measure(wrong_share, **options)


def test_a_measure_is_made_of_a_function():
    with pytest.raises(TypeError, match="made of a function"):
        Measure("kappa", higher_is_better=True)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"test": "q", "forgetting": "nonsense"}, "no forgetting 'nonsense'.*'cumulative'"),
        ({"test": "q", "forgetting": 3}, "no forgetting 3"),
        ({"test": "q", "forgetting": "adwin"}, "not defined with AdaptiveWindow"),
        ({"test": "mcnemar", "forgetting": "window:0"}, "no forgetting 'window:0'"),
        ({"test": "mcnemar", "forgetting": "window:9", "method": "exact"}, "exact test counts"),
        ({"forgetting": "window:50"}, "cannot forget as window:50"),
        ({"forgetting": "nonsense"}, "no forgetting 'nonsense'"),
        ({"metric": "kappa"}, "'anytime' compares the 0/1 loss.*measure 'kappa' is not"),
        ({"test": "q", "metric": "kappa"}, "'q' compares the 0/1 loss.*'kappa'.*accuracy"),
        ({"test": "wilcoxon"}, "'wilcoxon' needs several folds; this result has one"),
        ({"test": "sign"}, "'sign' needs several folds; this result has one"),
        ({"test": "sign", "fold": 0}, "'sign' compares all folds, but fold=0"),
        ({"test": "wilcoxon", "bin": 0}, "'wilcoxon' compares all folds, but bin=0"),
        ({"at": 0}, "at must be an integer .*Got 0"),
        ({"at": -5, "test": "q"}, "at must be an integer .*Got -5"),
        ({"at": 2.5}, "at must be an integer .*Got 2.5"),
        ({"at": 1}, "both scored on none of row 1:"),
        ({"fold": 99}, "fold must be 0, the only one in this result, as an int.*Got 99"),
        ({"fold": -1}, "fold must be 0, the only one in this result, as an int.*Got -1"),
        ({"bin": 0}, "this one has no bins"),
        ({"since": 0}, "since must be an integer"),
        ({"since": 101, "at": 50}, "no row from since=101 to at=50"),
        ({"since": 1000}, "scored on none of rows 1,000 to 400"),
        ({"test": "mcnemar", "over_time": True, "method": "exact"}, "exact test is for one look"),
        ({"test": "mcnemar", "record_every": 9}, "is for its curve: pass over_time=True"),
        ({"over_time": True, "forgetting": "window:9"}, "cannot forget as window:9"),
    ],
    ids=str,
)
def test_what_a_comparison_cannot_honour_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        one_run(["accuracy", "kappa"]).compare("last", "majority", **options)


def test_statements_name_measure_forgetting_row_and_folds():
    result = k_fold({"err": "error"}, forgetting={"recent": "window:100"}, record_every=50)
    subject = "by err (error) over the last 100 rows (recent) at row 400, over 10 folds"
    compared = result.compare("last", "majority")
    assert compared.subject == result.rank().subject == subject
    assert subject in repr(compared) and f"Compared {subject}." in " ".join(str(compared).split())
    earlier = result.compare("last", "majority", test="sign", at=120).subject
    assert "at row 100 (the checkpoint before row 120)" in earlier
    assert "at row 100, over" in result.compare("last", "majority", at=100).subject
    row_test = result.compare("last", "majority", test="q", fold=3, at=120).subject
    assert row_test.endswith("over the last 100 rows, rows 2 to 120, fold 3")
    with pytest.raises(ValueError, match="at or before row 49: the first is at row 50"):
        result.rank(at=49)


def test_tests_over_rows_take_the_loss_of_the_measure():
    result = one_run_of_regressors({"quality": "mse", "mae": "mae", "r2": "r2"})
    y = result.tape.y
    errors = [np.abs(p[0] - y)[1:] for p in result.tape.answers.values()]
    squares = q_statistic(*(error**2 for error in errors))
    given = result.compare("last", "mean", test="q")
    np.testing.assert_array_equal(given.values, squares.values)
    assert "squared error" in given.subject
    given = result.compare("last", "mean", test="q", metric="mae")
    np.testing.assert_array_equal(given.values, q_statistic(*errors).values)
    with pytest.raises(ValueError, match=r"'q' compares the absolute error.*'r2' is not"):
        result.compare("last", "mean", test="q", metric="r2")
    found = result.compare("last", "mean", metric="mae")
    assert found.boundary == "asymptotic" and "asymptotic" in str(found)
    assert str(found) == str(result.compare("last", "mean", metric="mae", boundary="asymptotic"))
    assert result.compare("last", "mean", bounds=(0, 9e9)).boundary == "mixture"
    with pytest.raises(ValueError, match=r"'mixture' of the absolute .* needs bounds=.*Only you"):
        result.compare("last", "mean", metric="mae", boundary="mixture")
    with pytest.raises(TypeError, match="'mae' is a measure, not a test: pass metric='mae'"):
        result.compare("last", "mean", "mae")
    with pytest.raises(ValueError, match="McNemar's test compares classifiers"):
        result.compare("last", "mean", test="mcnemar")
    only_r2 = one_run_of_regressors("r2").compare("last", "mean", test="q")
    assert "absolute error" in only_r2.subject


def test_ranks_over_streams_are_those_of_one_measure():
    streams = [make_demo_stream(200 + k, random_state=k) for k in range(3)]
    first, *rest = (one_run({"quality": "error"}, stream) for stream in streams)
    ranked = first.rank(*rest)
    assert ranked.ranking == ("last", "majority")
    assert ranked.subject.endswith("at row 200, ..., at row 202, over 3 streams")
    for other in (one_run({"quality": "accuracy"}), one_run("error", forgetting="window:9")):
        with pytest.raises(ValueError, match="same measure with the same forgetting"):
            first.rank(other)
    evaluator = KFoldEvaluator("error", n_folds=3, random_state=0)
    folds, *others = (evaluator.evaluate(MODELS, stream) for stream in streams)
    assert folds.rank(*others).subject.endswith("over 3 streams, means over 3 folds each")


def test_a_stream_is_ranked_once(tmp_path):
    first, second = (one_run(stream=make_demo_stream(300, random_state=k)) for k in (0, 1))
    again = one_run("accuracy", make_demo_stream(300, random_state=0))
    loaded = load(first.save(tmp_path / "first.npz"))
    X, y = make_demo_stream(300, random_state=0).X, make_demo_stream(300, random_state=0).y
    renamed = PrequentialEvaluator("accuracy").evaluate(MODELS, X, np.where(y == "UP", "b", "a"))
    with pytest.raises(ValueError, match=r"Results 2 and 3 .* are the same result\. Pass"):
        first.rank(second, second)
    for same in (again, loaded):
        with pytest.raises(ValueError, match=r"of the same stream: their labels are identical"):
            first.rank(same)
        ranked = first.rank(second, same)
        assert ranked.n_blocks == 2
        assert ranked.average_ranks.tolist() == first.rank(second).average_ranks.tolist()
        assert "over 2 streams, means over 1 or 2 results of the same stream, which count once" in (
            ranked.subject
        )
    assert first.rank(second, renamed).n_blocks == 3  # other labels, as far as anyone can tell
    untaped = [
        one_run(stream=make_demo_stream(300, random_state=k), run=NO_TAPE) for k in (0, 1, 0)
    ]
    untaped[2] = load(untaped[2].save(tmp_path / "untaped.npz"))
    with pytest.raises(ValueError, match=r"Results 1 and 3 .* are the same result"):
        untaped[0].rank(untaped[1], untaped[0])
    assert untaped[0].rank(*untaped[1:]).n_blocks == 2
    unknown = replace(untaped[0], details=replace(untaped[0].details, labels_read=""))
    with pytest.warns(UserWarning, match="Result 2 of those to rank does not identify its stream"):
        assert untaped[1].rank(unknown).n_blocks == 2
    delayed = DelayedEvaluator("accuracy", delay=3, run=RunOptions(keep_tape=False))
    with pytest.raises(ValueError, match="of the same stream"):
        delayed.evaluate(MODELS, X, y).rank(delayed.evaluate(MODELS, X, y))
    first, second = one_run_of_regressors("mae"), one_run_of_regressors("mae")
    with pytest.raises(ValueError, match="their labels are identical"):
        first.rank(second)


def test_seeds_of_one_generator_are_one_stream():
    made = [(SEA, 200, 0), (SEA, 200, 1), (SEA, 200, 2), (Sine, 200, 0), (Sine, 200, 1)]
    results = [
        one_run(stream=kind(n_rows, random_state=seed), run=NO_TAPE) for kind, n_rows, seed in made
    ]
    ranked = results[0].rank(*results[1:])
    assert ranked.n_blocks == 2
    assert "means over 2 or 3 results of the same stream" in ranked.subject
    with pytest.raises(ValueError, match="same generator with other seeds"):
        results[0].rank(*results[1:3])
    other = one_run(stream=SEA(200, thresholds=(3,)), run=NO_TAPE)
    assert results[0].rank(other).n_blocks == 2


def test_only_what_was_evaluated_alike_is_ranked_together():
    streams = [make_demo_stream(300, random_state=k) for k in range(3)]
    first, second = (one_run(stream=stream) for stream in streams[:2])
    for options, words in (
        ({"batch_size": 50}, r"Result 1 has batch_size=1, and result 3 has batch_size=50\."),
        ({"n_warmup": 9, "unanswered": "wrong"}, "n_warmup=9, unanswered='wrong'"),
    ):
        other = one_run(stream=streams[2], **options)
        with pytest.raises(ValueError, match=words):
            first.rank(second, other)
    folds = KFoldEvaluator("accuracy", n_folds=3).evaluate(MODELS, streams[2])
    with pytest.raises(ValueError, match="Result 1 is prequential, and result 2 is k-fold"):
        first.rank(folds)
    gaps = one_run(stream=streams[2], missing_labels="skip")
    assert first.rank(second, gaps).subject.endswith("3 streams (with different missing_labels)")


@pytest.mark.parametrize("metric", ["accuracy", "error"])
def test_friedman_is_that_of_the_values_over_folds(metric):
    evaluator = KFoldEvaluator(metric, n_folds=8, random_state=0)
    models = {**MODELS, "bayes": IncrementalGaussianNB()}
    result = evaluator.evaluate(models, STREAM)
    table = np.stack([result.curve(name)[-1] for name in models], axis=1)
    found = result.compare(test="friedman", alpha=0.1)
    expected = friedman_nemenyi(table, list(models), higher_is_better=metric != "error", alpha=0.1)
    assert replace(found, subject="", blocks=expected.blocks) == expected
    whole = scipy.stats.friedmanchisquare(*table.T)
    assert (found.chi2, found.chi2_pvalue) == pytest.approx((whole.statistic, whole.pvalue))
    assert "by " + metric in " ".join(str(found).split())
    assert result.compare("bayes", "last", test="friedman").names == ("bayes", "last")
    early = result.compare(test="friedman", at=200)
    assert early == result.rank(at=200) and "at row 200" in " ".join(str(early).split())
    for wrong in ({"fold": 0}, {"since": 5}, {"over_time": True}, {"zero_method": "pratt"}):
        with pytest.raises((ValueError, TypeError), match="The test 'friedman'"):
            result.compare(test="friedman", **wrong)
    for names in ((), ("last",)):
        with pytest.raises(TypeError, match=r"Name the two models .* compare\(test='friedman'\)"):
            result.compare(*names)
    with pytest.raises(ValueError, match="needs several folds"):
        one_run().compare(test="friedman")


def test_statements_say_whether_folds_or_streams_were_ranked():
    first, second = (one_run(stream=make_demo_stream(300, random_state=k)) for k in (0, 1))
    ranked = first.rank(second), k_fold("error").rank()
    of_streams, of_folds = (" ".join(str(one).split()) for one in ranked)
    assert "2 models over 2 streams, Friedman" in of_streams
    assert "streams with ties: 0 of 2" in of_streams
    assert "fold" not in of_streams
    assert "stream" not in of_folds.replace("Folds of one stream are not independent", "")
    assert "Folds of one stream" in of_folds


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_model_that_failed_does_not_win_by_its_error_score():
    stream = make_demo_stream(700, random_state=0)
    models = {"last": Persistent(), "broken": FailsLater(300)}
    evaluator = KFoldEvaluator("error", n_folds=6, random_state=0, error_score=0.0)
    folds = evaluator.evaluate(models, stream)
    for refused in (lambda: folds.compare("last", "broken"), folds.rank):
        with pytest.raises(ValueError, match=r"'broken' failed in the folds \[.*error_score=0"):
            refused()
    assert folds.compare("last", "broken", at=300).better == "last"
    single = PrequentialEvaluator("error", error_score=0.0).evaluate(models, stream)
    compared = single.compare("last", "broken")
    assert compared.subject.endswith("rows 2 to 300 (then 'broken' failed)")
    other = PrequentialEvaluator("error", error_score=0.0).evaluate(
        models, make_demo_stream(700, random_state=1)
    )
    with pytest.raises(ValueError, match="compare at=300 or earlier"):
        single.rank(other)


@pytest.mark.parametrize(
    ("forgetting", "words"),
    [
        ("cumulative", "over all rows"),
        ("window:50", "over the last 50 rows"),
        ("fading:0.95", "with fading factor 0.95"),
    ],
)
def test_comparisons_over_time_are_curves_under_the_forgetting_and_the_measure(forgetting, words):
    result = one_run()
    losses = losses_of_rows(result)
    common = {"over_time": True, "forgetting": forgetting, "record_every": 7}
    curve = result.compare("last", "majority", test="mcnemar", **common)
    wanted = mcnemar_curve(np.zeros(len(losses[0])), *losses, forgetting=forgetting, record_every=7)
    for name in ("checkpoints", "statistics", "pvalues"):
        np.testing.assert_array_equal(getattr(curve, name), getattr(wanted, name))
    assert f"{words}, rows" in curve.subject
    regressors = one_run_of_regressors("mae")
    y = regressors.tape.y[1:]
    errors = [np.abs(p[0, 1:] - y) for p in regressors.tape.answers.values()]
    for metric, power in (("mae", 1), ("mse", 2)):
        result = regressors.rescore([metric])
        q = result.compare("last", "mean", test="q", metric=metric, **common)
        same = q_statistic(*(e**power for e in errors), forgetting=forgetting, record_every=7)
        np.testing.assert_allclose(q.values, same.values, rtol=1e-12)


def test_over_time_changes_no_comparison_that_is_a_curve_already():
    result = one_run()
    for test in ("q", "anytime"):
        plain, over_time = (
            result.compare("last", "majority", test=test, over_time=over) for over in (False, True)
        )
        assert str(plain) == str(over_time)
    final = result.compare("last", "majority", test="mcnemar", method="chi2")
    curve = result.compare("last", "majority", test="mcnemar", over_time=True)
    assert curve.statistic == pytest.approx(final.statistic)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_compared_by_losses_of_probabilities(n_classes, rng):
    X = rng.random((200, 2))
    codes = (X[:, 0] * n_classes + rng.normal(0, 0.2, 200)).clip(0, n_classes - 0.1).astype(int)
    y = np.array(["a", "b", "c"])[codes]
    models = {"bayes": MultinomialNB(), "majority": MajorityClass()}
    evaluator = PrequentialEvaluator(["log_loss", "brier", "accuracy"], random_state=0)
    result = evaluator.evaluate(models, X, y)
    highest = {"log_loss": -np.log(2.0**-52), "brier": 1.0 if n_classes == 2 else 2.0}
    for metric, bound in highest.items():
        test = result.compare("bayes", "majority", metric=metric)
        scores = result.scores
        apart = scores["bayes"][metric] - scores["majority"][metric]
        assert test.difference == pytest.approx(apart, abs=1e-9)
        losses = []
        for name in models:
            shares = result.tape.probabilities(name)[1:]
            one_hot = y[1:, np.newaxis] == result.classes
            of_rows = -np.log(np.clip(shares[one_hot], 2.0**-52, 1 - 2.0**-52))
            if metric == "brier":
                of_rows = ((shares - one_hot) ** 2).sum(axis=1) / (2 if n_classes == 2 else 1)
            losses.append(of_rows)
        same = anytime_comparison(*losses, bounds=(0, bound))
        assert test.pvalue == pytest.approx(same.pvalue, rel=1e-6)
        if metric == "log_loss":
            assert "by the log loss of each row (log_loss), at most 36.04, over all rows" in str(
                test
            )
            clipped = result.compare("bayes", "majority", metric=metric, bounds=(0, 2))
            same = anytime_comparison(*np.minimum(losses, 2.0), bounds=(0, 2))
            assert clipped.difference == pytest.approx(same.difference)
            assert "(log_loss), clipped at 2, over all rows" in str(clipped)
        q = result.compare("bayes", "majority", metric=metric, test="q")
        assert q.values[-1] == pytest.approx(np.log(losses[0].sum() / losses[1].sum()))
    first = result.compare("bayes", "majority")
    assert str(first) == str(result.compare("bayes", "majority", metric="log_loss"))
    assert "0/1 loss" in str(result.compare("bayes", "majority", test="mcnemar"))
    with pytest.raises(ValueError, match=r"'mcnemar' compares the 0/1 loss.*'brier' is not"):
        result.compare("bayes", "majority", test="mcnemar", metric="brier")


@pytest.mark.filterwarnings("ignore:Model .* has no predict_proba")
def test_a_model_without_probabilities_is_not_compared_by_them():
    X = np.random.default_rng(0).random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    evaluator = PrequentialEvaluator(["brier"], error_score=np.nan, random_state=0)
    result = evaluator.evaluate({"svm": SGDClassifier(), "bayes": MultinomialNB()}, X, y)
    with pytest.raises(ValueError, match=r"no probabilities of 'svm', which 'brier' needs.*accura"):
        result.compare("svm", "bayes")


def probabilities_of_two_models(n_rows: int = 3000) -> EvaluationResult:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_rows, 2))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)
    models = {
        "sgd": SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01),
        "bayes": IncrementalGaussianNB(),
    }
    return PrequentialEvaluator(["log_loss", "auc"]).evaluate(models, X, y)


def test_log_losses_without_bounds_and_costs_are_compared_row_by_row():
    result = probabilities_of_two_models()
    wide = result.compare("sgd", "bayes", metric="log_loss")
    assert "at most 36.04, over all rows" in wide.subject
    clipped = result.compare("sgd", "bayes", metric="log_loss", bounds=(0, 5))
    assert "clipped at 5" in clipped.subject
    sharp = result.compare("sgd", "bayes", metric="log_loss", boundary="asymptotic")
    assert "The interval is asymptotic: nothing is certain before 1,000 rows" in (
        " ".join(str(sharp).split())
    )
    assert sharp.difference == pytest.approx(wide.difference)
    assert sharp.half_widths[-1] < wide.half_widths[-1] / 3
    assert np.isinf(sharp.half_widths[sharp.checkpoints < 1000]).all()
    y, matrix = result.tape.y, np.array([[0.0, 1.0], [5.0, 0.0]])
    answers = [result.tape.answers[name][0] for name in ("sgd", "bayes")]
    costs = [matrix[y[1:], p[1:]] for p in answers]
    compared = result.compare("sgd", "bayes", metric=cost(matrix))
    expected = anytime_comparison(*costs, bounds=(0, 5))
    assert (compared.difference, compared.pvalue) == (expected.difference, expected.pvalue)
    assert "the loss of each row (cost)" in compared.subject
    p = result.tape.scores["sgd"][0][1:, 0]
    decided = matrix[y[1:], (p >= 0.2).astype(int)]
    by = result.compare("sgd", "bayes", test="q", metric=cost(matrix, threshold=0.2))
    assert by.values.shape == result.compare("sgd", "bayes", test="q").values.shape
    at_threshold = result.compare("sgd", "bayes", metric=cost(matrix, threshold=0.2))
    other = matrix[y[1:], (result.tape.scores["bayes"][0][1:, 0] >= 0.2).astype(int)]
    assert at_threshold.difference == pytest.approx(np.mean(decided - other))
    for metric, words in (
        (cost(matrix, threshold="best"), "not the mean of a loss per row"),
        (cost(np.ones((3, 3)) - np.eye(3)), "is for 3 classes, and the result has 2"),
        ("auc", "is not the mean of such losses"),
    ):
        with pytest.raises(ValueError, match=words):
            result.compare("sgd", "bayes", metric=metric)


def test_rows_are_compared_since_a_row_and_folds_at_one():
    result = one_run("error")
    losses = [result.tape.answers[name][0] != result.tape.y for name in MODELS]
    for test in ("anytime", "mcnemar"):
        found = result.compare(*MODELS, test=test, since=101, at=250)
        if test == "anytime":
            assert found.difference == np.mean(losses[0][100:250] * 1.0 - losses[1][100:250])
        else:
            first = mcnemar(
                result.tape.y[100:250], *(result.tape.answers[n][0][100:250] for n in MODELS)
            )
            assert found.pvalue == first.pvalue
        assert "rows 101 to 250" in found.subject
    for options, words in (
        ({"since": 5}, "compares values over folds"),
        ({"over_time": True}, "'wilcoxon' compares the values of all folds at one row"),
        ({"higher_is_better": True}, "A lower value of measure 'error' is better"),
    ):
        with pytest.raises(ValueError, match=words):
            k_fold("error").compare(*MODELS, **options)
