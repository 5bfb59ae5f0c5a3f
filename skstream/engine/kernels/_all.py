"""Every kernel: importing this module registers them."""

import skstream.engine.kernels._baselines
import skstream.engine.kernels._columns
import skstream.engine.kernels._linear
import skstream.engine.kernels._naive_bayes
import skstream.engine.kernels._noise
import skstream.engine.kernels._pipeline
import skstream.engine.kernels._temporal
import skstream.engine.kernels._transformers  # noqa: F401 - they register themselves
