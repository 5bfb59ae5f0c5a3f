"""Measures of probabilities: by their definitions, on what every mechanism remembers."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from skstream import HoldoutEvaluator, PrequentialEvaluator, prequential_predict
from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import (
    OF_CLASSES,
    PROBABILITIES,
    measure_of_name,
    resolve_metrics,
)
from skstream.core.measures.running import RunningMeasures
from skstream.metrics import (
    Measure,
    calibration_error,
    cost,
    coverage,
    gmean,
    set_size,
    top_k_accuracy,
)
from skstream.metrics._calibration import brier_part
from tests._examples import newest_alone
from tests.metrics import _probability_reference as oracle
from tests.metrics._reference import Reference
from tests.metrics._streams import (
    MECHANISMS,
    Stream,
    assert_models_are_as_alone,
    assert_same_curves,
    make_stream,
)

SIZES = [(2, False), (2, True), (5, True)]
MATRIX = [[0.0, 1.0], [5.0, 0.5]]
#: Those that are means of rows; rankings are tested on their own.


def named(name):
    """Measure of probabilities of a name."""
    return measure_of_name(name, PROBABILITIES)


OF_ROWS = [measure for measure in PROBABILITIES.values() if measure.needs != "scores"]
OF_ROWS.append(gmean("best"))


def probabilities(stream, seed=0):
    """Probabilities that are right more often than not; NaN where a row was not asked."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(stream.n_classes), len(stream))
    right = rng.random(len(stream)) < 0.5
    scores[right] = 0.5 * scores[right] + 0.5 * np.eye(stream.n_classes)[stream.y[right]]
    scores[rng.random(len(stream)) < 0.05] = np.eye(stream.n_classes)[0]
    scores[stream.p < 0] = np.nan
    return scores


def scored(stream, scores, metrics, forgetting, cuts=(), record_every=1, **options):
    measures = RunningMeasures(
        {measure.name: measure for measure in metrics},
        as_forgetting(forgetting),
        classes=stream.classes,
        record_every=record_every,
        **options,
    )
    bounds = [0, *cuts, len(stream)]
    for start, stop in pairwise(bounds):
        part = stream.part(start, stop)
        measures.update(part.y, part.p, part.weight, scores=scores[..., start:stop, :])
    return measures


def defined(n_classes):
    """All measures that suit so many classes."""
    measures = [
        *OF_ROWS,
        *map(named, ("top_k_accuracy:1", "calibration_error_max:7")),
        *(brier_part(part, 4) for part in ("reliability", "resolution")),
        coverage(0.3, gamma=0.05),
        set_size(0.3, gamma=0.05),
    ]
    if n_classes == 2:
        measures += [cost(MATRIX, threshold=t) for t in (None, 0.3, "best", "expected")]
        measures += [gmean(0.3)]
    else:
        matrix = np.arange(n_classes**2.0).reshape(n_classes, n_classes) % 7
        measures += [cost(matrix), cost(matrix, threshold="expected")]
    return [one for one in measures if (one.max_classes or n_classes) >= n_classes]


def of_rows(stream, scores, reference):
    """Value of every scored row, by measures that are means of them."""
    k, rows = stream.n_classes, reference.scored
    y, s = reference.y[rows], scores[reference.labelled[rows]]
    w, p = reference.w[rows], reference.p[rows]
    values = {}
    for alpha, gamma, name in ((0.1, 0.005, ""), (0.3, 0.05, ":0.3")):
        values["coverage" + name], values["set_size" + name] = oracle.conformal(y, s, alpha, gamma)
    if k > 2:
        matrix = np.arange(k**2.0).reshape(k, k) % 7
        expected = (s[:, :, np.newaxis] * matrix).sum(axis=1)
        decided = np.array([np.flatnonzero(row == row.min())[-1] for row in expected])
        return {**values, "cost": matrix[y, p], "cost:expected": matrix[y, decided]}
    matrix = np.asarray(MATRIX)

    def saved(y, decided, w):
        return -(matrix[y, decided] * w).sum()

    middle = 1.0 / 5.5
    best = oracle.best_answers(y, s[:, 1], w, saved, middle)
    elkan = (s[:, 1] >= middle).astype(int)
    fixed = (s[:, 1] >= 0.3).astype(int)
    return {
        **values,
        "cost": matrix[y, p],
        "cost:0.3": matrix[y, fixed],
        "cost:best": matrix[y, best],
        "cost:expected": matrix[y, elkan],
    }


