"""Small helpers shared by every package; the only home of private scikit-learn names."""
