"""Exact, fast evaluation of classifiers that learn from data streams."""

# Wings that offer the core what it uses where it is there: models of other libraries, kernels,
# names of measures.
import skstream.compat
import skstream.kernels
import skstream.metrics  # noqa: F401
from skstream._load import load
from skstream._names import __getattr__  # noqa: F401 - for names that are elsewhere
from skstream.adaptive import DriftReset
from skstream.baselines import (
    MajorityClass,
    MajorityWindow,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
    RandomClass,
)
from skstream.calibration import PrequentialCalibrator
from skstream.conformal import OnlineConformalRegressor
from skstream.ensemble import DynamicWeightedMajority, OnlineBagging
from skstream.evaluation import (
    DelayedEvaluator,
    DriftMonitor,
    EvaluationInterrupted,
    EvaluationResult,
    HoldoutEvaluator,
    KFoldEvaluator,
    ModelError,
    Polling,
    PredictionLog,
    PrequentialEvaluator,
    RunOptions,
    class_report,
    detect,
    estimate_unlabelled,
    interval_scores,
    load_run,
    prequential_predict,
    score_predictions,
    score_slices,
)
from skstream.forgetting import (
    AdaptiveWindow,
    Cumulative,
    FadingFactor,
    SlidingWindow,
    TumblingWindow,
)
from skstream.model_selection import (
    ExpandingWindowSplit,
    FutureLeakWarning,
    OptimisticScoreWarning,
    PrequentialSearch,
    PrequentialSplit,
    SlidingWindowSplit,
    StaleLabelWarning,
    prequential_scorer,
)
from skstream.noise import LabelNoise
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from skstream.refit import PeriodicRefit
from skstream.reports._show_versions import show_versions
from skstream.streams import CSVStream, ParquetStream, as_stream, label_profile
from skstream.studies import (
    evaluate_over_seeds,
    evaluate_over_streams,
    recovery_after_drift,
)
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from skstream.utils._version import __version__ as __version__

__all__ = [
    "AdaptiveWindow",
    "CSVStream",
    "Cumulative",
    "DelayedEvaluator",
    "DriftMonitor",
    "DriftReset",
    "DynamicWeightedMajority",
    "EvaluationInterrupted",
    "EvaluationResult",
    "ExpandingWindowSplit",
    "FadingFactor",
    "FutureLeakWarning",
    "HoldoutEvaluator",
    "KFoldEvaluator",
    "LabelNoise",
    "MajorityClass",
    "MajorityWindow",
    "MeanRegressor",
    "ModelError",
    "OnlineBagging",
    "OnlineConformalRegressor",
    "OptimisticScoreWarning",
    "ParquetStream",
    "PeriodicRefit",
    "Persistent",
    "PersistentRegressor",
    "Polling",
    "PredictionLog",
    "PrequentialCalibrator",
    "PrequentialEvaluator",
    "PrequentialSearch",
    "PrequentialSplit",
    "RandomClass",
    "RunOptions",
    "SlidingWindow",
    "SlidingWindowSplit",
    "StaleLabelWarning",
    "StreamPipeline",
    "TemporalCorrection",
    "TemporallyAugmented",
    "TumblingWindow",
    "as_stream",
    "class_report",
    "detect",
    "estimate_unlabelled",
    "evaluate_over_seeds",
    "evaluate_over_streams",
    "interval_scores",
    "label_profile",
    "load",
    "load_run",
    "make_stream_pipeline",
    "prequential_predict",
    "prequential_scorer",
    "recovery_after_drift",
    "score_predictions",
    "score_slices",
    "show_versions",
]
