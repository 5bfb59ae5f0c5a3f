"""Results from run folders."""

import os

from skstream.evaluation._folder._run_folder import existing
from skstream.evaluation._parallel._joined_outcomes import joined, result_so_far
from skstream.evaluation._results._assemble import assemble
from skstream.evaluation._results._result import EvaluationResult


def collect_result(folder: str | os.PathLike[str]) -> EvaluationResult:
    """Make the result of the models that have finished in a run folder: see `skstream.load`."""
    run = existing(folder)
    manifest = run.manifest
    assert manifest is not None
    finished, why = list(run.finished().values()), "the result was collected"
    try:
        if len(finished) == len(manifest.groups):
            return assemble(manifest.header, joined(finished, {}, manifest.places))
        result = result_so_far(manifest.header, finished, manifest.places, why)
    except (LookupError, TypeError, AttributeError, OverflowError, StopIteration) as error:
        raise ValueError(
            f"{run.path} is damaged: what its manifest.json and the outcome.npz of its groups say "
            f"does not fit together ({type(error).__name__}: {error})."
        ) from error
    if result is None:
        raise ValueError(
            f"No model has finished yet in {run.path}: none of {len(manifest.groups)} groups of "
            "models is done. Go on with the call that began it."
        )
    return result
