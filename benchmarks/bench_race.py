"""What races save on a real stream: rows read by the candidates, and accuracy lost.

A wide grid of 48 candidates and a narrow one of 32, scaler -> TemporalCorrection(SGD), on
Electricity (where SKSTREAM_DATA names the folder that holds it), all rows for tuning:

1. Every race on the answers of one evaluation of the whole grid. "work" is the share of the whole
   grid's rows that the candidates read, "lost" the accuracy of the chosen one below that of the
   best of the grid.
2. River's successive halving on the same answers, and over as many models of River's own, where
   River is installed. CapyMOA's runs its own models alone, and is not compared.
3. `PrequentialSearch` over both grids, and over the wide one with the stream ten times over:
   processor time without and with races, the fastest of several. "60 rows" is what it takes to
   make and check the candidates, "1 candidate" what the first of them takes alone.

    python -m benchmarks.bench_race
    python -m benchmarks.bench_race --repeat 5

Run from the top of the repository.
"""

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import StandardScaler

from benchmarks.bench_folds import electricity
from skstream import PrequentialEvaluator, TemporalCorrection, make_stream_pipeline
from skstream.model_selection import PrequentialSearch
from skstream.model_selection._race import AnytimeRace, HalvingRace

CORRECTED = "temporalcorrection__"
SGD = CORRECTED + "estimator__"
GRIDS = {
    "wide": {
        SGD + "learning_rate": ["constant", "invscaling"],
        SGD + "eta0": [0.01, 0.1, 1.0],
        SGD + "alpha": [1e-5, 1e-3],
        CORRECTED + "fading_factor": [0.9, 0.99, 0.999, 1.0],
    },
    "narrow": {
        SGD + "alpha": [1e-5, 1e-4, 1e-3, 1e-2],
        CORRECTED + "fading_factor": [0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0],
    },
}
RACES: dict[str, Callable[[int, int], Any]] = {
    "anytime, indifference 0": lambda k, _: AnytimeRace(k),
    "anytime, indifference .002": lambda k, _: AnytimeRace(k, indifference=0.002),
    "anytime, indifference .005": lambda k, _: AnytimeRace(k, indifference=0.005),
    "halving to a third at 1/8, 1/4, 1/2": HalvingRace,
}
SEARCHES: dict[str, dict[str, Any]] = {
    "anytime, indifference 0": {"race": "anytime"},
    "anytime, indifference .002": {"race": {"kind": "anytime", "indifference": 0.002}},
    "anytime, indifference .005": {"race": {"kind": "anytime", "indifference": 0.005}},
    "halving to a third at 1/8, 1/4, 1/2": {"race": "halving"},
}


def model() -> Any:
    """The estimator whose parameters are searched."""
    sgd = SGDClassifier(loss="log_loss", random_state=0)
    return make_stream_pipeline(StandardScaler(), TemporalCorrection(sgd))


def answers_of(grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, float]:
    """True codes and the candidates' answers, and the processor time of the whole grid."""
    candidates = {
        str(number): clone(model()).set_params(**parameters)
        for number, parameters in enumerate(ParameterGrid(grid))
    }
    begin = time.process_time()
    tape = PrequentialEvaluator("accuracy").evaluate(candidates, X, y).tape
    seconds = time.process_time() - begin
    answers = np.array([tape.answers[name][0] for name in candidates])
    return tape.y[1:], answers[:, 1:], seconds  # nobody is asked about the first row


