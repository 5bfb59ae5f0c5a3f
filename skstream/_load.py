"""Loading of all that is saved as data, and what files must hold to be read."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from skstream.core.evaluators.delayed import DelayedResult
from skstream.core.evaluators.delayed_times import Waits
from skstream.core.measures.measure import Measure
from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.rows.stream import Drift
from skstream.core.run.run_outcome import Cost
from skstream.core.run.tape import BASELINES, Tape
from skstream.studies._detector_study import DetectorStudy, StudiedDetector
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy
from skstream.utils._choices import check_count
from skstream.utils._saved import COUNTS, LABELS, NUMBERS, TIMES, check_array, check_types, load_npz

#: Columns of a tape beside its labels, where it has them.
_COLUMNS = ("weight", "row", "time", *BASELINES)
#: What is said of files that are something else.
HINT = " Checkpoints of runs are loaded with load_run."
#: Classes of all that is in a file of a result.
CLASSES: dict[str, Any] = {
    one.__name__: one
    for one in (
        *(EvaluationResult, DelayedResult, ResultDetails, Measure, Tape, Cost),
        *(Waits, Drift),
    )
}


def load_result(path: str | Path, *, max_bytes: int | None = None) -> EvaluationResult:
    """Load a result saved by ``result.save``: see `skstream.load`."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give the path of a file written by result.save.")
    what = "a result saved by skstream"
    result: EvaluationResult = load_npz(
        path, what, CLASSES, check_result, hint=HINT, max_bytes=max_bytes
    )
    return result


def check_result(result: Any) -> None:
    """Raise an error if an array has a type or a shape that does not fit the others."""
    check_types(result, EvaluationResult)
    n_folds, n_rows = result.n_folds, len(result.checkpoints)
    measured = {str({name: [*one] for name, one in of.items()}) for of in result.values.values()}
    if len(measured) > 1 or [*result.measures] != result.metric_names:
        raise ValueError("its models have not the same measures")
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
    if isinstance(result, DelayedResult):
        costs = list(result.waits.poll_costs.values())
        for one in costs:
            check_array(one, "poll_costs", NUMBERS, (len(costs[0]),))
    if result.tape is not None:
        if [*result.tape.answers] != result.model_names:
            raise ValueError("its tape is of other models")
        if not np.array_equal(result.tape.classes, result.classes):
            raise ValueError("the classes of its tape are not those of the result")
        # On the tape are all bins, also where the result is about some.
        _check_tape(result.tape, n_folds, () if not n_bins else (result.n_bins + 2,))
    repr(result), str(result)  # what else has a wrong type shows here, and not later


def _check_tape(tape: Tape, n_folds: int, n_bins: tuple[int, ...]) -> None:
    n_rows, kind = len(tape.y), "f" if tape.classes is None else "i"
    check_array(tape.y, "y", kind, (n_rows,))
    for name in _COLUMNS:
        column = getattr(tape, name)
        if column is not None:
            kinds = {"row": COUNTS, "weight": NUMBERS, "time": TIMES}.get(name, kind)
            check_array(column, name, kinds, (n_rows,))
    for answers in tape.answers.values():
        check_array(answers, "answers", kind, (n_folds, n_rows, *n_bins))
    n_classes = 0 if tape.classes is None else len(tape.classes)
    n_columns = math.prod(n_bins) * (n_classes if n_classes > 2 else 1)
    for scores in tape.scores.values():
        check_array(scores, "scores", "f", (n_folds, n_rows, n_columns))
    if tape.sets is not None:
        for one in tape.sets:
            check_array(one, "sets", COUNTS, (len(tape.sets[0]),))
    if tape.classes is not None:
        for codes in (tape.y, *tape.answers.values()):
            if codes.size and not -2 <= codes.min() <= codes.max() < len(tape.classes):
                raise ValueError(f"its labels are not numbers of {len(tape.classes)} classes")


_STUDIES = (SeedStudy, StreamStudy, DetectorStudy, Leaderboard)
_CLASSES = CLASSES | {one.__name__: one for one in (*_STUDIES, StudiedDetector)}


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Load a saved result or study. No code in it is executed.

    Checkpoints of runs and searches hold models, and are loaded with `load_run`.

    Parameters
    ----------
    path : str or path-like
        File that the ``save`` of a result or a study has written.
    max_bytes : int, default=None
        Most bytes of memory that the arrays of a file may take, against small files made to fill
        it. None: one GiB, or a hundred times the size of the file if that is more.

    Returns
    -------
    found : EvaluationResult, DelayedResult, SeedStudy, StreamStudy, DetectorStudy or Leaderboard
        What was saved, without fitted models.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    ValueError
        If it holds something else, is damaged or incomplete, or has a format that this version does
        not know; or if nothing has finished yet in a folder.

    See Also
    --------
    load_run : Loads a run, to go on with it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream import Persistent, PrequentialEvaluator, load
    >>> from skstream.streams import make_demo_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = PrequentialEvaluator("accuracy").evaluate(Persistent(), make_demo_stream(100))
    ...     path = result.save(Path(folder) / "result.npz")
    ...     load(path).scores == result.scores
    True
    """
    if max_bytes is not None:
        check_count(max_bytes, "max_bytes", 1)
    what = "a result or a study saved by skstream"
    return load_npz(Path(path), what, _CLASSES, _check, hint=HINT, max_bytes=max_bytes)


def _check(found: Any) -> None:
    """Raise an error where the parts of a result or study do not fit together."""
    if not isinstance(found, _STUDIES):
        check_result(found)
        return
    studies = list(found.studies.values()) if isinstance(found, StreamStudy) else [found]
    for one in studies:
        for result in one.results if isinstance(one, SeedStudy) else ():
            check_result(result)
    repr(found)  # what else has a wrong type shows here, and not later
