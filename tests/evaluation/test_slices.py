"""Scores of groups of rows are those of a literal loop, whose baselines know the whole stream."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

import skstream as sk
from skstream.core.measures.registry import resolve_metrics
from skstream.logs._slice_rows import N_BLOCKS, Estimate, is_additive, reads_all_labels
from skstream.metrics import Measure
from skstream.naive_bayes import IncrementalGaussianNB
from tests._examples import examples
from tests.evaluation._models import Scripted

FORGETTING = {"all": "cumulative", "window": "window:20", "fading": "fading:0.9", "adwin": "adwin"}
METRICS = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "f1_macro"]


def log(n: int = 240, n_classes: int = 3, seed: int = 0) -> dict[str, Any]:
    """Labels that stay for some rows, two models, and columns of groups."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, n_classes, n), 3)[:n]
    country = rng.choice(["DE", "FR", "US"], n, p=[0.6, 0.3, 0.1]).astype(object)
    models = {
        name: np.where(rng.random(n) < share, rng.integers(0, n_classes, n), y)
        for name, share in (("gbm", 0.3), ("nb", 0.5))
    }
    return {"y": y, "models": models, "country": country, "amount": rng.exponential(size=n)}


def same(one: sk.EvaluationResult, other: sk.EvaluationResult, rtol: float = 0.0) -> None:
    np.testing.assert_array_equal(one.checkpoints, other.checkpoints)
    for model in one.model_names:
        for forgetting in one.forgetting_names:
            for metric in one.metric_names:
                np.testing.assert_allclose(
                    one.curve(model, metric, forgetting=forgetting),
                    other.curve(model, metric, forgetting=forgetting),
                    rtol=rtol,
                    atol=rtol,
                    err_msg=f"{model} {forgetting} {metric}",
                )


# -- a literal loop


def literal(
    y: list[Any], answers: list[Any], weight: list[float], mine: list[bool], kind: str
) -> list[dict[str, float]]:
    """Measures after every row; windows of 20 and fading factors of .9, all row by row."""
    past: list[tuple[Any, float]] = []  # labels of the whole stream
    scored: list[tuple[Any, Any, Any, Any, float]] = []
    values = []

    def kept(rows: list[Any]) -> list[tuple[Any, float]]:
        rows = rows[-20:] if kind == "window" else rows
        fades = 0.9 if kind == "fading" else 1.0
        return [(row, fades ** (len(rows) - 1 - k)) for k, row in enumerate(rows)]

    for label, answer, w, is_mine in zip(y, answers, weight, mine, strict=True):
        if label is not None and w > 0:
            sums: dict[Any, float] = defaultdict(float)
            for (one, its_weight), fade in kept(past):
                sums[one] += its_weight * fade
            majority = max(sorted(sums), key=lambda one: sums[one]) if sums else None
            previous = past[-1][0] if past else None
            if is_mine and answer is not None:
                scored.append((label, answer, previous, majority, w))
            past.append((label, w))
        rows = [(*row[:4], row[4] * fade) for row, fade in kept(scored)]
        values.append(measured(rows))
    return values


def measured(rows: list[tuple[Any, Any, Any, Any, float]]) -> dict[str, float]:
    def share(wrong: Any) -> float:
        total = sum(row[4] for row in rows)
        return sum(row[4] for row in rows if wrong(row)) / total if rows else np.nan

    def skill(baseline: int) -> float:
        there = [row for row in rows if row[baseline] is not None]
        wrong = sum(row[4] for row in there if row[0] != row[1])
        of_baseline = sum(row[4] for row in there if row[0] != row[baseline])
        return 1 - wrong / of_baseline if of_baseline else np.nan

    return {
        "accuracy": 1 - share(lambda row: row[0] != row[1]),
        "kappa_m": skill(3),
        "kappa_temporal": skill(2),
    }


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_a_literal_loop(weighted: bool) -> None:
    data = log(150)
    y, country = data["y"].tolist(), data["country"]
    answers = data["models"]["gbm"].tolist()
    weight = [1.0 + (k % 4) / 2 if weighted and k % 7 else float(not weighted) for k in range(150)]
    for row in (3, 4, 50, 149):
        y[row] = None
    for row in (0, 5, 51, 60):
        answers[row] = None
    country[7:9] = None
    forgetting = {name: FORGETTING[name] for name in ("all", "window", "fading")}
    with pytest.warns(UserWarning, match="different rows"):
        result = sk.score_predictions(
            y,
            {"gbm": answers, "other": data["models"]["nb"]},
            sample_weight=weight if weighted else None,
            metrics=["accuracy", "kappa_m", "kappa_temporal"],
            forgetting=forgetting,
            unanswered="skip",
        )
    scores = sk.score_slices(result, country)
    assert scores.slice_names == ["DE", "FR", "US", "missing"]
    for name in scores.slice_names:
        mine = [(one or "missing") == name for one in country]
        for kind in forgetting:
            want = literal(y, answers, weight, mine, kind)
            for metric in result.metric_names:
                np.testing.assert_allclose(
                    scores.results[name].curve("gbm", metric, forgetting=kind)[:, 0],
                    [values[metric] for values in want],
                    rtol=1e-9,
                    atol=1e-12,
                    err_msg=f"{name} {kind} {metric}",
                )


