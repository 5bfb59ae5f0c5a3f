"""Studies over seeds: the evaluation of each seed, whatever the workers; failures; files."""

import pickle
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.evaluators import execution as _execution
from skstream.core.rows.arrays import ArrayStream
from skstream.stats import compare_with_best, wilcoxon
from skstream.stats._best import holm
from skstream.streams import SEA, Sine
from skstream.studies import _over_seeds
from skstream.studies._seed_study import SeedStudy

MODELS = {"sgd": SGDClassifier(), "random": sk.RandomClass(), "last": sk.Persistent()}
SEEDS = [3, 0, 11, 5]


def rows(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def assert_same_study(one: SeedStudy, other: SeedStudy) -> None:
    assert one.seeds == other.seeds
    for a, b in zip(one.results, other.results, strict=True):
        np.testing.assert_array_equal(a.checkpoints, b.checkpoints)
        for model in a.model_names:
            for forgetting in a.forgetting_names:
                for metric in a.metric_names:
                    np.testing.assert_array_equal(
                        a.values[model][forgetting][metric], b.values[model][forgetting][metric]
                    )


EVALUATORS = [
    sk.PrequentialEvaluator(
        ["accuracy", "kappa"], forgetting={"all": "cumulative", "r": "window:30"}
    ),
    sk.KFoldEvaluator("accuracy", n_folds=3),
    sk.HoldoutEvaluator("accuracy", holdout="next", every=30),
    sk.DelayedEvaluator("accuracy", delay=5, polling=sk.Polling(n_bins=2)),
]


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda one: type(one).__name__)
def test_each_seed_is_an_evaluation_with_this_random_state(evaluator: Any) -> None:
    study = sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=evaluator)
    assert study.seeds == tuple(SEEDS)
    alone = [
        type(evaluator)(**{**evaluator.get_params(deep=False), "random_state": seed}).evaluate(
            MODELS, *rows(seed)
        )
        for seed in SEEDS
    ]
    assert_same_study(study, SeedStudy(seeds=tuple(SEEDS), results=tuple(alone)))
    assert all(one.tape is None for one in study.results)
    final = np.array([[one.scores[name]["accuracy"] for name in MODELS] for one in alone])
    means, deviations = final.mean(axis=0), final.std(axis=0, ddof=1)
    assert [study.scores[name]["accuracy"] for name in MODELS] == pytest.approx(means.tolist())
    found = [study.deviations[name]["accuracy"] for name in MODELS]
    assert found == pytest.approx(deviations.tolist())
    assert study.mean("sgd")[-1] == pytest.approx(means[0])
    assert study.std("sgd")[-1] == pytest.approx(deviations[0])
    assert study.curve("sgd").shape == (len(study.checkpoints), len(SEEDS))


@pytest.mark.parametrize(
    ("seeds", "n_jobs"), [(SEEDS, 2), (SEEDS[:1], 2), (SEEDS[:2], 3), (SEEDS, 5)]
)
def test_any_number_of_workers_gives_the_same(seeds: list[int], n_jobs: int) -> None:
    made: list[int] = []

    def make(seed: int) -> Any:
        made.append(seed)
        return rows(seed)

    expected = sk.evaluate_over_seeds(rows, MODELS, seeds)
    with parallel_config(backend="threading"):
        study = sk.evaluate_over_seeds(make, MODELS, seeds, n_jobs=n_jobs)
    assert_same_study(study, expected)
    # The first is made once more, to see what the models cost.
    assert len(made) - 1 <= len(seeds) + n_jobs - 1


def test_what_workers_get_and_return_can_be_sent(monkeypatch) -> None:
    expected = sk.evaluate_over_seeds(rows, MODELS, SEEDS)
    do = _over_seeds._of_seed

    def sent(task: Any, seed: int) -> Any:
        return pickle.loads(pickle.dumps(do(pickle.loads(pickle.dumps(task)), seed)))

    monkeypatch.setattr(_over_seeds, "_of_seed", sent)
    with parallel_config(backend="threading"):
        study = sk.evaluate_over_seeds(rows, MODELS, SEEDS, n_jobs=3)
    assert_same_study(study, expected)


