"""Results as files: arrays and a JSON header in one NPZ, never a pickle."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from skstream.drift import Detections
from skstream.engine.tape import Tape
from skstream.evaluation._folder._outcome_file import curves_as_arrays, curves_of_arrays
from skstream.evaluation._results._rescore import BASELINES
from skstream.evaluation._results._result import EvaluationResult, ResultDetails
from skstream.evaluation._runs._cost import Cost
from skstream.evaluation._runs._run_outcome import EndedModel
from skstream.evaluation._runs._watch import FoundByMonitor, by_monitor, each
from skstream.evaluation.delayed._counts import Waits
from skstream.evaluation.delayed._result import DelayedResult
from skstream.metrics import Measure
from skstream.metrics._registry import known_measure
from skstream.streams._drifts import as_drifts
from skstream.utils._loaded import COUNTS, LABELS, NUMBERS, TIMES, check_array, check_types, fitting
from skstream.utils._npz import npz_path, read_npz, write_npz

FORMAT = 2
#: Columns of a tape beside its labels, where it has them.
_TAPE_COLUMNS = ("weight", "row", "time", *BASELINES)
#: Fields of a result that JSON holds as they are, and those that it turns into lists.
_PLAIN = (
    "protocol",
    "paths",
    "failures",
    "failed_at",
    "left_out",
    "n_unanswered",
    "n_unlabelled",
    "parameters",
    "drifts",
)
#: The same of its details; why there is no tape is not known of a file.
_PLAIN_DETAILS = ("mechanisms", "scored_sets", "labels_read", "generator", "record")
_TUPLES = ("unlabelled_held_out", "baselines", "selected_folds")


def save_result(result: EvaluationResult, path: str | Path) -> Path:
    """Save a result as data.

    The file is written completely or not at all, even if writing fails.

    Parameters
    ----------
    result : EvaluationResult
        Result to save; fitted models are left out.
    path : str or Path
        File to write; ``.npz`` is appended where it has no suffix.

    Returns
    -------
    path : Path
        The file written.
    """
    path = npz_path(path)
    header, arrays = packed(result)
    write_npz(path, header, arrays, compress=True)
    return path


def packed(result: EvaluationResult) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays that hold a result."""
    arrays = {"checkpoints": result.checkpoints}
    if result.times is not None:
        arrays["times"] = result.times
    for m, by_forgetting in enumerate(result.values.values()):
        arrays |= curves_as_arrays(f"values/{m}", by_forgetting)
    if result.classes is not None:
        arrays["classes"] = plain_labels(result.classes)
    found = each(result.detections)
    for k, one in enumerate(found):
        arrays[f"alarms/{k}"], arrays[f"warnings/{k}"] = one.alarms, one.warnings
    tape = result.tape
    if tape is not None:
        columns = {name: getattr(tape, name) for name in ("y", *_TAPE_COLUMNS)}
        columns["sets/ends"], columns["sets/checkpoints"] = tape.sets or (None, None)
        for m, (model, answers) in enumerate(tape.answers.items()):
            columns |= {f"answers/{m}": answers, f"scores/{m}": tape.scores.get(model)}
        arrays |= {f"tape/{name}": one for name, one in columns.items() if one is not None}
    header = {
        "format": FORMAT,
        "kind": type(result).__name__,
        "models": result.model_names,
        "forgetting": result.forgetting_names,
        "metrics": result.metric_names,
        "measures": {name: measure.facts for name, measure in result.measures.items()},
        "methods": {} if tape is None else tape.methods,
        "costs": {name: asdict(cost) for name, cost in result.costs.items()},
        "ended": {name: asdict(one) for name, one in result.ended.items()},
        "detections": [[one.monitor, one.model, one.fold, one.bin, one.n_folds] for one in found],
        **{name: getattr(result, name) for name in _PLAIN},
        **{name: getattr(result.details, name) for name in (*_PLAIN_DETAILS, *_TUPLES)},
    }
    if isinstance(result, DelayedResult):
        header["waits"] = result.waits.plain()
        header["selected_bins"] = result.selected_bins
        arrays |= result.waits.arrays()
    return header, arrays


