"""Results in words, tables and pages, and their comparison."""
