"""The certified leaderboard: its evidence, what it promises, what it refuses, its files."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import skstream as sk
from benchmarks.verify_leaderboard import SCENARIOS, board
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.stats._anytime import MixtureBoundary
from skstream.streams import SEA, Sine
from skstream.studies._leaderboard import (
    N_LOOKS,
    Leaderboard,
    _e_value,
    _squared_differences,
    log_evidence,
    looks,
)
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy
from tests._examples import examples
from tests.evaluation._models import FailsLater

MODELS = {
    "bayes": IncrementalGaussianNB(),
    "majority": sk.MajorityClass(),
    "persistent": sk.Persistent(),
    "random": sk.RandomClass(),
}
EVALUATOR = sk.PrequentialEvaluator(
    ["kappa", "accuracy", "brier"], run=sk.RunOptions(keep_tape=True)
)


def sea(seed):
    return SEA(900, random_state=seed)


def sine(seed):
    return Sine(500, random_state=seed + 100)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(301, 2))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=301) > 0, "up", "down")
STREAMS = {"SEA": sea, "Sine": sine, "file": (X, Y)}


@pytest.fixture(scope="module")
def study():
    return sk.evaluate_over_streams(STREAMS, MODELS, range(2), evaluator=EVALUATOR)


@pytest.fixture(scope="module")
def found(study):
    return study.leaderboard("accuracy", models=["bayes", "majority", "persistent"])


def test_a_stream_with_two_names_counts_once(study):
    alone = study.leaderboard("accuracy")
    twice = StreamStudy({**study.studies, "copy": study.studies["file"]}).leaderboard("accuracy")
    assert twice.streams == ("SEA", "Sine", "file = copy")
    np.testing.assert_allclose(twice.mean_losses, alone.mean_losses, rtol=1e-12)
    np.testing.assert_allclose(twice.average_ranks, alone.average_ranks)
    assert twice.n_rows == alone.n_rows
    np.testing.assert_allclose(twice.log_evidence, alone.log_evidence, rtol=1e-9)


def plain_evidence(blocks, share):
    """Evidence row by row, as the notes say: blocks are (losses, part of the mean)."""
    weights = [part / losses.shape[1] for losses, part in blocks]
    k = len(blocks[0][0])
    logs = np.full((k, k), -np.inf)
    for i in range(k):
        for j in range(k):
            total = variance = 0.0
            for (losses, _), weight in zip(blocks, weights, strict=True):
                for row in range(math.floor(share * losses.shape[1] + 1e-9)):
                    d = (losses[i, row] - losses[j, row]) * weight / max(weights)
                    total, variance = total + d, variance + d * d
            if total > 0:
                logs[i, j] = MixtureBoundary(tuning=10.0, scale=1.0).log_mixture(total, variance)
    return logsumexp(logs, axis=1) - math.log(k - 1)


def test_the_evidence_is_that_of_the_formulas(study, found):
    names = list(found.names)
    blocks = []
    for stream, of_stream in study.studies.items():
        seeds = []
        for result in of_stream.results:
            tape = result.tape
            answers = np.array([tape.answers[name][0][1:] for name in names])
            seeds.append((answers != tape.y[1:]).astype(float))
        # The rows of the file are the same for both seeds: their losses are averaged, row by row.
        parts = [np.mean(seeds, axis=0)] if stream == "file" else seeds
        blocks += [(losses, 1 / 3 / len(parts)) for losses in parts]
    for look in (0, 9, 57, 99):
        expected = plain_evidence(blocks, found.shares[look])
        np.testing.assert_allclose(found.log_evidence[look], expected, rtol=1e-9)
    means = np.average([b.mean(axis=1) for b, _ in blocks], axis=0, weights=[p for _, p in blocks])
    np.testing.assert_allclose(found.mean_losses, means)
    assert found.n_rows == 2 * (899 + 499 + 300) - 300  # those of the file count once


def test_a_mixture_of_supermartingales_stays_one():
    # Fair bets of size 1: the mean of the mixture over all paths of 12 rows is at most 1.
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 12)).reshape(12, -1)
    mixture = MixtureBoundary(tuning=10.0, scale=1.0).log_mixture(
        signs.sum(axis=0), (signs**2).sum(axis=0)
    )
    assert 0.8 < np.exp(mixture).mean() <= 1.0


def test_the_evidence_of_pairs_is_averaged():
    totals = np.array([50.0, 20.0, 10.0])
    variances = np.full((3, 3), 60.0)
    logs, rivals = log_evidence(totals, variances)
    boundary = MixtureBoundary(tuning=10.0, scale=1.0)
    pairs = boundary.log_mixture(np.array([30.0, 40.0]), np.array([60.0, 60.0]))
    assert logs[0] == pytest.approx(logsumexp(pairs) - math.log(2))
    assert logs[1] == pytest.approx(float(boundary.log_mixture(10.0, 60.0)) - math.log(2))
    assert logs[2] == -math.inf
    assert rivals.tolist() == [2, 2, -1]


def test_the_model_with_the_smallest_loss_is_never_ruled_out(found):
    assert found.possible[0] == "bayes"
    assert found.since["bayes"] is None
    assert found.since["persistent"] is not None
    out = found.ruled_out
    assert not out.all(axis=1).any()
    np.testing.assert_array_equal(out, found.log_evidence >= math.log(3 / 0.05))


def test_a_model_that_came_back_is_ruled_out_since_the_last_time():
    logs = np.full((10, 2), -np.inf)
    logs[[2, 3, 7, 8, 9], 0] = 50.0
    one = Leaderboard(
        names=("a", "b"),
        streams=("s",),
        metric="error",
        loss="loss",
        n_rows=10,
        losses=np.array([[0.4, 0.2]]),
        shares=np.arange(1, 11) / 10,
        log_evidence=logs,
        rivals=np.where(np.isfinite(logs), 1, -1),
    )
    assert one.since == {"a": 0.8, "b": None}
    assert one.possible == ("b",)
    never = replace(one, log_evidence=np.where(np.arange(10)[:, None] < 9, logs, -np.inf))
    assert never.since == {"a": None, "b": None}
    always = replace(one, log_evidence=np.tile([50.0, -np.inf], (10, 1)))
    assert always.since == {"a": 0.1, "b": None}


def test_a_row_of_a_short_stream_weighs_more():
    # On the long stream the first is better, on the short one by as much the second: no evidence.
    rng = np.random.default_rng(1)
    long, short = rng.random((2, 4000)) < [[0.2], [0.4]], rng.random((2, 400)) < [[0.4], [0.2]]
    logs, _ = looks(iter([(long.astype(float), 0.5), (short.astype(float), 0.5)]), 2)
    assert logs.max() < math.log(2 / 0.05)
    logs, _ = looks(iter([(long.astype(float), 0.9), (short.astype(float), 0.1)]), 2)
    assert logs[-1, 1] > math.log(2 / 0.05)


def test_streams_shorter_than_the_looks_are_read_to_their_end():
    losses = np.array([[1.0] * 30, [0.0] * 30])
    logs, rivals = looks(iter([(losses, 1.0)]), 2)
    assert logs.shape == (N_LOOKS, 2)
    expected = MixtureBoundary(tuning=10.0, scale=1.0).log_mixture(30.0, 30.0)
    assert logs[-1, 0] == pytest.approx(float(expected))
    assert logs[0].tolist() == [-math.inf, -math.inf]
    assert rivals[-1].tolist() == [1, -1]


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_the_best_is_not_ruled_out(scenario):
    # At most 5 % of the boards may be wrong, and 0 of 300 are (`benchmarks.verify_leaderboard`); of
    # these few, one would be a surprise of less than 1 in 1,000.
    found = [board(SCENARIOS[scenario], seed, 20, (400, 200)) for seed in range(12)]
    assert not any(one.wrong for one in found)


def test_of_two_equal_models_few_are_ruled_out():
    found = [board(SCENARIOS["equal"], seed, 2, (600, 300)) for seed in range(100)]
    assert sum(one.wrong for one in found) <= 5
    assert sum(one.normal for one in found) >= 8


@pytest.mark.parametrize("kind", ["beginnings", "copies"])
def test_rows_that_streams_share_count_once(kind):
    """Two equal models: of ten streams of the same rows there is no more to know than of one."""

    def stream(n):
        if kind == "beginnings":
            return {"evaluate": SEA(n, random_state=0)}
        return {"labels": np.random.default_rng(0).integers(0, 2, 600)}

    def study_of(n):
        models = {"a": sk.RandomClass(random_state=1), "b": sk.RandomClass(random_state=2)}
        if kind == "beginnings":
            result = EVALUATOR.evaluate(models, stream(n)["evaluate"])
        else:
            y, rng = stream(n)["labels"], np.random.default_rng(1)
            answers = {name: np.where(rng.random(600) < 0.3, 1 - y, y) for name in models}
            result = sk.score_predictions(y, answers, metrics=["accuracy"])
        return SeedStudy(seeds=(0,), results=(result,))

    one, ten = (
        StreamStudy({f"s{n}": study_of(n) for n in range(600, 600 - k, -1)}) for k in (2, 10)
    )
    np.testing.assert_allclose(
        one.leaderboard("accuracy").log_evidence[-1],
        ten.leaderboard("accuracy").log_evidence[-1],
        atol=0.5,
    )


def test_a_model_that_is_better_rules_out_the_others():
    one = board(SCENARIOS["one best"], 0, 100)
    assert one.out[-1] > 0.95


def test_only_a_bounded_mean_over_rows_is_certified(study):
    with pytest.raises(ValueError, match=r"by 'kappa': it is not the mean .* \['accuracy', 'brier"):
        study.leaderboard()
    with pytest.raises(KeyError, match="no measure 'f1'"):
        study.leaderboard("f1")
    with pytest.raises(KeyError, match="tree"):
        study.leaderboard("accuracy", models=["bayes", "tree"])
    with pytest.raises(ValueError, match="at least two models"):
        study.leaderboard("accuracy", models=["bayes"])
    with pytest.raises(ValueError, match="alpha"):
        study.leaderboard("accuracy", alpha=0)


def test_the_brier_score_is_certified_in_its_bounds(study):
    names = ["bayes", "majority"]
    found = study.leaderboard("brier", models=names)
    scores = np.mean([[one.scores[n]["brier"] for n in names] for one in study.studies.values()], 0)
    np.testing.assert_allclose(found.mean_losses, scores)
    assert "Brier" in str(found)


@pytest.mark.parametrize(
    ("evaluator", "words"),
    [
        (sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=False)), "keep_tape=True"),
        (sk.KFoldEvaluator("accuracy", n_folds=2, run=sk.RunOptions(keep_tape=True)), "fold"),
    ],
)
def test_it_needs_one_answer_per_row_on_a_tape(evaluator, words):
    found = sk.evaluate_over_streams({"SEA": sea}, MODELS, evaluator=evaluator)
    with pytest.raises(ValueError, match=words):
        found.leaderboard()


def test_errors_of_regressors_have_no_bounds():
    models = {"mean": sk.MeanRegressor(), "last": sk.PersistentRegressor()}
    evaluator = sk.PrequentialEvaluator("mae", run=sk.RunOptions(keep_tape=True))
    found = sk.evaluate_over_streams({"x": (X, X[:, 0])}, models, evaluator=evaluator)
    with pytest.raises(ValueError, match="errors of regressors have no bounds"):
        found.leaderboard()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_model_that_failed_is_left_out_and_named():
    models = {**MODELS, "fails": FailsLater(n_rows=200)}
    evaluator = sk.PrequentialEvaluator(
        "accuracy", error_score=np.nan, run=sk.RunOptions(keep_tape=True)
    )
    found = sk.evaluate_over_streams({"SEA": sea}, models, evaluator=evaluator).leaderboard()
    assert "fails" not in found.names
    assert "fails is left out: it failed on SEA (seed 0)" in str(found).replace("\n", " ")


def test_it_prints_what_it_certifies_and_is_saved_as_data(found, tmp_path):
    text = str(found)
    assert "With probability of at least 95 %" in text
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["bayes", "majority", "persistent"]
    assert "possible" in lines[3]
    assert "may be the best by accuracy: bayes" in repr(found)
    loaded = sk.load(found.save(tmp_path / "board"))
    assert isinstance(loaded, Leaderboard)
    assert str(loaded) == text
    np.testing.assert_array_equal(loaded.log_evidence, found.log_evidence)


def test_the_frame_shows_the_same(found, pd):
    frame = found.to_frame()
    assert list(frame.index) == list(found.names)
    assert frame["ruled_out"].tolist() == found.ruled_out[-1].tolist()
    assert frame.loc["bayes", "rival"] == ""


def test_large_evidence_is_not_written_out():
    assert [_e_value(math.log(x)) for x in (1e-3, 2.5, 1e5, 1e9)] == [
        "< 0.01",
        "2.5",
        "1e+05",
        "> 1e6",
    ]


@examples(10)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 500))
def test_squared_differences(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(37)
    for rows in (rng.random((37, n)), rng.integers(0, 2, (37, n)).astype(float)):
        found = _squared_differences(rows)
        plain = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(found, plain, rtol=1e-12)
        np.testing.assert_array_equal(_squared_differences(rows[order]), found[order][:, order])