def of_definition(name, y, scores, weight, losses_beside):
    """Value of a measure on some rows."""
    kind, _, number = name.partition(":")
    if kind in ("log_loss", "brier", "top_k_accuracy"):
        return oracle.of_scikit_learn(name, y, scores, weight)
    if kind in ("calibration_error", "calibration_error_max"):
        return oracle.calibration_errors(y, scores, weight, int(number or 10))[kind[-3:] == "max"]
    if kind in ("brier_reliability", "brier_uncertainty"):
        part = oracle.brier_parts(y, scores, weight, int(number or 10))
        return part[2 * (kind == "brier_uncertainty")]
    if "skill" in kind:
        own = oracle.losses(kind.partition("_")[0], y, scores)
        return 1.0 - (own * weight).sum() / (losses_beside[kind] * weight).sum()
    return None


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("n_classes", "weighted"), SIZES)
def test_every_value_is_that_of_the_definition(name, n_classes, weighted):
    stream = make_stream(5, 60, n_classes, weighted=weighted, gaps=True)
    scores, forgetting = probabilities(stream), MECHANISMS[name]
    measures = defined(n_classes)
    curves = scored(stream, scores, measures, forgetting).curves()
    sparse = scored(stream, scores, measures, forgetting, record_every=29).curves()
    ref = Reference(stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=9)
    means = of_rows(stream, scores, ref)
    beside = {}
    for ending, previous in (("", None), ("_temporal", ref.previous)):
        known = oracle.baseline_scores(ref.y, ref.w, n_classes, previous)
        for loss in ("log", "brier"):
            beside[f"{loss}_skill{ending}"] = oracle.losses(loss, ref.y, known)
    (values,), (at_few,) = curves.values.values(), sparse.values.values()
    compared = set()
    for n_rows in (1, 7, 29, 58, 60):
        rows, kept = ref.at(n_rows)
        inside = kept > 1e-16
        y, s = ref.y[rows][inside], scores[ref.labelled[rows]][inside]
        for measure in measures:
            found = values[measure.name][n_rows - 1]
            if n_rows in sparse.checkpoints:
                few = at_few[measure.name][list(sparse.checkpoints).index(n_rows)]
                np.testing.assert_allclose(few, found, rtol=1e-9, atol=1e-12)
            if not inside.any():
                assert np.isnan(found)
                continue
            those = {kind: losses[rows][inside] for kind, losses in beside.items()}
            wanted = of_definition(measure.name, y, s, kept[inside], those)
            if measure.name in means:
                wanted = np.average(means[measure.name][: len(rows)], weights=kept)
            if wanted is not None:
                compared.add(measure.name)
                np.testing.assert_allclose(
                    found, wanted, rtol=1e-9, atol=1e-9, err_msg=measure.name
                )
    left = {measure.name for measure in measures} - compared
    assert {one.partition(":")[0] for one in left} <= {
        "brier_resolution",  # the parts add up
        "calibration_error_quantile",
        "calibration_error_max_quantile",
        "gmean",  # at the best threshold before
    }


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_parts_of_the_brier_score_add_up(n_classes):
    stream = make_stream(7, 400, n_classes, weighted=True)
    scores = probabilities(stream)
    in_middle = np.round(scores[:, :-1] * 4) / 4  # one value in each bin
    scores = np.column_stack((in_middle, 1.0 - in_middle.sum(axis=1)))
    names = ("brier_reliability", "brier_resolution", "brier_uncertainty", "brier")
    final = scored(stream, scores, map(PROBABILITIES.get, names), "window:100").final()
    reliability, resolution, uncertainty, whole = final["window:100"].values()
    assert reliability - resolution + uncertainty == pytest.approx(whole, abs=1e-15)
    rows = np.flatnonzero((stream.p >= 0) & (stream.weight > 0))[-100:]
    parts = oracle.brier_parts(stream.y[rows], scores[rows], stream.weight[rows], 10)
    np.testing.assert_allclose([reliability, resolution, uncertainty], parts, atol=1e-12)


