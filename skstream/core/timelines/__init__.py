"""Protocols: who is asked what, and who learns when."""
