"""Exact kernels of naive Bayes."""
