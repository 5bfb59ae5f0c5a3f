"""Which window or fading factor follows the true error best, and does a rule of thumb find it?

Losses are drawn with a known probability of an error, row by row, along five courses that it may
take; in the sixth a linear model learns two Gaussian classes that turn by 90 degrees every 5,000
rows, and its true error is computed from its coefficients at every row. The figures are root mean
squared differences of estimate and true error in percentage points, over all rows and streams.

    python -m benchmarks.forgetting_study
    python -m benchmarks.forgetting_study --streams 50 --picture docs/images/forgetting_study.png

Twenty streams take about three minutes on one core.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn
from scipy.special import ndtr
from sklearn.linear_model import SGDClassifier

import skstream
from skstream.forgetting import FadingFactor, SlidingWindow
from skstream.studies import select_forgetting
from skstream.studies._select_forgetting import ForgettingSelection

N_ROWS = 20_000
SIZES = (50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000)
WINDOWS = {f"window {w}": SlidingWindow(w) for w in SIZES}
FACTORS = {f"fading {w}": FadingFactor((w - 1) / (w + 1)) for w in SIZES}
OTHERS = {"all history": "cumulative", "ADWIN": "adwin"}
ROWS = np.arange(N_ROWS)
MODEL = "a model that learns, turns every 5,000 rows"


@dataclass(frozen=True)
class Course:
    """True error of every row, and the window size that the rule of thumb gives (None: no rule)."""

    error: np.ndarray
    rule: float | None

    @classmethod
    def steps(cls, low: float, high: float, length: int) -> "Course":
        error = np.where(ROWS // length % 2, high, low)
        return cls(error, np.sqrt(3 * noise(error) * length) / (high - low))

    @classmethod
    def ramps(cls, low: float, high: float, length: int) -> "Course":
        error = low + (high - low) * np.abs((ROWS / length + 1) % 2 - 1)
        slope = (high - low) / length
        return cls(error, (2 * noise(error) / slope**2) ** (1 / 3))


def noise(error: np.ndarray) -> float:
    """Mean variance of a loss."""
    return float(np.mean(error * (1 - error)))


COURSES = {
    "20 % throughout": Course(np.full(N_ROWS, 0.2), None),
    "learns: 50 % falls to 20 %": Course(0.2 + 0.3 * np.exp(-ROWS / 1500), None),
    "15 % or 30 %, changes every 5,000 rows": Course.steps(0.15, 0.30, 5000),
    "15 % or 30 %, changes every 1,000 rows": Course.steps(0.15, 0.30, 1000),
    "rises and falls, 10 % to 40 % in 5,000 rows": Course.ramps(0.10, 0.40, 5000),
}


def drawn(course: Course, n_streams: int, rng: np.random.Generator) -> ForgettingSelection:
    wrong = (rng.random((n_streams, N_ROWS)) < course.error).astype(int)
    return selected(np.zeros_like(wrong), wrong, course.error)


def learnt(n_streams: int, rng: np.random.Generator) -> ForgettingSelection:
    """Run the model along streams of two classes at +mu and -mu, with unit variance."""
    angle = np.pi / 2 * (ROWS // 5000)
    mean = np.column_stack([np.cos(angle), np.sin(angle)])
    labels = rng.integers(0, 2, (n_streams, N_ROWS))
    answers, errors = np.zeros_like(labels), np.zeros(labels.shape)
    for stream in range(n_streams):
        y = labels[stream]
        X = mean * (2 * y - 1)[:, None] + rng.normal(size=(N_ROWS, 2))
        model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.02)
        model.partial_fit(X[:1], y[:1], classes=[0, 1])
        coef, offset = np.zeros((N_ROWS, 2)), np.zeros(N_ROWS)
        for row in range(N_ROWS):
            coef[row], offset[row] = model.coef_[0], model.intercept_[0]
            model.partial_fit(X[row : row + 1], y[row : row + 1])
        answers[stream] = (X * coef).sum(axis=1) + offset > 0
        length = np.linalg.norm(coef, axis=1)
        along = (coef * mean).sum(axis=1)
        errors[stream] = ndtr(-(along + offset) / length) / 2 + ndtr(-(along - offset) / length) / 2
    return selected(labels, answers, errors)


def selected(y: np.ndarray, answers: np.ndarray, error: np.ndarray) -> ForgettingSelection:
    return select_forgetting(y, answers, error, forgetting=WINDOWS | FACTORS | OTHERS)


def best_size(selection: ForgettingSelection, kind: str) -> int:
    """Size of the best window, or of the window as noisy as the best fading factor."""
    return min(SIZES, key=lambda w: selection.rmse[f"{kind} {w}"])


def print_table(selections: dict[str, ForgettingSelection]) -> None:
    print(
        "\n| course of the true error | best window | its RMSE | best fading factor, as a window | "
        "its RMSE | fading:0.996 | all history | ADWIN | rule | RMSE there |"
    )
    print("|---|" + "---:|" * 9)
    for name, selection in selections.items():
        rmse = {key: f"{100 * value:.2f}" for key, value in selection.rmse.items()}
        window, fading = best_size(selection, "window"), best_size(selection, "fading")
        rule = COURSES[name].rule if name in COURSES else None
        at_rule = "—"
        if rule is not None:
            nearest = min(SIZES, key=lambda w: abs(np.log(w / rule)))
            at_rule = rmse[f"window {nearest}"]
        print(
            f"| {name} | {window:,} | {rmse[f'window {window}']} | {fading:,} | "
            f"{rmse[f'fading {fading}']} | {rmse['fading 500']} | {rmse['all history']} | "
            f"{rmse['ADWIN']} | {'—' if rule is None else f'{rule:,.0f}'} | {at_rule} |"
        )


def draw(selections: dict[str, ForgettingSelection], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    for axes, (name, selection) in zip(
        figure.subplots(2, 3, sharex=True).flat, selections.items(), strict=True
    ):
        for kind, label, style in (
            ("window", "sliding window", "o-"),
            ("fading", "fading factor, as noisy as the window", "s--"),
        ):
            rmse = [100 * selection.rmse[f"{kind} {w}"] for w in SIZES]
            axes.plot(SIZES, rmse, style, label=label, markersize=4)
        adwin = 100 * selection.rmse["ADWIN"]
        axes.axhline(adwin, color="C2", linestyle="-.", label="ADWIN")
        rule = COURSES[name].rule if name in COURSES else None
        if rule is not None:
            axes.axvline(rule, color="0.5", linestyle=":", label="rule of thumb")
        axes.set(xscale="log", title=name)
        axes.title.set_fontsize(10)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    figure.supxlabel("window size (rows)")
    figure.supylabel("deviation from the true error (RMSE, percentage points)")
    with_rule = figure.axes[2]
    figure.legend(*with_rule.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.savefig(path, dpi=110)
    print(f"\nPicture: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=20, help="streams of each course")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, help="where to save the picture")
    options = parser.parse_args()
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, ", end="")
    print(f"numpy {np.__version__}; {options.streams} streams of {N_ROWS:,} rows")
    rng = np.random.default_rng(options.seed)
    selections = {name: drawn(one, options.streams, rng) for name, one in COURSES.items()}
    selections[MODEL] = learnt(options.streams, rng)
    print_table(selections)
    if options.picture is not None:
        draw(selections, options.picture)


if __name__ == "__main__":
    main()
