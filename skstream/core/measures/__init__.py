"""Measures as formulas over sums of series."""