def test_models_may_depend_on_the_stream() -> None:
    seen = []

    def models(stream: Any) -> dict[str, Any]:
        seen.append(stream.n_rows)
        return {"majority": sk.MajorityClass(), "sgd": SGDClassifier()}

    study = sk.evaluate_over_seeds(partial(SEA, 60, random_state=0).func, models, [60, 80])
    assert seen == [60, 80]
    assert study.model_names == ["majority", "sgd"]


def test_little_work_is_done_here(monkeypatch) -> None:
    monkeypatch.setattr(_execution, "ROWS_WORTH_WORKERS", 1e12)
    monkeypatch.setattr(_over_seeds, "QuietParallel", None)
    study = sk.evaluate_over_seeds(rows, MODELS, SEEDS[:2], n_jobs=2)
    assert_same_study(study, sk.evaluate_over_seeds(rows, MODELS, SEEDS[:2]))


class Fails(ClassifierMixin, BaseEstimator):
    """Learns nothing, and fails with the rows of one seed."""

    def __init__(self, error: Any = None, seed: int = 11):
        self.error = error
        self.seed = seed

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Fails":
        self.n_ = getattr(self, "n_", 0) + 1
        if self.n_ == 1:
            self.fails_ = X[0, 0] == rows(self.seed)[0][0, 0]
        if self.fails_ and self.n_ == 50:
            raise self.error
        self.classes_ = np.arange(2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(len(X), int)


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_failing_seed_names_itself_and_the_others_are_kept(backend: str) -> None:
    models = {"last": sk.Persistent(), "fails": Fails(RuntimeError("broken"))}
    with parallel_config(backend=backend), pytest.raises(sk.ModelError) as caught:
        sk.evaluate_over_seeds(rows, models, SEEDS, n_jobs=2)
    assert "seed 11 of the study" in caught.value.__notes__[0]
    found = caught.value.result
    if backend == "sequential":
        assert found.seeds == (3, 0)
        assert found.left_out[5] == "it had not finished when ModelError ended the study"
        assert "seed 11 is left out" in str(found)

    def make(seed: int) -> Any:
        if seed == 0:
            raise LookupError("no such file")
        return rows(seed)

    with pytest.raises(LookupError) as caught_too:
        sk.evaluate_over_seeds(make, MODELS, SEEDS)
    assert "seed 0 of the study" in caught_too.value.__notes__[0]
    assert caught_too.value.result.seeds == (3,)
    evaluator = sk.PrequentialEvaluator("accuracy", error_score=0.0)
    with pytest.warns(FitFailedWarning, match="broken"):
        survived = sk.evaluate_over_seeds(rows, models, SEEDS, evaluator=evaluator)
    assert "fails failed, seed 11: " in str(survived)


def test_ctrl_c_keeps_the_seeds_that_had_finished() -> None:
    with pytest.raises(sk.EvaluationInterrupted) as caught:
        sk.evaluate_over_seeds(rows, {"fails": Fails(KeyboardInterrupt())}, SEEDS)
    assert caught.value.result.seeds == (3, 0)
    assert "interrupted" in caught.value.result.left_out[11]
    with pytest.raises(sk.EvaluationInterrupted, match="nothing was finished"):
        sk.evaluate_over_seeds(rows, {"fails": Fails(KeyboardInterrupt())}, [11])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_seeds_that_give_the_same_rows_are_not_compared(tmp_path, n_jobs: int) -> None:
    models = {"majority": sk.MajorityClass(), "last": sk.Persistent()}
    with (
        parallel_config(backend="threading"),
        pytest.warns(UserWarning, match="same rows for the seeds . and ., so") as caught,
    ):
        same = sk.evaluate_over_seeds(lambda _: rows(0), models, range(6), n_jobs=n_jobs)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    same = sk.load(same.save(tmp_path / "same"))
    assert same.same_streams == (tuple(range(6)),)
    assert str(same).endswith("Nothing is marked: all seeds gave the same rows.")
    assert "*" not in str(same)
    with pytest.raises(ValueError, match="identical streams: all seeds gave the same rows"):
        same.compare()
    with pytest.warns(UserWarning, match="for the seeds 0 and 7"):
        two = sk.evaluate_over_seeds(lambda seed: rows(seed % 7), models, range(8))
    assert two.same_streams == ((0, 7),)
    assert str(two).endswith("Nothing is marked: seeds 0 and 7 gave the same rows.")
    with pytest.warns(UserWarning, match="for the seeds 0 and 1"):
        pairs = sk.evaluate_over_seeds(lambda seed: rows(seed // 2), models["last"], range(4))
    assert str(pairs).endswith("seeds 0 and 1 gave the same rows, and so did others.")


def test_bad_arguments() -> None:
    for seeds, words in (([], "none"), ([1, 2, 1], "the same twice")):
        with pytest.raises(ValueError, match=words):
            sk.evaluate_over_seeds(rows, MODELS, seeds)
    for seed in (-1, 2**32, 0.5, True, "1"):
        with pytest.raises(ValueError, match="whole numbers from 0"):
            sk.evaluate_over_seeds(rows, MODELS, [seed])
    with pytest.raises(TypeError, match=r"such as range\(10\) or \[3, 5\]\. Got 10 instead"):
        sk.evaluate_over_seeds(rows, MODELS, 10)  # type: ignore[arg-type]
    for evaluator, words in (
        (sk.PrequentialEvaluator(random_state=3), "random_state=3"),
        (sk.PrequentialEvaluator(run="here"), "checkpoint="),
    ):
        with pytest.raises(ValueError, match=words):
            sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=evaluator)
    with pytest.raises(TypeError, match="must be an evaluator"):
        sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=sk.PrequentialEvaluator)
    with pytest.raises(TypeError, match="must be a function of a seed"):
        sk.evaluate_over_seeds(ArrayStream(*rows(0)), MODELS, SEEDS)


def test_streams_of_other_lengths_share_their_checkpoints() -> None:
    evaluator = sk.PrequentialEvaluator("accuracy", record_every=20)
    study = sk.evaluate_over_seeds(
        lambda seed: rows(0, seed), MODELS, [65, 107], evaluator=evaluator
    )
    assert study.checkpoints.tolist() == [20, 40, 60]
    other = sk.evaluate_over_seeds(
        lambda seed: rows(0, seed), MODELS, [10, 15], evaluator=evaluator
    )
    assert len(other.scores) == 3
    with pytest.raises(ValueError, match="no checkpoint in common"):
        other.mean("sgd")


def test_the_table_marks_the_best_and_what_is_not_told_from_it() -> None:
    models = {
        "majority": sk.MajorityClass(),
        "sgd": SGDClassifier(),
        "again": SGDClassifier(alpha=1e-5),
    }
    seeds = range(8)
    study = sk.evaluate_over_seeds(
        rows, models, seeds, evaluator=sk.PrequentialEvaluator("accuracy")
    )
    final = np.array([[one.scores[name]["accuracy"] for name in models] for one in study.results])
    best = study.compare()
    assert best.subject == "accuracy (all rows so far) over 8 seeds"
    again = compare_with_best(final, list(models))
    assert (best.best, best.not_told_apart) == (again.best, again.not_told_apart)
    assert set(best.not_told_apart) == {"sgd", "again"}
    marked = {line.split()[0] for line in str(study).splitlines()[3:6] if "*" in line}
    assert marked == {"sgd", "again"}
    without = study.table(references="sgd", correction="none")
    assert "not compared: sgd" in without
    assert "not corrected, alpha = 0.05" in without
    with pytest.raises(KeyError, match="There is no model 'other'"):
        study.compare(models=["sgd", "other"])
    one = sk.evaluate_over_seeds(rows, models, [1], evaluator=sk.PrequentialEvaluator("accuracy"))
    assert "*" not in str(one)
    assert str(one).endswith(
        "Nothing is marked: with 1 seed and 3 models no difference can be significant: use more "
        "seeds, at least 7."
    )
    with pytest.raises(ValueError, match=r"two seeds and two models .* Got 1 seed and 3 models"):
        one.compare()
    with pytest.raises(ValueError, match="Got 8 seeds and 1 model"):
        study.compare(models="sgd")


def study_of(final: np.ndarray) -> SeedStudy:
    """A study with these final values, of shape (n_seeds, n_models)."""
    evaluator = sk.PrequentialEvaluator("accuracy", record_every=60)
    models = {name: sk.MajorityClass() for name in "abcdef"[: final.shape[1]]}
    one = evaluator.evaluate(models, *rows(0, 60))
    results = [
        replace(
            one,
            values={
                name: {"cumulative": {"accuracy": np.array([[value]])}}
                for name, value in zip(models, values, strict=True)
            },
        )
        for values in final
    ]
    return SeedStudy(seeds=tuple(range(len(final))), results=tuple(results))


def test_marks_that_could_not_be_missing_are_left_out() -> None:
    # The first of six wins by far everywhere: with 9 seeds Holm's p-value is 15 / 2**8 = .059.
    final = np.arange(10)[:, None] / 100 + np.array([0.9, 0.5, 0.4, 0.3, 0.2, 0.1])
    why = "with 9 seeds and 6 models no difference can be significant: use more seeds, at least 10"
    few = study_of(final[:9])
    assert few.table().endswith(f"Nothing is marked: {why}.")
    assert why in repr(few.compare())
    assert f"W{why[1:]}." in " ".join(str(few.compare()).split())
    assert "0.9400 ± 0.0274*" in few.table(correction="none")
    assert "no difference" not in str(few.compare(correction="none"))
    plain = study_of(final[:5])
    assert "Nothing is marked: with 5 seeds no difference" in plain.table(correction="none")
    enough = study_of(final)
    assert enough.table().count("*") == 2
    assert "over 10 seeds" in str(enough.compare())
    assert "no difference" not in str(enough.compare()) + repr(enough.compare())
    final[3, 1] = np.nan
    with pytest.raises(ValueError, match="The accuracy of b with seed 3 is nan"):
        study_of(final).compare()


def test_without_a_checkpoint_nothing_is_known() -> None:
    evaluator = sk.HoldoutEvaluator("accuracy", holdout="next", every=500)
    with pytest.warns(UndefinedMetricWarning, match="No row was scored"):
        study = sk.evaluate_over_seeds(rows, MODELS, [1, 2], evaluator=evaluator)
    assert len(study.checkpoints) == 0
    assert str(study).count("nan ± nan") == 3


def test_a_saved_study_is_the_same(tmp_path) -> None:
    study = sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=EVALUATORS[3])
    loaded = sk.load(study.save(tmp_path / "study"))
    assert_same_study(loaded, study)
    assert str(loaded) == str(study)
    assert repr(loaded) == repr(study)


