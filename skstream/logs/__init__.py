"""Predictions made elsewhere, groups of rows, scores before labels: what needs the tape alone."""
