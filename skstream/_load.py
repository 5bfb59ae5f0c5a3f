"""Loading of all that is saved as data."""

import os
from pathlib import Path
from typing import Any

from skstream.core.result.storage import CLASSES, HINT, check_result
from skstream.studies._detector_study import DetectorStudy, StudiedDetector
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy
from skstream.utils._choices import check_count
from skstream.utils._saved import load_npz

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
