"""What a group of models did, as a file: arrays and a JSON header, never a pickle."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from skstream.drift import Detections
from skstream.evaluation._runs._cost import Cost
from skstream.evaluation._runs._run_outcome import EndedModel, LaneOutcome, RunOutcome
from skstream.metrics._checkpoints import Curves
from skstream.streams._drifts import as_drifts
from skstream.utils._loaded import check_types, fitting
from skstream.utils._npy import StoredArray
from skstream.utils._npz import read_npz, write_npz

FORMAT = 6  # 2 is that of saved results
#: Fields of a lane that JSON holds as they are.
_PLAIN = ("name", "fold", "path", "failure", "n_valid", "n_unanswered", "method")


def save_outcome(outcome: RunOutcome, path: Path, identity: str = "") -> None:
    """Write the outcome of a finished run, completely or not at all, and of which group it is.

    Fitted models are left out. Columns of the tape that lie in files of their own stay there.
    """
    first = outcome.lanes[0].curves
    names = {forgetting: list(by_metric) for forgetting, by_metric in first.values.items()}
    arrays = {"checkpoints": first.checkpoints}
    if first.times is not None:
        arrays["times"] = first.times
    for k, lane in enumerate(outcome.lanes):
        arrays |= curves_as_arrays(f"curves/{k}", lane.curves.values)
        for d, one in enumerate(lane.detections.values()):
            arrays[f"alarms/{k}/{d}"], arrays[f"warnings/{k}/{d}"] = one.alarms, one.warnings
    labels = dict(outcome.labels or {})
    if "sets" in labels:
        arrays["sets/ends"], arrays["sets/checkpoints"] = labels.pop("sets")
    columns = {f"answers/{k}": lane.answers for k, lane in enumerate(outcome.lanes)}
    columns |= {f"scores/{k}": lane.scores for k, lane in enumerate(outcome.lanes)}
    columns |= {f"labels/{name}": one for name, one in labels.items()}
    stored = {name: one for name, one in columns.items() if isinstance(one, StoredArray)}
    arrays |= {name: one for name, one in columns.items() if one is not None and name not in stored}
    waits = outcome.waits
    if waits is not None:
        arrays |= waits.arrays()
    header = {
        "format": FORMAT,
        "identity": identity,
        "lanes": [
            {name: getattr(lane, name) for name in _PLAIN}
            | {"cost": asdict(lane.cost), "monitors": list(lane.detections)}
            | {"bins": {monitor: one.bin for monitor, one in lane.detections.items()}}
            | ({} if lane.ended is None else {"ended": asdict(lane.ended)})
            for lane in outcome.lanes
        ],
        "curves": names,
        "labels": None if outcome.labels is None else list(labels),
        "stored": {
            name: [os.path.relpath(one.path, path.parent), one.n_rows, one.checksum]
            for name, one in stored.items()
        },
        "waits": None if waits is None else waits.plain(),
        "drifts": outcome.drifts,
        "labels_read": outcome.labels_read,
        "columns": outcome.columns,
        "n_rows": outcome.n_rows,
        "n_unlabelled": outcome.n_unlabelled,
        "unlabelled_held_out": outcome.unlabelled_held_out,
        "read": {name: list(sums) for name, sums in outcome.read.items()},
    }
    write_npz(path, header, arrays, compress=False)


def load_outcome(path: Path) -> tuple[RunOutcome, str]:
    """Read the outcome that `save_outcome` wrote, and of which group it is.

    Raises
    ------
    ValueError
        If the file is something else, or damaged.
    """
    arrays, header = read_npz(path, FORMAT, "the outcome of a group of models")
    with fitting(path, "the outcome of a group of models"):
        columns: dict[str, Any] = {
            name: StoredArray(Path(os.path.normpath(path.parent / file)), n_rows, checksum)
            for name, (file, n_rows, checksum) in header["stored"].items()
        }
        outcome = _made(arrays | columns, header)
        check_types(outcome)
    return outcome, str(header["identity"])


def curves_as_arrays(
    prefix: str, values: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """Name the curves of a model in a file, by the numbers of their mechanism and measure."""
    return {
        f"{prefix}/{f}/{m}": curve
        for f, by_metric in enumerate(values.values())
        for m, curve in enumerate(by_metric.values())
    }


def curves_of_arrays(
    prefix: str, arrays: Mapping[str, np.ndarray], metrics_of: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, np.ndarray]]:
    """Read these curves, by the names of the measures under each mechanism."""
    return {
        forgetting: {metric: arrays[f"{prefix}/{f}/{m}"] for m, metric in enumerate(metrics)}
        for f, (forgetting, metrics) in enumerate(metrics_of.items())
    }


def _made(arrays: dict[str, Any], header: dict[str, Any]) -> RunOutcome:
    held_out = header["unlabelled_held_out"]
    return RunOutcome(
        lanes=[_lane(k, lane, arrays, header) for k, lane in enumerate(header["lanes"])],
        labels=_labels(arrays, header["labels"]),
        waits=_waits(arrays, header["waits"]),
        drifts=as_drifts(header["drifts"]),
        labels_read=header.get("labels_read", ""),  # older files have none
        columns=header.get("columns", {}),
        n_rows=header["n_rows"],
        n_unlabelled=header["n_unlabelled"],
        unlabelled_held_out=None if held_out is None else tuple(held_out),
        read={name: tuple(sums) for name, sums in header["read"].items()},
    )


def _lane(
    k: int, lane: dict[str, Any], arrays: dict[str, Any], header: dict[str, Any]
) -> LaneOutcome:
    values = curves_of_arrays(f"curves/{k}", arrays, header["curves"])
    return LaneOutcome(
        **{name: lane[name] for name in _PLAIN},
        curves=Curves(checkpoints=arrays["checkpoints"], values=values, times=arrays.get("times")),
        answers=arrays.get(f"answers/{k}"),
        scores=arrays.get(f"scores/{k}"),
        cost=Cost(**lane["cost"]),
        ended=EndedModel(**lane["ended"]) if "ended" in lane else None,
        detections={
            monitor: Detections(
                monitor=monitor,
                model=lane["name"],
                fold=lane["fold"],
                bin=lane.get("bins", {}).get(monitor),
                alarms=arrays[f"alarms/{k}/{d}"],
                warnings=arrays[f"warnings/{k}/{d}"],
            )
            for d, monitor in enumerate(lane["monitors"])
        },
    )


def _labels(arrays: dict[str, Any], names: list[str] | None) -> dict[str, Any] | None:
    if names is None:
        return None
    labels: dict[str, Any] = {name: arrays.get(f"labels/{name}") for name in names}
    if "sets/ends" in arrays:
        labels["sets"] = arrays["sets/ends"], arrays["sets/checkpoints"]
    return labels


def _waits(arrays: dict[str, Any], plain: dict[str, Any] | None) -> Any:
    if plain is None:
        return None
    # Late: the room of delayed labels is built on the evaluators.
    from skstream.evaluation.delayed._counts import Waits

    return Waits.of_plain(plain, arrays)
