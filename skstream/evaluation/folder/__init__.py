"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""

from skstream.evaluation.folder._outcome_file import load_outcome, save_outcome

__all__ = ["load_outcome", "save_outcome"]
