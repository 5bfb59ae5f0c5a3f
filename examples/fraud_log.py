"""A log of predictions with late labels: scores per day, the worst group, and estimates for today.

The script writes a log of 60,000 payments, whose labels arrive after about five days. The model
misses half of the fraud in one country. From the sixtieth day on, fraud looks different, and the
model misses about a third more of it everywhere. The log is then scored like any other: no model is
run. It takes a few seconds.

    python examples/fraud_log.py --out fraud
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from skstream import PredictionLog, score_slices

N_ROWS, N_DAYS, CHANGE = 60_000, 90, 60


def write_log(path: Path) -> None:
    """Write the log of a model that misses fraud in one country, and later more of it."""
    rng = np.random.default_rng(0)
    days = np.sort(rng.uniform(0, N_DAYS, N_ROWS))
    time = pd.Timestamp("2026-01-01") + pd.to_timedelta(days, unit="D").round("s")
    country = rng.choice(["DE", "FR", "NL", "PL", "SE"], N_ROWS, p=[0.4, 0.25, 0.15, 0.15, 0.05])
    fraud = rng.random(N_ROWS) < 0.05
    missed = np.where(country == "PL", 0.5, 0.1) + np.where(days > CHANGE, 0.3, 0.0)
    seen = fraud & (rng.random(N_ROWS) > missed)
    p_gbm = np.where(seen, rng.beta(4, 2, N_ROWS), rng.beta(1, 12, N_ROWS))
    known = time + pd.to_timedelta(rng.gamma(2.0, 2.5, N_ROWS), unit="D").round("s")
    label = pd.Series(np.where(fraud, "fraud", "fine")).mask(known > time[-1])
    table = {"fraud": label, "p_gbm": p_gbm, "time": time, "known": known, "country": country}
    pd.DataFrame(table).to_parquet(path)


def main() -> None:
    """Write the log, score it, and save the plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("fraud"), help="folder for the plots")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "log.parquet")

    log = PredictionLog(
        folder / "log.parquet",
        target="fraud",
        probabilities={"gbm": {"fraud": "p_gbm"}},
        arrival="time",
        label_time="known",
    )
    result = log.score(["recall:fraud", "auc"], forgetting="window:7D", record_every="1D")
    print(result, end="\n\n")
    slices = score_slices(
        result,
        log.column("country"),
        metrics=["recall:fraud", "accuracy"],
        forgetting=["cumulative", "window:7D"],
    )
    print(slices, end="\n\n")
    estimates = log.estimate("accuracy")
    print(estimates)

    result.plot("recall:fraud").figure_.savefig(folder / "per_day.png", bbox_inches="tight")
    slices.plot("recall:fraud", kind="bars").figure_.savefig(
        folder / "groups.png", bbox_inches="tight"
    )
    estimates.plot("accuracy").figure_.savefig(folder / "estimates.png", bbox_inches="tight")
    print(f"\nPlots: {folder}/per_day.png, groups.png, estimates.png")


if __name__ == "__main__":
    main()
