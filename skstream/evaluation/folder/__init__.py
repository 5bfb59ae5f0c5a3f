"""Run folders: checkpoints and outcomes of evaluations that can be stopped and go on."""
