"""Small helpers shared by every package; private scikit-learn names are used here only."""
