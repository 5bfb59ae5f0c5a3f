"""The four evaluators, and what follows from their parameters."""