def race_on(race: Any, losses: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Share of the work, numbers of those left, and the processor time of the race itself."""
    k, n = losses.shape
    read, at, begin = 0, 0, time.process_time()
    while (stop := race.next_look(at)) is not None and stop <= n:
        left = race.left
        race.read(losses[left, at:stop])
        read += len(left) * (stop - at)
        at = stop
        race.look(-losses[left, :at].mean(axis=1) if race.needs_scores else None)
    seconds = time.process_time() - begin
    return (read + len(race.left) * (n - at)) / (k * n), race.left, seconds


def river_halving(y: np.ndarray, answers: np.ndarray) -> tuple[float, np.ndarray] | None:
    """River's successive halving over models that repeat these answers; None without River.

    Its budget is the number of rows: its halving ends after a twelfth of them.
    """
    if find_spec("river") is None:
        return None
    from river import base, metrics, model_selection

    class Answers(base.Classifier):
        """Repeats its answers, one per row."""

        def __init__(self, number: int) -> None:
            self.number = number
            self.row = 0
            self.answers = answers[number].tolist()

        def learn_one(self, x: Any, y: Any) -> None:
            self.row += 1

        def predict_one(self, x: Any) -> Any:
            return self.answers[self.row]

        def predict_proba_one(self, x: Any) -> Any:
            raise NotImplementedError

    k, n = answers.shape
    models = [Answers(number) for number in range(k)]
    halving = model_selection.SuccessiveHalvingClassifier(models, metrics.Accuracy(), budget=n)
    for label in y.tolist():
        halving.learn_one({}, label)
    read = sum(one.row for one in halving.models)
    return read / (k * n), np.array([halving.best_model.number])


def river_models(X: np.ndarray, y: np.ndarray) -> None:
    """River's successive halving over 48 of its own models: another grid, no past labels."""
    if find_spec("river") is None:
        print("\nRiver's own models: River is not installed")
        return
    from river import linear_model, metrics, model_selection, optim, preprocessing

    grid = ParameterGrid({"rate": np.geomspace(1e-3, 1, 12), "l2": [0, 1e-5, 1e-4, 1e-3]})
    models = [
        preprocessing.StandardScaler()
        | linear_model.LogisticRegression(optim.SGD(one["rate"]), l2=one["l2"])
        for one in grid
    ]
    rows = [dict(enumerate(x)) for x in X.tolist()]
    labels = (y == y[0]).tolist()
    begin = time.process_time()
    halving = model_selection.SuccessiveHalvingClassifier(models, metrics.Accuracy(), len(y))
    right = 0
    for x, label in zip(rows, labels, strict=True):
        right += halving.predict_one(x) == label
        halving.learn_one(x, label)
    print(
        f"\nRiver's successive halving over {len(models)} of its scaler -> logistic regression: "
        f"accuracy of its answers {right / len(y):.3f}, {time.process_time() - begin:.2f} s of "
        "processor time"
    )


def on_answers(X: np.ndarray, y: np.ndarray) -> None:
    """Races on the answers of one evaluation of the whole grid."""
    for name, grid in GRIDS.items():
        codes, answers, seconds = answers_of(grid, X, y)
        losses = (answers != codes).astype(float)
        accuracy = 1 - losses.mean(axis=1)
        print(
            f"\n{name}: {len(losses)} candidates, accuracy {accuracy.min():.3f} to "
            f"{accuracy.max():.3f}, the whole grid {seconds:.2f} s of processor time"
        )
        print(f"  {'':36}{'work':>8}{'lost':>8}{'left':>6}{'race, ms':>10}")

        def line(kind: str, work: float, left: np.ndarray, spent: str) -> None:
            lost = accuracy.max() - accuracy[left].max()  # noqa: B023
            print(f"  {kind:36}{work:8.3f}{lost:8.4f}{len(left):6}{spent:>10}")

        for kind, make in RACES.items():
            work, left, spent = race_on(make(*losses.shape), losses)
            line(kind, work, left, f"{1000 * spent:.0f}")
        found = river_halving(codes, answers)
        if found is None:
            print("  River's successive halving: River is not installed")
        else:
            line("River's successive halving", *found, "")


def searches(X: np.ndarray, y: np.ndarray, repeat: int) -> None:
    """Processor time of searches."""
    long = np.tile(X, (10, 1)), np.tile(y, 10)
    kinds: dict[str, tuple[bool, int | None, dict[str, Any]]] = {
        "60 rows": (False, 60, {}),
        "1 candidate": (True, None, {}),
        "no race": (False, None, {}),
        **{kind: (False, None, parameters) for kind, parameters in SEARCHES.items()},
    }
    print(f"\n  {'PrequentialSearch, seconds':36}{'wide':>8}{'narrow':>8}{'wide x 10':>11}")
    for kind, (alone, n_rows, parameters) in kinds.items():
        times = []
        for name, stream in (("wide", (X, y)), ("narrow", (X, y)), ("wide", long)):
            grid = {key: values[:1] if alone else values for key, values in GRIDS[name].items()}
            rows = [part[:n_rows] for part in stream]
            times.append(min(_seconds(grid, rows, parameters) for _ in range(repeat)))
        print(f"  {kind:36}{times[0]:8.2f}{times[1]:8.2f}{times[2]:11.2f}")


def _seconds(grid: dict[str, list[Any]], rows: list[np.ndarray], parameters: Any) -> float:
    evaluator = PrequentialEvaluator(keep_tape=False)
    search = PrequentialSearch(model(), grid, evaluator=evaluator, metric="accuracy", **parameters)
    begin = time.process_time()
    search.fit(*rows)
    return time.process_time() - begin


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    stream = electricity()
    if stream is None:
        raise SystemExit("Set SKSTREAM_DATA to a folder with electricity.parquet.")
    on_answers(*stream)
    river_models(*stream)
    searches(*stream, arguments.repeat)


if __name__ == "__main__":
    main()
