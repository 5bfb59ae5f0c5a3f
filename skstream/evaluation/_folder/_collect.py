"""Results from run folders."""

import os

from skstream.evaluation._folder._run_folder import existing
from skstream.evaluation._joined_outcomes import joined, result_so_far
from skstream.evaluation._result import EvaluationResult, assemble


def collect_result(folder: str | os.PathLike[str]) -> EvaluationResult:
    """Make the result of the models that have finished in a run folder.

    Only data is read, no model is loaded, and the run may still be going on.

    Parameters
    ----------
    folder : str or path-like
        Folder that was given to an evaluator or a search as ``checkpoint``.

    Returns
    -------
    result : EvaluationResult
        The result; ``left_out`` names the models that have not finished, and why. Where no model
        has finished in all folds, that of the folds that have finished, which ``folds`` names. Of a
        search, the result is that of the tuning rows, as ``result_`` has it.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If the folder holds no run, a file in it is damaged, or nothing has finished yet.

    Examples
    --------
    >>> import tempfile
    >>> from skstream import Persistent, PrequentialEvaluator, collect_result
    >>> from skstream.streams import make_demo_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     evaluator = PrequentialEvaluator("accuracy", checkpoint=folder)
    ...     result = evaluator.evaluate(Persistent(), make_demo_stream(100))
    ...     collect_result(folder).scores == result.scores
    True
    """
    run = existing(folder)
    manifest = run.manifest
    assert manifest is not None
    finished = list(run.finished().values())
    if len(finished) == len(manifest.groups):
        return assemble(manifest.header, [joined(finished, {}, manifest.places)])
    result = result_so_far(manifest.header, finished, manifest.places, "the result was collected")
    if result is None:
        raise ValueError(
            f"No model has finished yet in {run.path}: none of {len(manifest.groups)} groups of "
            "models is done. Go on with the call that began it."
        )
    return result
