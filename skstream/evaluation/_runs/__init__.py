"""The run of models along a stream: steps, failures, scores, monitors, tape and checkpoints."""
