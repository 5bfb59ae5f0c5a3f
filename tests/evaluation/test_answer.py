"""The answer of a result in sentences: it says what was shown, and never more."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.metrics import Measure
from skstream.reports import _answer
from skstream.reports._answer import answer
from skstream.streams import make_demo_stream
from tests.evaluation._models import FailsLater

N_ROWS = 2000


def scored(
    shares: dict[str, float],
    metrics: Any = "accuracy",
    baselines: Sequence[str] = (),
    n_rows: int = N_ROWS,
    **options: Any,
) -> Any:
    """Result of models that are right in these shares of the rows, independent of each other."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    wrong = {name: rng.permutation(n_rows) >= share * n_rows for name, share in shares.items()}
    predictions = {name: np.where(one, 1 - y, y) for name, one in wrong.items()}
    result = sk.score_predictions(y, predictions, metrics=metrics, **options)
    return replace(result, details=replace(result.details, baselines=tuple(baselines)))


def text(result: Any, alpha: float = 0.05) -> str:
    found = answer(result, alpha)
    return " ".join([found.headline, *found.details])


def test_a_model_that_is_better_than_the_naive_guesses() -> None:
    shares = {"guess": 0.7, "worse guess": 0.6, "good": 0.9, "bad": 0.5}
    found = answer(scored(shares, baselines=["guess", "worse guess"]))
    assert found.headline == (
        "good has the highest accuracy of 4 models, 0.9000, and is shown to be better than every "
        "naive guess."
    )
    assert found.details == [
        "A higher accuracy is better. The best naive guess, guess, has 0.7000; good is "
        "0.2000 higher. The next model, worse guess (a naive guess), has 0.6000, 0.3000 lower. "
        "No higher than that naive guess: bad.",
        "good is shown to be better than guess, worse guess, bad, at the level of 5 %, for all 6 "
        "pairs of models together.",
        "Compared by the 0/1 loss of each row (accuracy) over all rows, rows 1 to 2,000.",
    ]
    assert found.tests[0].startswith("good has a smaller mean loss than guess after 2,000 rows")
    assert "99.17 % confidence sequence" in found.tests[0]
    assert found.tests[-1] == "The level of each interval is 5 % divided by the 6 pairs of models."
    assert len(found.tests) == 5
    assert sum("holds at all rows at once" in one for one in found.tests) == 1


def test_a_loss_is_better_where_it_is_lower() -> None:
    said = text(scored({"guess": 0.7, "good": 0.9}, "error", ["guess"]))
    assert said.startswith(
        "good has the lowest error of 2 models, 0.1000, and is shown to be better than the naive "
        "guess guess (0.3000). A lower error is better. The best naive guess, guess, has 0.3000; "
        "good is 0.2000 lower."
    )
    assert "at the level of 5 %. Compared" in said


def test_a_difference_that_may_be_chance_is_not_called_one() -> None:
    said = text(scored({"guess": 0.9, "good": 0.901}, baselines=["guess"]))
    assert said.startswith(
        "good has the highest accuracy of 2 models, 0.9010, but is not shown to be better than the "
        "naive guess guess (0.9000)."
    )
    assert "good does not differ significantly from guess" in said
    assert "this does not show that they are equal" in said
    assert "is shown to be" not in said


def test_a_naive_guess_that_no_model_beats_is_the_answer() -> None:
    said = text(scored({"guess": 0.9, "good": 0.8, "bad": 0.5}, baselines=["guess"]))
    assert said.startswith(
        "No model has a higher accuracy than the naive guess guess, 0.9000. A higher accuracy is "
        "better. The best other model, good, has 0.8000, 0.1000 lower."
    )
    assert "guess is shown to be better than good, bad" in said
    tied = text(scored({"good": 0.9, "guess": 0.9, "bad": 0.5}, baselines=["guess"]))
    assert tied.startswith(
        "No model has a higher accuracy than the naive guess guess, 0.9000; the same: good."
    )


def test_models_that_cannot_be_told_apart() -> None:
    result = scored({"guess": 0.5, "a": 0.9, "b": 0.899, "c": 0.9}, baselines=["guess"])
    found = answer(result)
    assert found.headline == (
        "a, c have the highest accuracy of 4 models, 0.9000, and a is shown to be better than the "
        "naive guess guess (0.5000)."
    )
    assert "a is shown to be better than guess, at" in " ".join(found.details)
    assert "a does not differ significantly from c, b, at" in " ".join(found.details)


