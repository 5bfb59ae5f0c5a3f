"""Kernels of scikit-learn's multi-layer perceptrons."""