def load_result(path: str | Path, *, max_bytes: int | None = None) -> EvaluationResult:
    """Load a result saved by ``result.save``: see `skstream.load`."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give the path of a file written by result.save.")
    hint = " Checkpoints of runs are loaded with load_run."
    arrays, header = read_npz(path, FORMAT, "a result saved by skstream", hint, max_bytes)
    return unpacked(path, arrays, header)


def unpacked(path: Path, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> EvaluationResult:
    """Make a result from the header and the arrays that hold it; `path` is for messages."""
    with fitting(path, "a result saved by skstream"):
        result = _made(arrays, header)
        check_types(result)
        _check_arrays(result)
        repr(result), str(result)  # what else has a wrong type shows here, and not later
    return result


def _check_arrays(result: EvaluationResult) -> None:
    """Raise an error if an array has a type or a shape that does not fit the others."""
    n_folds, n_rows = result.n_folds, len(result.checkpoints)
    n_bins = (len(result.bins),) if isinstance(result, DelayedResult) else ()
    check_types(result.parameters.get("n_warmup", 0), int, "n_warmup")
    if len(result.folds) != n_folds or any(len(n) != n_folds for n in result.failed_at.values()):
        raise ValueError(f"its curves have {n_folds} folds, and it names others")
    check_array(result.checkpoints, "checkpoints", COUNTS, (None,))
    if result.times is not None:
        check_array(result.times, "times", TIMES, (n_rows,))
    for by_forgetting in result.values.values():
        for by_metric in by_forgetting.values():
            for name, curve in by_metric.items():
                check_array(curve, f"a curve of {name}", "f", (n_rows, n_folds, *n_bins))
    if result.classes is not None:
        check_array(result.classes, "classes", LABELS, (None,))
    for found in each(result.detections):
        check_array(found.alarms, "alarms", COUNTS, (None,))
        check_array(found.warnings, "warnings", COUNTS, (None,))
    if isinstance(result, DelayedResult):
        costs = list(result.waits.poll_costs.values())
        for one in costs:
            check_array(one, "poll_costs", NUMBERS, (len(costs[0]),))
    if result.tape is not None:
        _check_tape(result.tape, n_folds)


def _check_tape(tape: Tape, n_folds: int) -> None:
    n_rows, kind = len(tape.y), "f" if tape.classes is None else "i"
    check_array(tape.y, "y", kind, (n_rows,))
    for name in _TAPE_COLUMNS:
        column = getattr(tape, name)
        if column is not None:
            kinds = {"row": COUNTS, "weight": NUMBERS, "time": TIMES}.get(name, kind)
            check_array(column, name, kinds, (n_rows,))
    for answers in tape.answers.values():
        check_array(answers, "answers", kind, (n_folds, n_rows, *(None,) * (answers.ndim - 2)))
    for scores in tape.scores.values():
        check_array(scores, "scores", "f", (n_folds, n_rows, *(None,) * (scores.ndim - 2)))
    if tape.sets is not None:
        for one in tape.sets:
            check_array(one, "sets", COUNTS, (len(tape.sets[0]),))
    if tape.classes is not None:
        for codes in (tape.y, *tape.answers.values()):
            if codes.size and not -2 <= codes.min() <= codes.max() < len(tape.classes):
                raise ValueError(f"its labels are not numbers of {len(tape.classes)} classes")


def _made(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> EvaluationResult:
    """Make the result from its arrays and its header."""
    further: dict[str, Any] = {name: header[name] for name in _PLAIN if name in header}
    details = {name: header[name] for name in _PLAIN_DETAILS if name in header}
    details |= {name: _tuple(header[name]) for name in _TUPLES if name in header}
    further["details"] = ResultDetails(**details)
    further["drifts"] = as_drifts(header.get("drifts", ()))  # older files have none
    metrics_of = dict.fromkeys(header["forgetting"], header["metrics"])
    kind: type[EvaluationResult] = EvaluationResult
    if "waits" in header:
        kind = DelayedResult
        further["waits"] = Waits.of_plain(header["waits"], arrays)
        further["selected_bins"] = _tuple(header["selected_bins"])
    return kind(
        checkpoints=arrays["checkpoints"],
        times=arrays.get("times"),
        values={
            model: curves_of_arrays(f"values/{m}", arrays, metrics_of)
            for m, model in enumerate(header["models"])
        },
        measures=_loaded_measures(header),
        classes=arrays.get("classes"),
        tape=_loaded_tape(arrays, header),
        costs={name: Cost(**cost) for name, cost in header["costs"].items()},
        detections=_loaded_detections(arrays, header),
        ended={name: EndedModel(**one) for name, one in header.get("ended", {}).items()},
        **further,
    )


def _loaded_detections(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> FoundByMonitor:
    return by_monitor(
        {
            monitor: Detections(
                monitor=monitor,
                model=model,
                fold=fold,
                **dict(zip(("bin", "n_folds"), others, strict=False)),
                alarms=arrays[f"alarms/{k}"],
                warnings=arrays[f"warnings/{k}"],
            )
        }
        for k, (monitor, model, fold, *others) in enumerate(header.get("detections", ()))
    )


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _loaded_measures(header: dict[str, Any]) -> dict[str, Measure]:
    saved = header.get("measures", {})
    return {
        name: Measure(**saved[name]) if name in saved else known_measure(name)
        for name in header["metrics"]
    }


def _loaded_tape(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> Tape | None:
    if "tape/y" not in arrays:
        return None
    sets = None
    if "tape/sets/ends" in arrays:
        sets = arrays["tape/sets/ends"], arrays["tape/sets/checkpoints"]
    return Tape(
        classes=arrays.get("classes"),
        y=arrays["tape/y"],
        answers={model: arrays[f"tape/answers/{m}"] for m, model in enumerate(header["models"])},
        sets=sets,
        scores={
            model: arrays[f"tape/scores/{m}"]
            for m, model in enumerate(header["models"])
            if f"tape/scores/{m}" in arrays
        },
        methods=header.get("methods", {}),  # older files have none
        **{name: arrays.get(f"tape/{name}") for name in _TAPE_COLUMNS},
    )


def plain_labels(classes: np.ndarray) -> np.ndarray:
    """Labels as an array that needs no pickle."""
    if classes.dtype != object:
        return classes
    plain = np.array(classes.tolist())
    if plain.dtype == object:
        raise ValueError(
            f"Labels of type {type(classes[0]).__name__} cannot be saved as data; use strings "
            "or numbers as labels."
        )
    lost = [label for label in classes.tolist() if label[-1:] in ("\0", b"\0")]
    if lost:
        raise ValueError(
            f"The label {lost[0]!r} ends in NUL, which the file would not keep: saved results hold "
            "labels as arrays of NumPy. Use other labels."
        )
    return plain