def test_without_a_naive_guess_the_worth_is_open() -> None:
    result = scored({"a": 0.9, "b": 0.6}, ["accuracy", "kappa_m"])
    said = text(result)
    assert said.startswith("a has the highest accuracy of 2 models, 0.9000. A higher")
    kappa = result.scores["a"]["kappa_m"]
    assert f"A naive guess scores 0 in kappa_m (here {kappa:.4f})." in said
    assert "No naive guess is among the models with a score" in said
    one = answer(result.select(models="b", metrics="accuracy"))
    assert one.headline == "One model has a score: b, accuracy 0.6000."
    assert one.details[0] == "A higher accuracy is better."
    assert not one.tests
    assert "A naive guess scores 0" not in " ".join(one.details)


def test_naive_guesses_alone_are_no_models_that_are_better() -> None:
    result = scored({"guess": 0.7, "other": 0.6}, baselines=["guess", "other"])
    assert answer(result).headline == (
        "There are only naive baselines: guess has the highest accuracy, 0.7000."
    )


def test_without_a_tape_nothing_is_said_to_be_shown() -> None:
    result = replace(scored({"guess": 0.6, "good": 0.9}, baselines=["guess"]), tape=None)
    found = answer(result)
    assert found.headline == (
        "good has the highest accuracy of 2 models, 0.9000, 0.3000 higher than the naive guess "
        "guess (0.6000); this difference was not tested for significance."
    )
    assert "was not tested: This result has no tape" in found.details[-1]
    assert "shown" not in text(result)
    assert not found.tests


def test_a_measure_of_unknown_direction_makes_no_model_best() -> None:
    mine = Measure(lambda y_true, y_pred: float(np.mean(y_true == y_pred)), name="mine")
    found = answer(scored({"a": 0.9, "b": 0.6}, mine, n_rows=100))
    assert found.headline.startswith(
        "No model can be called best: it is unknown whether a higher mine"
    )
    assert not found.tests


def test_tests_that_are_not_about_the_score_say_so() -> None:
    result = scored({"guess": 0.6, "good": 0.9}, "kappa", ["guess"], forgetting="window:100")
    found = answer(result)
    assert "and, by the 0/1 loss of each row over all rows, is shown to be better" in found.headline
    assert found.details[0].startswith(
        "A higher kappa is better; these are scores of the last 100 rows."
    )
    assert found.details[-1].endswith(", and not by scores of the last 100 rows.")


def test_losses_and_the_measure_may_not_agree(rng: np.random.Generator) -> None:
    y = np.r_[np.zeros(1900, int), np.ones(100, int)]
    balanced = np.where(rng.random(2000) < 0.25, 1 - y, y)  # worse in accuracy
    models = {"majority": np.zeros(2000, int), "balanced": balanced}
    recent = sk.score_predictions(y, models, metrics="accuracy", forgetting="window:100")
    words = "the test compares all rows, while balanced is best by scores of the last 100 rows."
    assert words in " ".join(answer(recent).details)
    result = sk.score_predictions(y, models, metrics="kappa")
    result = replace(result, details=replace(result.details, baselines=("majority",)))
    found = answer(result)
    assert found.headline.startswith("balanced has the highest kappa of 2 models")
    assert (
        "but, by the 0/1 loss of each row, is shown to be worse than the naive guess majority"
        in found.headline
    )
    said = " ".join(found.details)
    assert "majority is shown to be better than balanced" in said
    assert "contradict the measure" in said


def test_folds_are_compared_as_with_the_best() -> None:
    models = {
        "persistent": sk.Persistent(),
        "majority": sk.MajorityClass(),
        "sgd": SGDClassifier(random_state=0),
    }
    stream = make_demo_stream(800, random_state=0)
    result = sk.KFoldEvaluator("accuracy", n_folds=8, random_state=0).evaluate(models, stream)
    found = answer(result)
    best = max(result.scores, key=lambda name: result.scores[name]["accuracy"])
    assert found.headline.startswith(f"{best} has the highest accuracy of 3 models")
    (statement,) = found.tests
    assert "corrected as by Holm for all pairs of models" in statement
    assert "over 8 folds" in statement
    few = answer(result.select(folds=[0, 1, 2]))
    assert "With 3 folds and 3 models no difference can be significant" in " ".join(few.details)
    assert "is shown to be" not in " ".join([few.headline, *few.details])


