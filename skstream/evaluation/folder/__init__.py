"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""

from skstream.evaluation.folder._as_text import as_text
from skstream.evaluation.folder._collect import collect_result
from skstream.evaluation.folder._fingerprint import fingerprint
from skstream.evaluation.folder._group import GroupFolder
from skstream.evaluation.folder._importable import check_importable, first_not_pickled
from skstream.evaluation.folder._outcome_file import load_outcome, save_outcome
from skstream.evaluation.folder._reports import Reporter
from skstream.evaluation.folder._run_folder import RunFolder, existing, opened
from skstream.evaluation.folder._status import GroupStatus, RunStatus, status

__all__ = [
    "GroupFolder",
    "GroupStatus",
    "Reporter",
    "RunFolder",
    "RunStatus",
    "as_text",
    "check_importable",
    "collect_result",
    "existing",
    "fingerprint",
    "first_not_pickled",
    "load_outcome",
    "opened",
    "save_outcome",
    "status",
]