@newest_alone
@pytest.mark.parametrize("ending", ["", "_temporal"])
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_baseline_itself_has_no_skill(ending, name, n_classes):
    stream = make_stream(1, 80, n_classes, weighted=True, n_warmup=0)
    labelled = np.flatnonzero(stream.weight > 0)
    y, w = stream.y[labelled], stream.weight[labelled]
    previous = np.concatenate(([-1], y[:-1])) if ending else None
    scores = np.zeros((80, n_classes))
    scores[labelled] = oracle.baseline_scores(y, w, n_classes, previous)
    metrics = [PROBABILITIES[f"{loss}_skill{ending}"] for loss in ("log", "brier")]
    (values,) = scored(stream, scores, metrics, MECHANISMS[name]).curves().values.values()
    for of_metric in values.values():
        assert set(of_metric[~np.isnan(of_metric)]) == {0.0}


def test_the_geometric_mean_is_taken_at_the_best_threshold_before():
    stream = make_stream(2, 70, 2, n_warmup=0, weighted=True)
    scores = probabilities(stream)
    rows = np.flatnonzero(stream.weight > 0)
    y, w, p = stream.y[rows], stream.weight[rows], scores[rows, 1]

    def product(y, decided, w):
        return (w * (y == 0) * (decided == 0)).sum() * (w * (y == 1) * (decided == 1)).sum()

    decided = oracle.best_answers(y, p, w, product, 0.5)
    for measure, answers in ((gmean("best"), decided), (gmean(0.3), (p >= 0.3).astype(int))):
        found = scored(stream, scores, [measure], "cumulative").final()["cumulative"]
        shares = [np.average(answers[y == c] == c, weights=w[y == c]) for c in (0, 1)]
        assert found[measure.name] == pytest.approx(np.sqrt(np.prod(shares)))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_plain_geometric_mean_is_of_the_answers(n_classes, name):
    stream = make_stream(4, 90, n_classes, weighted=True, gaps=True)
    scores = probabilities(stream)
    answered = stream.p >= 0
    stream.p[answered] = scores[answered].argmax(axis=1)
    plain = scored(stream, scores, [gmean()], MECHANISMS[name]).curves()
    (of_answers,) = plain.values.values()
    names = [f"recall:{code}" for code in range(n_classes)]
    measures = resolve_metrics(names, classes=range(n_classes)).values()
    (recalls,) = scored(stream, scores, measures, MECHANISMS[name]).curves().values.values()
    table = np.stack([recalls[name] for name in names])
    came = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.where(came, table, 1.0).prod(axis=0) ** (1.0 / came.sum(axis=0))
    expected[~came.any(axis=0)] = np.nan
    np.testing.assert_allclose(of_answers["gmean"], expected, rtol=1e-12)
    if n_classes == 2:  # an answer is decided at one half
        (halves,) = scored(stream, scores, [gmean(0.5)], MECHANISMS[name]).curves().values.values()
        np.testing.assert_allclose(halves["gmean:0.5"], of_answers["gmean"], rtol=1e-12)
    assert (gmean().needs, gmean().max_classes) == ("labels", None)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_bins_of_equal_mass_hold_equal_shares(n_classes, rng):
    n, n_bins = 20_000, 8
    scores = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random((n, 1)) > np.cumsum(scores, axis=1)).sum(axis=1)
    y[:10_000] = rng.integers(0, n_classes, 10_000)  # half of the rows are not calibrated
    measure = calibration_error(n_bins, strategy="quantile")
    running = RunningMeasures({"e": measure}, as_forgetting("cumulative"), classes=range(n_classes))
    running.update(y, scores.argmax(axis=1), scores=scores)
    found = running.final()["cumulative"]["e"]
    confidence = scores[:, 1] if n_classes == 2 else scores.max(axis=1)
    came = y == (1 if n_classes == 2 else scores.argmax(axis=1))
    order = np.argsort(confidence)
    parts = np.array_split(confidence[order] - came[order], n_bins)
    exact = sum(abs(part.sum()) for part in parts) / n
    largest_cell = np.bincount((confidence * 64).astype(int)).max() / n
    # Rows of half a cell at either end of a bin may be in the next one.
    assert abs(found - exact) <= n_bins * largest_cell
    assert abs(found - exact) < 0.01


