"""The run of models along a stream: steps, failures, scores, tape and checkpoints."""