def test_models_that_failed_count_as_pairs_and_are_not_compared() -> None:
    models = {
        "persistent": sk.Persistent(),
        "a": SGDClassifier(random_state=0),
        "b": FailsLater(100),
    }
    with pytest.warns(FitFailedWarning, match="no more"):
        result = sk.PrequentialEvaluator("accuracy", random_state=0, error_score=np.nan).evaluate(
            models, make_demo_stream(400, random_state=0)
        )
    found = answer(result)
    assert found.details[-1] == "Not compared: b (failed)."
    assert "for all 3 pairs of models together" in " ".join(found.details)


def share_of_claims(n_models: int, n_streams: int, alpha: float) -> float:
    """Share of streams on which one of many models that guess is called better than another."""
    n = 0
    for seed in range(n_streams):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 300)
        models = {f"model {k}": rng.integers(0, 2, 300) for k in range(n_models)}
        result = sk.score_predictions(y, models, metrics="accuracy")
        n += "shown to be" in text(result, alpha)
    return n / n_streams


def test_the_best_of_many_that_guess_is_not_called_better(monkeypatch):
    assert share_of_claims(20, 20, alpha=0.5) <= 0.5
    monkeypatch.setattr(_answer, "comb", lambda *_: 1)  # not corrected: the test sees it
    assert share_of_claims(20, 20, alpha=0.5) > 0.5


@pytest.mark.filterwarnings("ignore:Undefined at the last row")
def test_a_model_that_never_errs_is_not_behind_one_whose_kappa_is_defined() -> None:
    y = np.array(["x"] * 50)
    wrong = np.where(np.arange(50) == 9, "z", y)
    result = sk.score_predictions(
        y, {"right": y, "wrong": wrong}, metrics=["kappa", "accuracy"], classes=["x", "z"]
    )
    assert np.isnan(result.scores["right"]["kappa"])
    assert result.scores["wrong"]["kappa"] == 0
    said = "No model can be called best: kappa of right is undefined (NaN)"
    assert answer(result).headline.startswith(said)
    assert "**0.0000**" not in result.to_markdown()
    assert "**1.0000**" in result.to_markdown()


def test_where_all_models_tie_none_is_bold_and_nothing_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    y = np.arange(50) % 2
    models = {"a": 1 - y, "b": np.where(np.arange(50) == 9, y, 1 - y)}
    result = sk.score_predictions(y, models, metrics=["kappa_plus", "accuracy"])
    assert "| 0.0000 |" in result.to_markdown() and "**0.0000**" not in result.to_markdown()
    assert "**0.0200**" in result.to_markdown()
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Not drawn, because all values are equal: kappa_plus." in page


def test_a_naive_guess_that_the_tested_loss_prefers_is_in_the_headline():
    rng = np.random.default_rng(0)
    y = (rng.random(N_ROWS) < 0.06).astype(int)
    predictions = {
        "eager": np.where(y, 1, rng.random(N_ROWS) < 0.3),
        "persistent": np.roll(y, 1),
        "majority": np.zeros(N_ROWS, int),
    }
    predictions["persistent"][rng.random(N_ROWS) < 0.5] = 1
    result = sk.score_predictions(y, predictions, metrics=["recall:1", "accuracy"])
    result = replace(result, details=replace(result.details, baselines=("persistent", "majority")))
    headline = answer(result).headline
    compared = " ".join(str(result.compare("eager", "majority")).split())
    assert "(accuracy), since recall:1 gives no loss of each row, over all rows" in compared
    assert headline.startswith(
        "eager has the highest recall:1 of 3 models, 1.0000 (persistent: 0.4880), and, by the 0/1"
    )
    assert headline.endswith("by the same test, it is worse than the naive guess majority.")


def test_a_measure_that_has_losses_is_not_said_to_have_none():
    """McNemar's test compares right and wrong ones, whatever the first measure is the mean of."""
    models = {"sgd": SGDClassifier(loss="log_loss"), "majority": sk.MajorityClass()}
    result = sk.PrequentialEvaluator("log_loss").evaluate(models, make_demo_stream(200))
    assert "since" not in str(result.compare("sgd", "majority", "mcnemar"))
