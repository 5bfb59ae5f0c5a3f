"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""

from skstream.evaluation._folder._collect import collect_result
from skstream.evaluation._folder._fingerprint import fingerprint
from skstream.evaluation._folder._group import GroupFolder
from skstream.evaluation._folder._importable import check_importable, first_not_pickled
from skstream.evaluation._folder._record import record
from skstream.evaluation._folder._reports import Reporter
from skstream.evaluation._folder._run_folder import RunFolder, opened
from skstream.evaluation._folder._status import RunStatus, run_status

__all__ = [
    "GroupFolder",
    "Reporter",
    "RunFolder",
    "RunStatus",
    "check_importable",
    "collect_result",
    "fingerprint",
    "first_not_pickled",
    "opened",
    "record",
    "run_status",
]