# -- laws


def evaluated(kind: str) -> sk.EvaluationResult:
    data = log(240, 2)
    X = np.c_[data["y"] + np.linspace(0, 1, 240), data["amount"]]
    models = {"bayes": IncrementalGaussianNB(), "last": sk.Persistent(), "most": sk.MajorityClass()}
    metrics = [*METRICS, "auc", "log_loss", "log_skill", "brier_skill_temporal", "coverage"]
    weight = np.arange(240) % 3 + 0.5
    if kind == "prequential":
        return sk.PrequentialEvaluator(metrics, forgetting=FORGETTING, n_warmup=5).evaluate(
            models, X, data["y"], sample_weight=weight
        )
    if kind == "k-fold":
        return sk.KFoldEvaluator(
            METRICS, forgetting=FORGETTING, n_folds=3, strategy="cross", random_state=0
        ).evaluate(models, X, data["y"])
    if kind == "delayed":
        return sk.DelayedEvaluator(
            METRICS, forgetting=FORGETTING, delay=7, polling=sk.Polling(n_bins=2)
        ).evaluate(models, X, data["y"])
    if kind == "as_known":
        arrival = np.arange(240.0)
        labels = data["y"].astype(object)
        labels[::11] = None
        return sk.score_predictions(
            labels,
            data["models"],
            metrics=METRICS,
            forgetting=FORGETTING,
            arrival=arrival,
            label_time=arrival + 1 + (np.arange(240) * 7) % 40,
            view="as_known",
        )
    models = {
        "ols": sk.PeriodicRefit(LinearRegression(), every=50),
        "last": sk.PersistentRegressor(),
    }
    forgetting = {name: FORGETTING[name] for name in ("all", "window", "fading")}
    return sk.PrequentialEvaluator(["mae", "rmse", "r2"], forgetting=forgetting).evaluate(
        models, X, data["amount"]
    )