def test_sets_cover_what_they_promise_under_drift(rng):
    n, alpha, gamma = 4000, 0.1, 0.02
    scores = rng.dirichlet(np.full(5, 0.5), n)
    y = (rng.random((n, 1)) > np.cumsum(scores, axis=1)).sum(axis=1)
    y[2000:] = rng.integers(0, 5, 2000)  # the probabilities say nothing any more
    for forgetting in ("cumulative", "window:1000"):
        measures = {m.name: m for m in (coverage(alpha, gamma=gamma), set_size(alpha, gamma=gamma))}
        running = RunningMeasures(measures, as_forgetting(forgetting), classes=range(5))
        running.update(y, scores.argmax(axis=1), scores=scores)
        share, size = running.final()[forgetting].values()
        rows = n if forgetting == "cumulative" else 1000
        assert abs(share - 0.9) <= (1 + gamma) / (gamma * rows)
        assert 1.0 < size <= 5.0


@newest_alone
@pytest.mark.parametrize("name", MECHANISMS)
def test_pieces_and_several_models_change_nothing(name):
    stream = make_stream(3, 60, 3, weighted=True, gaps=True)
    tables = np.stack([probabilities(stream, seed) for seed in range(3)])
    tables[2] = np.nan  # a model without probabilities
    measures = {measure.name: measure for measure in defined(3)}
    values = assert_models_are_as_alone(measures, MECHANISMS[name], stream, tables, 1)
    for metric, measure in measures.items():
        assert measure.needs != "probabilities" or np.isnan(values[metric]).all()


@pytest.mark.parametrize("forgetting", ["cumulative", "window:17", "fading:0.97"])
def test_pickles_go_on(forgetting):
    stream = make_stream(4, 80, 3, weighted=True, gaps=True)
    scores, measures = probabilities(stream), defined(3)
    first = scored(stream.part(0, 40), scores[:40], measures, forgetting)
    going_on, part = pickle.loads(pickle.dumps(first)), stream.part(40, None)
    going_on.update(part.y, part.p, part.weight, scores=scores[40:])
    assert_same_curves(going_on.curves(), scored(stream, scores, measures, forgetting).curves())


@pytest.mark.parametrize("n_classes", [2, 4])
def test_names_of_the_classes_do_not_matter(n_classes):
    stream = make_stream(6, 90, n_classes, weighted=True, gaps=True)
    fresh = np.random.default_rng(9).dirichlet(np.ones(n_classes), len(stream))
    scores = 0.5 * (probabilities(stream) + fresh)  # without ties
    other = np.r_[n_classes - 1 : -1 : -1]  # the codes in the opposite order
    renamed = Stream(
        *(np.where(codes < 0, codes, other[codes]) for codes in (stream.y, stream.p)),
        stream.weight,
        n_classes,
    )
    kept = [m for m in PROBABILITIES.values() if (m.max_classes or n_classes) >= n_classes]
    found = scored(renamed, scores[:, other], kept, "window:30").final()["window:30"]
    for name, value in scored(stream, scores, kept, "window:30").final()["window:30"].items():
        if n_classes > 2 or name != "average_precision":
            same = pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)
            assert found[name] == same, name


