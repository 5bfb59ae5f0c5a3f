"""Execution of an evaluation: groups of models in workers, progress, Ctrl-C, joined outcomes."""