KINDS = ["prequential", "k-fold", "delayed", "as_known", "regression"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_results_of_the_masked_tape(kind: str) -> None:
    """The same group scored the other way round: by the measures over all rows of its tape."""
    result, country = evaluated(kind), log()["country"]
    scores = sk.score_slices(result, country)
    assert result.tape is not None and sum(scores.n_rows.values()) == result.tape.n_rows
    for name, one in scores.results.items():
        again = one.rescore(result.metric_names, forgetting=result.details.mechanisms)
        same(one, again, rtol=1e-9)
        assert one.tape is not None
        rows = np.arange(240) if one.tape.row is None else one.tape.row
        (answers,) = {one.tape.answers[model].shape for model in one.model_names}
        others = one.tape.answers[one.model_names[0]][:, country[rows] != name]
        assert answers[1] == len(rows) and (np.isnan(others) | (others == -1)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_group_is_the_whole_result(kind: str) -> None:
    result = evaluated(kind)
    scores = sk.score_slices(result, np.ones(240, dtype=int))
    same(scores.results["1"], result)
    same(scores.overall, result)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_left_out_as_rows_that_were_not_asked(kind: str) -> None:
    """What is subtracted from sums is what a pass over the rest of the rows does not have."""
    result = evaluated(kind)
    scores = sk.score_slices(result, np.arange(240) % 2, forgetting="cumulative")
    for metric in result.metric_names:
        for model, one in scores._estimate("1", metric).items():
            last = scores.results["1"].scores[model][metric]
            np.testing.assert_allclose(one.value, last, rtol=1e-9)
        lines, rows = scores._scored[metric], scores._groups.rows[1]
        if is_additive(lines.measures[metric]) and not reads_all_labels(lines.measures[metric]):
            blocks = np.arange(len(rows)) // 6
            np.testing.assert_allclose(
                lines._without_each_sum(rows, blocks),
                lines.without_each(rows, blocks),
                rtol=1e-9,
                atol=1e-12,
                err_msg=metric,
            )


def test_groups_can_be_compared_and_saved(tmp_path: Any) -> None:
    result = evaluated("prequential")
    one = sk.score_slices(result, log()["country"]).results["DE"]
    assert one.compare("bayes", "last").n_rows == one.compare("bayes", "most").n_rows < 160
    same(sk.load(one.save(tmp_path / "de.npz")), one)
    assert one.select(models="bayes").scores["bayes"] == one.scores["bayes"]


def test_failed_models_keep_their_error_score() -> None:
    X, y = np.arange(200.0)[:, None], np.arange(200) % 2
    with pytest.warns(Warning, match="failed"):
        result = sk.PrequentialEvaluator("accuracy", error_score=0.0).evaluate(
            {"a": Scripted({151: ValueError("no")}), "b": sk.MajorityClass()}, X, y
        )
    scores = sk.score_slices(result, y)
    assert scores.results["0"].curve("a")[[140, 199], 0].tolist() == [1.0, 0.0]
    assert np.isnan(scores.interval("1", "a", "accuracy", "cumulative")).all()


# -- columns


def test_quantiles_know_the_past_alone() -> None:
    data = log(2000)
    result = sk.score_predictions(data["y"], data["models"], metrics="accuracy")
    before = sk.score_slices(result, data["amount"])
    assert before.slice_names == ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"]
    assert all(abs(n - 500) < 50 for n in before.n_rows.values())
    changed = data["amount"].copy()
    changed[1500:] *= -100
    after = sk.score_slices(result, changed)
    for name in before.slice_names:
        pair = [one.results[name].tape.answers["gbm"][0] for one in (before, after)]  # type: ignore[union-attr]
        assert (pair[0][:1500] == pair[1][:1500]).all()
    assert after.n_rows["1st quarter"] > 880
    # Ties are together, and nothing is before the first value.
    ties = np.where(np.arange(2000) % 3, 0.0, data["amount"])
    assert sk.score_slices(result, ties).n_rows["1st quarter"] == pytest.approx(1334, abs=10)


def test_columns_name_groups() -> None:
    data = log(60)
    result = sk.score_predictions(data["y"], data["models"], metrics="accuracy")

    def names(column: Any, **options: Any) -> list[str]:
        return sk.score_slices(result, column, **options).slice_names

    numbers = np.arange(60)
    assert names(numbers % 3) == ["0", "1", "2"]
    assert names((numbers % 3) / 2) == ["0", "0.5", "1"]
    assert names(numbers % 2 == 0) == ["False", "True"]
    assert names(np.where(numbers % 2, 1.0, np.nan)) == ["1", "missing"]
    assert names([None, True] * 30) == ["True", "missing"]
    assert names(["missing", None] * 30) == ["'missing'", "missing"]
    assert names([None] * 60) == ["missing"]
    assert names(numbers, n_quantiles=2) == ["1st half", "2nd half"]
    assert names([None, *range(59, 0, -1)], n_quantiles=7) == ["1st of 7", "missing"]
    dates = np.datetime64("2026-01-01") + numbers // 30
    assert names(dates) == ["2026-01-01", "2026-01-02"]
    both = {"new": numbers % 2 == 0, "device": ["web", None] * 30, "amount": numbers}
    assert names(both, n_quantiles=2) == [
        "new=False, device missing, amount 2nd half",
        "new=True, web, amount 1st half",
        "new=True, web, amount 2nd half",
    ]
    assert names({"a": ["x, y", "x"] * 30, "b": ["z", "y, z"] * 30}) == [
        "'x', 'y, z'",
        "'x, y', 'z'",
    ]


def objects(values: Sequence[Any]) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


DAY, HOUR = datetime(2026, 1, 31), timedelta(hours=1)
NUMBERS = [0, 1, -1, 2**60, 2**60 + 1, 0.1, 1.00000000000001, 1 + 1e-13, 1e300, 1e15 + 0.5, np.inf]
OTHERS = [
    *("1", "'1'", "True", "missing", "other", "(other)", "a, b", "a", "", " "),
    *(True, False, None, Decimal("0.1"), Decimal("0.10000000000000000001"), Fraction(1, 3)),
    *(DAY.date(), DAY, DAY + HOUR, DAY + timedelta(microseconds=1), HOUR, 2 * HOUR, (1, 2), b"1"),
]


@examples(60)
@given(st.lists(st.sampled_from(NUMBERS + OTHERS), min_size=1, max_size=30), st.integers(1, 20))
def test_groups_are_the_different_values_and_their_names_differ(values, max_slices):
    def key(value: Any) -> Any:
        return isinstance(value, bool), value

    y = np.arange(len(values)) % 2
    scores = sk.score_slices(
        sk.score_predictions(y, {"m": y}, metrics="accuracy", classes=[0, 1]),
        {"a": objects(values), "b": ["b"] * len(values)},
        max_slices=max_slices,
        n_quantiles=2,
    )
    names, n_different = scores.slice_names, len({key(one) for one in values})
    assert len(set(names)) == len(names) and sum(scores.n_rows.values()) == len(values)
    if "half" in " ".join(names):  # many numbers
        return
    assert len(names) == min(n_different, max_slices + 1)
    name_of: dict[Any, str] = {}
    for name, rows in zip(names, scores._groups.rows, strict=True):
        found = {key(values[row]) for row in rows}
        assert len(found) == 1 or name == names[-1]
        assert not found & name_of.keys()
        name_of |= dict.fromkeys(found, name)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=15))