def test_the_frame_names_the_seeds(pd: Any) -> None:
    study = sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=EVALUATORS[0])
    frame = study.to_frame()
    assert set(frame["seed"]) == set(SEEDS)
    of_one = frame[(frame.seed == 11) & (frame.model == "sgd") & (frame.metric == "kappa")]
    of_one = of_one[of_one.forgetting == "r"]
    np.testing.assert_array_equal(
        of_one["value"], study.curve("sgd", "kappa", forgetting="r")[:, 2]
    )


def test_a_bar_shows_all_seeds(capsys) -> None:
    pytest.importorskip("tqdm")
    evaluator = sk.PrequentialEvaluator("accuracy", progress=True)
    sk.evaluate_over_seeds(rows, MODELS, SEEDS, evaluator=evaluator)
    assert "1.44krow" in capsys.readouterr().err.replace(" ", "")


def test_holm() -> None:
    # Worked by hand: .01 * 4, then the larger of this and .02 * 3, and so on.
    np.testing.assert_allclose(holm(np.array([0.02, 0.5, 0.01, 0.04])), [0.06, 0.5, 0.04, 0.08])
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]


def test_a_study_ranks_over_its_seeds() -> None:
    study = sk.evaluate_over_seeds(
        partial(sea, 120), MODELS, range(4), evaluator=sk.PrequentialEvaluator("accuracy")
    )
    over_seeds = study.rank()
    assert (over_seeds.n_blocks, over_seeds.blocks) == (4, "seeds")
    assert "over 4 seeds" in str(over_seeds)
    with pytest.raises(ValueError, match="At least two seeds"):
        replace(study, seeds=(0,), results=study.results[:1]).rank()