@pytest.mark.parametrize("name", OF_CLASSES)
def test_no_measure_takes_the_later_name_of_two_classes(name):
    rng = np.random.default_rng(3)
    p = rng.random(300)
    positive = rng.random(300) < 0.6 * p
    values = []
    for classes in (["fraud", "legit"], ["legit", "spam"]):  # the positive class first, and last
        code = classes.index("legit") ^ positive
        try:
            measure = resolve_metrics(name, classes=classes)
        except ValueError as error:
            assert all(f"'{name}:{label}'" in str(error) for label in classes)
            return
        running = RunningMeasures(
            measure, as_forgetting("cumulative"), classes=classes, record_every=1
        )
        second = np.where(classes[1] == "legit", 1.0 - p, p)
        running.update(code, second > 0.5, scores=second[:, np.newaxis])
        values.append(running.final()["cumulative"][name])
    # Ties of the majority go to the first class; bins of equal mass are filled from one side.
    slack = 0.03 if name == "kappa_m" or "quantile" in name else 1e-12
    assert values[0] == pytest.approx(values[1], rel=1e-9, abs=slack)


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [False, True], ["0", "1"]])
def test_a_class_that_is_called_1_is_the_positive_one(classes):
    for name in ("average_precision", f"average_precision:{classes[1]}"):
        assert list(resolve_metrics(name, classes=classes)) == [name]


def test_many_classes_are_read_in_shorter_blocks(rng):
    y, scores = rng.integers(0, 6000, 60), rng.dirichlet(np.ones(6000), 60)
    names = ("log_loss", "brier", "top_k_accuracy", "log_skill")
    running = RunningMeasures(
        {name: PROBABILITIES[name] for name in names},
        as_forgetting("cumulative"),
        classes=np.arange(6000),
    )
    running.update(y, scores.argmax(axis=1), scores=scores)
    assert running._waiting.size == 1024
    assert running.final()["cumulative"]["log_loss"] == pytest.approx(
        oracle.losses("log", y, scores).mean()
    )


def test_one_class_and_the_second_of_two_columns():
    stream = make_stream(8, 60, 2)
    scores, measures = probabilities(stream), defined(2)
    both = scored(stream, scores, measures, "cumulative").final()
    assert both == scored(stream, scores[:, 1:], measures, "cumulative").final()
    alone = make_stream(8, 60, 1)
    measures = [one for one in OF_ROWS if one.name != "gmean:best"]
    final = scored(alone, np.ones((60, 1)), measures, "cumulative").final()["cumulative"]
    perfect = {"top_k_accuracy": 1.0, "coverage": 1.0, "set_size": 1.0}
    for name, value in final.items():
        if "skill" not in name:
            assert value == pytest.approx(perfect.get(name, 0.0), abs=1e-15)
        else:  # the baseline has no Brier loss, and the log loss of the clip
            assert np.isnan(value) if "brier" in name else value == 0.0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_unanswered_row_counts_as_all_probability_on_the_wrong_classes(n_classes):
    wrong = np.full(n_classes, 1.0 / (n_classes - 1))
    wrong[1] = 0.0
    measures = []
    for p, scores in [(-2, np.full(n_classes, np.nan)), (0, wrong)]:
        metrics = {m.name: m for m in PROBABILITIES.values() if (m.max_classes or 4) >= n_classes}
        one = RunningMeasures(metrics, as_forgetting("cumulative"), classes=np.arange(n_classes))
        one.update([1], [p], scores=scores[np.newaxis])
        measures.append(one.final())
    np.testing.assert_equal(measures[0], measures[1])
    costs = RunningMeasures(
        {"cost": cost([[0, 1], [3, 0]])}, as_forgetting("cumulative"), classes=[0, 1]
    )
    costs.update([0, 1], [-2, -2])
    assert costs.final()["cumulative"]["cost"] == 2.0


