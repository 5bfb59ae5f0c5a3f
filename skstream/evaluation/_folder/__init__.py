"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""

from skstream.evaluation._folder._collect import collect_result
from skstream.evaluation._folder._fingerprint import as_text, fingerprint
from skstream.evaluation._folder._group import GroupFolder
from skstream.evaluation._folder._importable import check_importable, first_not_pickled
from skstream.evaluation._folder._record import record
from skstream.evaluation._folder._reports import Reporter
from skstream.evaluation._folder._run_folder import RunFolder, existing, opened
from skstream.evaluation._folder._status import GroupStatus, RunStatus, run_status

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
    "opened",
    "record",
    "run_status",
]