def test_names_of_floats_are_the_floats(values: list[float]) -> None:
    y = np.arange(len(values)) % 2
    result = sk.score_predictions(y, {"m": y}, metrics="accuracy", classes=[0, 1])
    assert [float(one) for one in sk.score_slices(result, values).slice_names] == sorted(
        set(values)
    )


def test_dates_and_durations_are_named_as_people_write_them() -> None:
    result = sk.score_predictions([0, 1, 1], {"m": [0, 1, 1]}, metrics="accuracy")

    def names(*values: Any, kind: str) -> list[str]:
        return sk.score_slices(result, np.array(values, dtype=kind)).slice_names

    days = "2026-01-31", "2026-02-01", "NaT"
    assert names(*days, kind="M8[ns]") == ["2026-01-31", "2026-02-01", "missing"]
    assert names(*days, kind="M8[M]") == ["2026-01", "2026-02", "missing"]
    times = "2026-01-31", "2026-01-31T13:30", "2026-01-31T13:30:05.000000001"
    assert names(*times[:2], "NaT", kind="M8[ns]") == [
        *("2026-01-31 00:00", "2026-01-31 13:30", "missing")
    ]
    assert names(*times, kind="M8[ns]")[2] == "2026-01-31 13:30:05.000000001"
    assert names(-90, 0, 90_000, kind="m8[s]") == ["-90 seconds", "0 seconds", "90000 seconds"]
    assert sk.score_slices(result, objects([DAY, DAY, None])).slice_names == [
        "2026-01-31",
        "missing",
    ]


def test_many_days_lead_to_scores_by_time() -> None:
    days = np.datetime64("2026-01-01") + np.arange(60)
    result = sk.score_predictions(np.arange(60) % 2, {"m": np.arange(60) % 2}, metrics="accuracy")
    assert "record_every='1D'" in str(sk.score_slices(result, days))
    assert "record_every='1D'" in str(sk.score_slices(result, objects(days.tolist())))
    assert "record_every" not in str(sk.score_slices(result, days.astype(str)))


def test_small_groups_are_the_others() -> None:
    n = 50_000
    y = np.arange(n) % 2
    customer = np.array([f"c{k}" for k in range(n)], dtype=object)
    customer[:3000], customer[3000:5000] = "other", "b"
    scores = sk.score_slices(
        sk.score_predictions(y, {"a": y}, metrics="accuracy"), customer, max_slices=2
    )
    assert scores.n_rows == {"b": 2000, "other": 3000, "(other)": 45_000}
    assert scores.n_other == 45_000 and "45,000 smaller groups" in str(scores)
    assert scores.worst().slice in ("b", "other")


def test_frames_are_columns(pd: Any) -> None:
    data = log()
    frame = pd.DataFrame({"country": data["country"], "new": np.arange(240) % 2 == 0})
    result = sk.score_predictions(data["y"], data["models"], metrics="accuracy")
    scores = sk.score_slices(result, frame.astype({"country": "category"}))
    table = scores.to_frame()
    assert list(table)[:4] == ["slice", "model", "metric", "forgetting"] and len(table) == 12
    assert (table.low < table.value).all() and (table.value < table.high).all()
    assert scores.slice_names[:2] == ["DE, new=False", "DE, new=True"]
    assert scores.n_rows["DE, new=True"] == int(((frame.country == "DE") & frame.new).sum())