def test_rows_without_scores_are_refused():
    measures = RunningMeasures(
        {name: PROBABILITIES[name] for name in ("log_loss", "brier")},
        as_forgetting("cumulative"),
        classes=np.arange(2),
        n_models=1,
    )
    with pytest.raises(ValueError, match=r"'log_loss', 'brier'.* need probabilities.*pass scores="):
        measures.update([0, 1], [[0, 1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: top_k_accuracy(0), "'k' parameter of top_k_accuracy must be an integer >= 1"),
        (lambda: calibration_error(2.5), "'n_bins' parameter .* Got 2.5"),
        (lambda: calibration_error(norm="l2"), "'norm' parameter of calibration_error must be"),
        (lambda: brier_part("skill"), "'part' parameter of brier_part"),
        (lambda: cost([[0, 1]]), "'matrix' parameter of cost must be a square table"),
        (lambda: cost([[0, np.inf], [1, 0]]), "deciding for class 1 if the label is class 0 is"),
        (lambda: cost(MATRIX, threshold=1.5), r"'threshold' parameter of cost must be .*\[0, 1\]"),
        (lambda: cost(np.zeros((3, 3)), threshold=0.5), "decides between two classes.* has 3"),
        (lambda: gmean("worst"), r"'threshold' parameter of gmean .*\"best\" or None. Got 'worst'"),
        (lambda: coverage(1.0), r"'alpha' parameter of coverage must be within \(0, 1\)"),
        (lambda: set_size(gamma=-1), "'gamma' parameter of set_size"),
        (lambda: named("coverage:much"), "There is no measure 'coverage:much'"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_formula_of_series_of_probabilities_needs_them():
    def perplexity(sums):
        return np.exp(sums["log_loss"] / sums["rows"])

    measure = Measure(formula=perplexity, series={"log_loss"}, higher_is_better=False)
    assert measure.needs == "probabilities"
    stream = make_stream(0, 30, 3)
    scores = probabilities(stream)
    found = scored(stream, scores, [measure, PROBABILITIES["log_loss"]], "cumulative").final()
    values = found["cumulative"]
    assert values["perplexity"] == pytest.approx(np.exp(values["log_loss"]))
    with pytest.raises(ValueError, match="from series of probabilities but says that it needs lab"):
        Measure(formula=perplexity, series={"log_loss"}, needs="labels")


def test_equal_parameters_are_equal_measures_and_are_formed_once():
    assert cost(MATRIX, threshold="best") == cost(np.asarray(MATRIX), threshold="best")
    for name in PROBABILITIES:
        assert named(name) == PROBABILITIES[name]
    assert named("top_k_accuracy:2") == top_k_accuracy()
    assert named("mine") is None


def test_evaluators_know_them_by_name_function_and_scorer(rng):
    X = rng.random((120, 2))
    y = np.where(X[:, 0] + rng.normal(0, 0.3, 120) > 0.5, "UP", "DOWN")
    metrics = {
        "log_loss": "log_loss",
        "scorer": "neg_log_loss",
        "wider": "calibration_error:5",
        "saved": cost(MATRIX, threshold="best"),
        "answers": cost(MATRIX),
    }
    evaluator = PrequentialEvaluator(metrics, forgetting="window:100", random_state=0)
    result = evaluator.evaluate(MultinomialNB(), X, y)
    scores = result.scores["MultinomialNB"]
    assert scores["scorer"] == -scores["log_loss"]
    shares, rows = prequential_predict(
        MultinomialNB(), X, y, method="predict_proba", return_rows=True
    )
    codes = (y[rows] == "UP").astype(int)
    error = oracle.calibration_errors(codes[-100:], shares[-100:], np.ones(100), 5)[0]
    assert scores["wider"] == pytest.approx(error, rel=1e-9)
    assert result.measures["saved"].higher_is_better is False
    held_out = HoldoutEvaluator(["gmean:best"], holdout=(X[:30], y[:30]), every=30, random_state=0)
    with pytest.raises(ValueError, match="'gmean:best' is estimated from the rows before each row"):
        held_out.evaluate(MultinomialNB(), X[30:], y[30:])
