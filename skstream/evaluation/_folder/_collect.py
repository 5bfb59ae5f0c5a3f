"""Results from run folders."""

import os

from skstream.evaluation._folder._run_folder import existing
from skstream.evaluation._joined_outcomes import joined, result_so_far
from skstream.evaluation._result import EvaluationResult, assemble


def collect_result(folder: str | os.PathLike[str]) -> EvaluationResult:
    """Make the result of the models that have finished in a run folder: see `skstream.load`."""
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