# -- comparisons


def test_small_groups_are_not_worst_by_luck(rng: np.random.Generator) -> None:
    n = 6000
    group = np.array(["a", "b", "c"])[rng.integers(0, 3, n)].astype(object)
    wrong = rng.random(n) < np.where(group == "c", 0.3, 0.2)
    group[100:103], wrong[100:103] = "unlucky", True
    y = np.zeros(n, dtype=int)
    result = sk.score_predictions(
        y, {"m": wrong.astype(int)}, metrics=["accuracy", "error", "f1:1"], classes=[0, 1]
    )
    scores = sk.score_slices(result, group)
    assert scores.gap() > 0.75
    worst = scores.worst()
    assert (worst.slice, worst.certain) == ("c", True)
    assert worst.low < worst.value < worst.high < worst.rest
    of_error = scores.worst(metric="error")
    assert of_error.slice == "c" and of_error.high == pytest.approx(1 - worst.low)
    assert str(worst).startswith("worst group: 'c' (")
    low, high = scores.interval("unlucky", "m", "accuracy", "cumulative")
    assert low == 0.0 and high > 0.7
    assert np.isnan(scores.interval("unlucky", "m", "f1:1", "cumulative")).all()
    luck = sk.score_slices(result, rng.permutation(group))
    assert not luck.worst().certain and "no group is significantly worse" in str(luck)


def test_intervals_know_that_errors_come_in_runs(rng: np.random.Generator) -> None:
    wrong = np.repeat(rng.random(200) < 0.3, 50).astype(int)
    y = np.zeros(len(wrong), dtype=int)
    group = np.arange(len(wrong)) % 2
    widths = []
    for order in (np.arange(len(wrong)), rng.permutation(len(wrong))):
        result = sk.score_predictions(y, {"m": wrong[order]}, metrics="accuracy", classes=[0, 1])
        worst = sk.score_slices(result, group[order]).worst()
        widths.append(worst.high - worst.low)
    assert widths[0] > 4 * widths[1]


def test_other_measures_have_jackknife_intervals() -> None:
    rng = np.random.default_rng(1)
    n = 4000
    group = rng.integers(0, 2, n)
    y = rng.integers(0, 2, n)
    score = np.clip(0.5 + (y - 0.5) * np.where(group, 0.1, 0.6) + rng.normal(0, 0.2, n), 0, 1)
    result = sk.score_predictions(y, probabilities={"m": score}, metrics=["auc", "kappa"])
    worst = sk.score_slices(result, group).worst()
    assert (worst.slice, worst.metric, worst.certain) == ("1", "auc", True)
    # As the standard error of independent rows (Hanley and McNeil), at half the level.
    half = worst.high - worst.value
    assert 0.02 < half < 0.06
    assert sk.score_slices(result, group).worst(metric="kappa").certain


def kappa_of(cells: Any) -> Any:
    (tn, fp), (fn, tp) = cells
    agreed, n = tn + tp, tn + fp + fn + tp
    chance = ((tn + fp) * (tn + fn) + (fn + tp) * (fp + tp)) / n**2
    return (agreed / n - chance) / (1 - chance)


def f1_of(cells: Any) -> Any:
    (_, fp), (fn, tp) = cells
    return 2 * tp / (2 * tp + fp + fn)


@pytest.mark.parametrize("n", [100, 200])
@pytest.mark.parametrize(("metric", "formula"), [("kappa", kappa_of), ("f1:1", f1_of)])
@pytest.mark.parametrize("wrong", [0.05, 0.2])
@pytest.mark.filterwarnings("ignore:(invalid|divide):RuntimeWarning")
def test_intervals_of_all_groups_hold(metric, formula, n, wrong, rng):
    """Independent rows of even classes, in ten groups each of 150 streams."""
    y = rng.integers(0, 2, (1500, n))
    answers = np.where(rng.random(y.shape) < wrong, 1 - y, y)
    cells = np.array([[(y == i) & (answers == j) for j in (0, 1)] for i in (0, 1)], dtype=float)
    of_blocks = np.add.reduceat(cells, np.arange(N_BLOCKS) * n // N_BLOCKS, axis=-1)
    whole = cells.sum(axis=-1)
    values, left = formula(whole), formula(whole[..., np.newaxis] - of_blocks)
    truth = formula(np.array([[1 - wrong, wrong], [wrong, 1 - wrong]]) / 2)
    measure = resolve_metrics([metric], classes=[0, 1])[metric]
    ends = np.array(
        [
            Estimate(value, without, n, n).interval(measure, 0.05 / 10)
            for value, without in zip(values, left, strict=True)
        ]
    )
    there = np.isfinite(ends).all(axis=1)
    assert there.mean() > 0.9
    assert ((ends[there, 0] < values[there]) & (values[there] < ends[there, 1])).all()
    assert ((ends[there] >= measure.bounds[0]) & (ends[there] <= measure.bounds[1])).all()
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1]) | ~there
    assert held.reshape(150, 10).all(axis=1).mean() > 0.9


