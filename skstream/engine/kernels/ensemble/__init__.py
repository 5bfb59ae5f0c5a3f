"""Kernels of ensembles, by way of the kernels of their members."""
