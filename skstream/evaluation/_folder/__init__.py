"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""

from skstream.evaluation._folder._fingerprint import fingerprint_of_call, record
from skstream.evaluation._folder._group import GroupFolder, check_importable, first_not_pickled
from skstream.evaluation._folder._reports import Reporter
from skstream.evaluation._folder._run_folder import OpenedFolder, RunFolder, opened_folder
from skstream.evaluation._folder._status import RunStatus, collect_result, run_status

__all__ = [
    "GroupFolder",
    "OpenedFolder",
    "Reporter",
    "RunFolder",
    "RunStatus",
    "check_importable",
    "collect_result",
    "fingerprint_of_call",
    "first_not_pickled",
    "opened_folder",
    "record",
    "run_status",
]
