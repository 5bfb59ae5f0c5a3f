"""Kernels of all naive Bayes models; importing this module registers them."""

from skstream.engine.kernels import (
    _naive_bayes_categorical,
    _naive_bayes_discrete,
    _naive_bayes_gaussian,
)

__all__ = ["_naive_bayes_categorical", "_naive_bayes_discrete", "_naive_bayes_gaussian"]