def sea(n_rows: int, seed: int) -> SEA:
    return SEA(n_rows, random_state=seed)


def sine(n_rows: int, seed: int) -> Sine:
    return Sine(n_rows, random_state=seed)


def share_of_tables_in_which_equal_models_are_told_apart(
    correction: Any, n_tables: int = 150
) -> float:
    """Six equal models over 14 blocks, with an effect of the block on all."""
    rng = np.random.default_rng(5)
    tables = rng.normal(size=(n_tables, 14, 6)) + rng.normal(size=(n_tables, 14, 1))
    found = [compare_with_best(table, correction=correction).not_told_apart for table in tables]
    return float(np.mean([len(names) < 6 for names in found]))


def test_equal_models_are_told_from_the_best_in_few_tables() -> None:
    """The best is chosen by the same scores: a correction for its own tests alone is too little."""
    assert share_of_tables_in_which_equal_models_are_told_apart("holm") <= 0.08
    assert share_of_tables_in_which_equal_models_are_told_apart("none", 60) > 0.2


def test_the_best_of_several_by_wilcoxon(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(12, 4)) + np.array([0.0, 3.0, 2.9, 1.0])
    for higher in (True, False):
        result = compare_with_best(scores if higher else -scores, higher_is_better=higher)
        assert result.best == "model 2"
        pairs = list(combinations(range(4), 2))
        alone = [wilcoxon(scores[:, i], scores[:, j]).pvalue for i, j in pairs]
        corrected = dict(zip(pairs, holm(np.array(alone)), strict=True))
        wanted = [corrected[0, 1], 1.0, corrected[1, 2], corrected[1, 3]]
        np.testing.assert_allclose(result.pvalues, wanted)
        expected = [alone[pairs.index(pair)] for pair in ((0, 1), (1, 2), (1, 3))]
        assert result.not_told_apart == ("model 2", "model 3")
        assert result.better is None
        plain = compare_with_best(scores, correction="none")
        np.testing.assert_allclose(plain.pvalues[[0, 2, 3]], expected)
    assert "With 4 values and 4 models no difference can be significant" in " ".join(
        str(compare_with_best(scores[:4])).split()
    )
    with pytest.raises(ValueError, match="correction must be"):
        compare_with_best(scores, correction="bonferroni")  # type: ignore[arg-type]


def test_a_study_is_drawn_by_its_seeds(matplotlib: Any, pd: Any) -> None:
    study = sk.evaluate_over_seeds(
        lambda seed: SEA(80, random_state=seed), sk.Persistent(), [3, 5, 8]
    )
    drawn = study.plot()
    assert drawn.ax_.get_title(loc="left").endswith("mean of 3 seeds")
    curves = study.combined.curve("Persistent")
    (line,) = drawn.lines_.values()
    np.testing.assert_allclose(line.get_ydata(), curves.mean(axis=1))
    low, high = drawn._spread_of(curves)
    np.testing.assert_allclose(high - low, 2 * curves.std(axis=1, ddof=1))
    assert set(drawn.to_frame()["seed"]) == {3, 5, 8}
    assert study.plot(spread="lines").spread == "lines"