def test_few_rows_have_no_interval_but_that_of_shares(rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, 290)
    result = sk.score_predictions(
        y, {"m": np.where(rng.random(290) < 0.3, 1 - y, y)}, metrics=["accuracy", "kappa"]
    )
    scores = sk.score_slices(result, np.where(np.arange(290) < 99, "few", "many"))
    assert np.isfinite([scores.interval(name) for name in scores.slice_names]).all()
    assert np.isnan(scores.interval("few", metric="kappa")).all()
    assert np.isfinite(scores.interval("many", metric="kappa")).all()
    y[:] = np.arange(290) % 10 == 0  # 19 rows of class 1 among the many
    result = sk.score_predictions(
        y, {"m": np.where(rng.random(290) < 0.3, 1 - y, y)}, metrics=["kappa", "balanced_accuracy"]
    )
    for n, is_there in ((99, False), (89, True)):
        scores = sk.score_slices(result, np.where(np.arange(290) < n, "few", "many"))
        assert np.isfinite(scores.interval("many", metric="balanced_accuracy")).all() == is_there
        assert np.isfinite(scores.interval("many", metric="kappa")).all()


def test_a_model_that_wins_overall_can_lose_in_a_group(rng: np.random.Generator) -> None:
    n = 3000
    group = np.where(np.arange(n) % 10 < 2, "small", "large")
    y = np.zeros(n, dtype=int)
    models = {
        "a": (rng.random(n) < np.where(group == "small", 0.5, 0.1)).astype(int),
        "b": (rng.random(n) < 0.3).astype(int),
    }
    result = sk.score_predictions(y, models, metrics="accuracy", classes=[0, 1])
    scores = sk.score_slices(result, group)
    (found,) = scores.reversals()
    assert found[:4] == ("small", "accuracy", "a", "b") and found.certain
    assert found.difference == pytest.approx(0.2, abs=0.08)
    assert "in 'small' b is better by 0.2" in str(scores)


# -- errors


def test_bad_input() -> None:
    data = log(60)
    result = sk.score_predictions(data["y"], data["models"], metrics="accuracy")
    for column, options, error, words in [
        (["a"] * 59, {}, ValueError, "slices has 59 values, but the stream has 60 rows"),
        ({"c": ["a"] * 61}, {}, ValueError, r"slices\['c'\] has 61 values"),
        ("country", {}, TypeError, r"log.column\('country'\)"),
        ({}, {}, ValueError, "no column"),
        ([["a"]] * 60, {}, ValueError, "one-dimensional"),
        (objects([[1], [2]] * 30), {}, TypeError, "slices cannot be compared"),
        (["a"] * 60, {"max_slices": 0}, ValueError, "max_slices"),
        (["a"] * 60, {"n_quantiles": 1}, ValueError, "n_quantiles"),
        (["a"] * 60, {"alpha": 2}, ValueError, "alpha"),
    ]:
        with pytest.raises(error, match=words):
            sk.score_slices(result, column, **options)
    scores = sk.score_slices(result, ["a", "b"] * 30, forgetting="window:10")
    with pytest.raises(ValueError, match="forgetting='cumulative'"):
        scores.worst()
    with pytest.raises(KeyError, match="There is no slice 'c'"):
        scores.results["c"]
    with pytest.raises(KeyError, match="no measure"):
        scores.gap(metric="kappa")


def test_what_has_no_slices() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    held_out = sk.HoldoutEvaluator("accuracy", holdout="next", every=10).evaluate(
        sk.MajorityClass(), X, y
    )
    with pytest.raises(ValueError, match="holdout"):
        sk.score_slices(held_out, y)
    own = sk.PrequentialEvaluator(Measure(lambda y, p: 0.25, name="accuracy")).evaluate(
        sk.MajorityClass(), X, y
    )
    with pytest.raises(ValueError, match="measure of your own"):
        sk.score_slices(own, y)
    assert sk.score_slices(own, y, metrics="error").slice_names == ["0", "1"]
