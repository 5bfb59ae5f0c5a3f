"""Results: made, printed, compared, ranked, selected, scored again and saved."""
