"""What the models of the command line are called."""

from collections.abc import Callable
from typing import Any

from skstream.pipeline import make_stream_pipeline

#: Short names of models; the parameters a user gives come on top of these.
MODELS: dict[str, str | Callable[..., Any]] = {
    "augmented": "skstream.temporal:TemporallyAugmented('sgd')",
    "corrected": "skstream.temporal:TemporalCorrection('nb')",
    "knn": "skstream.neighbors:WindowedKNeighborsClassifier",
    "majority": "skstream.baselines:MajorityClass",
    "majority-window": "skstream.baselines:MajorityWindow",
    "mean": "skstream.baselines:MeanRegressor",
    "nb": "skstream.naive_bayes:IncrementalGaussianNB",
    "perceptron": "sklearn.linear_model:Perceptron",
    "persistent": "skstream.baselines:Persistent",
    "persistent-regressor": "skstream.baselines:PersistentRegressor",
    "pipeline": make_stream_pipeline,
    "random": "skstream.baselines:RandomClass",
    "scaled-sgd": "pipeline('scaler', 'sgd')",
    "scaler": "sklearn.preprocessing:StandardScaler",
    "sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')",
    "sgd-regressor": "sklearn.linear_model:SGDRegressor",
}
CLASSIFIER_BASELINES = ("persistent", "majority")
REGRESSOR_BASELINES = ("persistent-regressor", "mean")
