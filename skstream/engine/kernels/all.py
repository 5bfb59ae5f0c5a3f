"""Every kernel: importing this module registers them."""

import skstream.engine.kernels.baselines
import skstream.engine.kernels.linear.kernel
import skstream.engine.kernels.naive_bayes.categorical
import skstream.engine.kernels.naive_bayes.discrete
import skstream.engine.kernels.naive_bayes.gaussian
import skstream.engine.kernels.noise
import skstream.engine.kernels.pipeline
import skstream.engine.kernels.temporal
import skstream.engine.kernels.transformers.column_transformer
import skstream.engine.kernels.transformers.range
import skstream.engine.kernels.transformers.standard
import skstream.engine.kernels.transformers.stateless  # noqa: F401 - they register themselves
