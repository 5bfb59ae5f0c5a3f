"""McNemar's test, final and running."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from skstream.forgetting import Cumulative, FadingFactor, SlidingWindow
from skstream.metrics import kappa_score
from skstream.stats import mcnemar, mcnemar_curve
from skstream.stats._mcnemar import RunningMcNemar
from skstream.stats._report import number
from tests._examples import newest_alone
from tests.stats._streams import random_losses

MECHANISMS = [Cumulative(), SlidingWindow(30), FadingFactor(0.95)]


def test_hand_worked() -> None:
    y = np.zeros(100, dtype=int)
    a, b = np.zeros(100, dtype=int), np.zeros(100, dtype=int)
    a[:15] = 1  # 10 of these alone
    b[10:18] = 1  # 3 of these alone
    result = mcnemar(y, a, b)
    assert (result.only_a_wrong, result.only_b_wrong, result.n_rows) == (10, 3, 100)
    assert result.statistic == pytest.approx(49 / 13)
    assert result.pvalue == pytest.approx(scipy_stats.chi2.sf(49 / 13, 1))
    assert result.better is None  # 3.77 is below 3.841
    assert mcnemar(y, b, a).statistic == pytest.approx(-49 / 13)


def test_the_sign_says_who_errs_more() -> None:
    y = ["up"] * 20
    worse, better = ["down"] * 11 + ["up"] * 9, ["up"] * 19 + ["down"]
    assert mcnemar(y, worse, better).statistic > 6.635
    assert mcnemar(y, worse, better, names=("sgd", "bayes")).better == "bayes"
    assert mcnemar(y, better, worse, names=("bayes", "sgd")).better == "bayes"


@pytest.mark.parametrize("seed", range(5))
def test_against_statsmodels(seed: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    loss_a, loss_b = random_losses(seed, 80)
    y = np.zeros(80)
    table = [[np.sum((loss_a == i) & (loss_b == j)) for j in (0, 1)] for i in (0, 1)]
    chi2 = tables.mcnemar(table, exact=False, correction=False)
    result = mcnemar(y, loss_a, loss_b)
    assert abs(result.statistic) == pytest.approx(chi2.statistic)
    assert result.pvalue == pytest.approx(chi2.pvalue)
    exact = tables.mcnemar(table, exact=True)
    assert mcnemar(y, loss_a, loss_b, method="exact").pvalue == pytest.approx(exact.pvalue)


def literal_curve(
    loss_a: np.ndarray, loss_b: np.ndarray, forgetting, scoring: np.ndarray | None = None
) -> np.ndarray:
    """The statistic recomputed from all rows at every row."""
    values = []
    scoring = np.ones(len(loss_a)) if scoring is None else scoring
    for t in range(1, len(loss_a) + 1):
        weight = np.ones(t)
        if isinstance(forgetting, SlidingWindow):
            weight[: max(0, t - forgetting.window_size)] = 0
        if isinstance(forgetting, FadingFactor):
            weight = forgetting.fading_factor ** np.arange(t - 1.0, -1, -1)
        weight = weight * scoring[:t]
        a = np.sum(weight * ((loss_a[:t] == 1) & (loss_b[:t] == 0)))
        b = np.sum(weight * ((loss_a[:t] == 0) & (loss_b[:t] == 1)))
        variance = np.sum(weight**2 * (loss_a[:t] != loss_b[:t]))
        signed = np.sign(a - b) * (a - b) ** 2
        values.append(signed / variance if variance > 0 else 0.0)
    return np.array(values)


@pytest.mark.parametrize("forgetting", MECHANISMS, ids=lambda f: f.name)
def test_running_equals_definition(forgetting) -> None:
    loss_a, loss_b = random_losses(1, 200)
    curve = RunningMcNemar(forgetting, record_every=1).update(loss_a, loss_b).result()
    statistics = literal_curve(loss_a, loss_b, forgetting)
    np.testing.assert_allclose(curve.statistics, statistics, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(curve.pvalues, scipy_stats.chi2.sf(np.abs(curve.statistics), 1))


def test_end_of_the_curve_is_the_final_test() -> None:
    loss_a, loss_b = random_losses(2, 3000)
    y = np.zeros(3000)
    curve, final = mcnemar_curve(y, loss_a, loss_b), mcnemar(y, loss_a, loss_b)
    assert (curve.statistic, curve.pvalue) == (final.statistic, final.pvalue)
    assert (curve.better, curve.significant) == (final.better, final.significant)
    recent = mcnemar_curve(y, loss_a, loss_b, forgetting="window:100")
    assert recent.statistic == mcnemar(y[-100:], loss_a[-100:], loss_b[-100:]).statistic


@pytest.mark.parametrize("forgetting", MECHANISMS, ids=lambda f: f.name)
def test_a_model_never_differs_from_itself(forgetting) -> None:
    answers = np.random.default_rng(0).integers(0, 3, 500)
    y = np.random.default_rng(1).integers(0, 3, 500)
    curve = mcnemar_curve(y, answers, answers, forgetting=forgetting, names=("m", "m"))
    assert np.all(curve.statistics == 0)
    assert np.all(curve.pvalues == 1)
    for method in ("chi2", "exact"):
        result = mcnemar(y, answers, answers, method=method)
        assert (result.statistic, result.pvalue, result.better) == (0, 1, None)


def test_fading_statistic_of_equal_models_is_chi2(rng: np.random.Generator) -> None:
    loss_a = rng.integers(0, 2, 200_000)
    curve = RunningMcNemar("fading:0.99").update(loss_a, 1 - loss_a).result()
    assert np.mean(np.abs(curve.statistics[100:])) == pytest.approx(1, rel=0.1)
    counts = curve.only_a_wrong + curve.only_b_wrong
    faded = (curve.only_a_wrong - curve.only_b_wrong)[-1] ** 2 / counts[-1]
    # The form without the variance is a fraction of it, as the notes say.
    assert 1.99 * faded == pytest.approx(abs(curve.statistic), rel=1e-6)


@pytest.mark.parametrize("forgetting", MECHANISMS, ids=lambda f: f.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_in_print_give_a_statistic_in_print(forgetting, weighted, rng):
    loss_a, loss_b = random_losses(2, 3000)
    weight = rng.uniform(0.5, 2.0, 3000) if weighted else None
    curve = mcnemar_curve(
        np.zeros(3000), loss_a, loss_b, forgetting=forgetting, sample_weight=weight
    )
    final = mcnemar(np.zeros(3000), loss_a, loss_b, sample_weight=weight)
    assert curve.uncorrected.shape == curve.statistics.shape
    for one, a, b, statistic, uncorrected in [
        (curve, *(x[-1] for x in (curve.only_a_wrong, curve.only_b_wrong)), curve.statistic, None),
        (final, final.only_a_wrong, final.only_b_wrong, final.statistic, final.uncorrected),
    ]:
        wanted = np.sign(a - b) * (a - b) ** 2 / (a + b)
        found = curve.uncorrected[-1] if uncorrected is None else uncorrected
        assert found == pytest.approx(wanted)
        text = " ".join(str(one).split())
        if np.isclose(wanted, statistic):
            assert f"signed M = {number(statistic)}" in text and "uncorrected" not in text
        else:
            assert f"corrected for rows that count unequally = {number(statistic)}" in text
            assert f"uncorrected M = {number(wanted)}, (a - b)^2 / (a + b)" in text
    assert ("uncorrected" in str(curve)) == (weighted or forgetting.factor < 1)
    assert ("uncorrected" in str(final)) == weighted


def test_a_refused_block_leaves_no_trace() -> None:
    running = RunningMcNemar().update([1, 0], [0, 0])
    with pytest.raises(ValueError, match="0/1 losses"):
        running.update([1, 1], [0, 7])
    assert running.result().n_rows == 2
    assert running.update([1], [0]).result().statistics.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("y", "a", "b", "message"),
    [
        ([0, 1], ["0", "1"], [0, 1], "y_pred_a contains strings and y_true numbers"),
        (["0", "1"], ["0", "1"], [0, 1], "y_true contains strings and y_pred_b numbers"),
        (
            [0, 1],
            [0, 1],
            [0.2, 0.9],
            r"y_pred_b contains the number 0\.2, which is not a class label",
        ),
        ([0, 1], [[0.8, 0.2], [0.1, 0.9]], [0, 1], "a must be one-dimensional"),
        ([None, None], [None, None], [1, 1], r"y_true\[0\] is None: a label is missing"),
        ([0, 1], [0, None], [0, 1], r"a\[1\] is None: a label is missing"),
        ([], [], [], "there is nothing to score"),
    ],
)
def test_labels_are_checked_as_strictly_as_by_kappa(y, a, b, message: str) -> None:
    for test in (mcnemar, mcnemar_curve):
        with pytest.raises(ValueError, match=message):
            test(y, a, b)
    answers = a if "a" in (message[0], message[:2]) else b
    if message.startswith(("a", "b")):
        with pytest.raises((ValueError, TypeError)):
            kappa_score(y, answers)


def test_labels_of_one_kind_may_have_several_types() -> None:
    result = mcnemar([0, 1, 1], np.array([0.0, 1.0, 0.0]), [False, True, True])
    assert (result.only_a_wrong, result.only_b_wrong) == (1, 0)
    assert mcnemar(["a", "b"], np.array(["a", "a"]), ["longer", "b"]).n_rows == 2


@newest_alone
@pytest.mark.parametrize("fading_factor", [0.95, 0.99, 0.997])
def test_the_level_under_fading(fading_factor: float, rng: np.random.Generator) -> None:
    """Nominal 5 %, in the first rows, later on, and after a burst of disagreement."""
    n_streams, span = 500, round(1 / (1 - fading_factor))
    n_rows = 5 * span
    rate = np.where(np.arange(n_rows) < 4.7 * span, 0.3, 0.9)
    looks = [max(span // 5, 20), 4 * span, n_rows]
    rejected, literal = np.zeros(3), np.zeros(3)
    for _ in range(n_streams):
        u = rng.random(n_rows)
        running = RunningMcNemar(FadingFactor(fading_factor), record_every=1)
        curve = running.update(u < rate / 2, (u >= rate / 2) & (u < rate)).result()
        at = np.array(looks) - 1
        rejected += curve.pvalues[at] < 0.05
        a, b = curve.only_a_wrong[at], curve.only_b_wrong[at]
        literal += (1 + fading_factor) * (a - b) ** 2 / (a + b) > 3.841
        np.testing.assert_array_equal(
            np.abs(curve.statistics) > curve.thresholds(0.05), curve.pvalues < 0.05
        )
    assert np.all(rejected / n_streams < 0.08), rejected / n_streams
    assert np.all(rejected / n_streams > 0.015), rejected / n_streams
    assert literal[1] / n_streams == pytest.approx(0.05, abs=0.03)  # the two agree in the long run
    if fading_factor == 0.997:
        assert literal[0] / n_streams > 0.1  # but not in the first rows


def test_no_p_value_where_the_last_few_rows_decide() -> None:
    curve = mcnemar_curve([1] * 50, [0] * 50, [1] * 50, forgetting="fading:0.89")
    assert np.isnan(curve.pvalues).all()
    assert np.isnan(curve.thresholds(0.05)).all()
    assert not curve.significant
    assert curve.better is None
    assert "no p-value under a fading factor below 0.9" in str(curve).replace("\n", " ")
    assert "no p-value" in repr(curve)
    assert mcnemar_curve([1] * 50, [0] * 50, [1] * 50, forgetting="fading:0.9").better == "B"
