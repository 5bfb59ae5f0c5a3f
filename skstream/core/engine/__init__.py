"""One engine: it executes any timeline on any estimator."""
