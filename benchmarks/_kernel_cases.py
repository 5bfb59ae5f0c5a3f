"""The work of `bench_kernels`: rows, models, their twins in other libraries, and targets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from benchmarks._peers import river_linear, river_naive_bayes
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.pipeline import make_stream_pipeline

N_HASHED = 2**18
Rows = tuple[Any, np.ndarray]
Target = float | None


def scored_rows(n: int, n_features: int, n_classes: int) -> Rows:
    """The first feature says something of the class, or of the target where there are none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    score = X[:, 0] + rng.normal(size=n)
    if n_classes == 0:
        return X, score
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def single_rows(n: int, n_features: int, n_classes: int) -> Rows:
    """The rows of `scored_rows` in float32."""
    X, y = scored_rows(n, n_features, n_classes)
    return X.astype(np.float32), y


def gaussian_rows(n: int, n_features: int, n_classes: int) -> Rows:
    """Every class around a centre of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    means = rng.normal(size=(n_classes, n_features)) / 2
    return rng.normal(size=(n, n_features)) + means[y], y


def counted_rows(n: int, n_features: int, n_classes: int) -> Rows:
    """Counts, at other rates in every class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    rates = rng.gamma(0.5, size=(n_classes, n_features))
    return rng.poisson(rates[y]).astype(np.float64), y


def hashed_texts(n: int, n_features: int = N_HASHED, n_classes: int = 2) -> Rows:
    """About 50 distinct words a row of a Zipfian vocabulary, some telling of the class."""
    rng = np.random.default_rng(0)
    n_words = 55
    y = rng.integers(0, n_classes, n)
    word = rng.zipf(1.15, size=(n, n_words)) % 1_000_003
    word[:, :5] = rng.integers(0, 500, size=(n, 5)) * n_classes + y[:, None]
    column = (word * 2_654_435_761 % 2**32) % n_features
    row = np.repeat(np.arange(n), n_words)
    X = sparse.csr_array((np.ones(n * n_words), (row, column.ravel())), shape=(n, n_features))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


@dataclass(frozen=True)
class Case:
    """One line of the table.

    Attributes
    ----------
    group : {"linear", "scaled", "bayes", "text"}
    work : str
    estimator : estimator
    make_rows : callable
        ``make_rows(n, n_features, n_classes)``.
    n_features, n_classes : int
        0 classes: regression.
    river : callable or None
        Makes River's model of the kind.
    moa : str or None
        MOA's learner of the kind.
    has_generator : bool
        Whether MOA has a generator of such rows.
    target : float or None
        Rows per second to reach with numba.
    share : float
        Share of ``--rows`` that the fastest run reads.
    """

    group: str
    work: str
    estimator: Any
    make_rows: Callable[[int, int, int], Rows]
    n_features: int
    n_classes: int
    river: Callable[[], Any] | None = None
    moa: str | None = None
    has_generator: bool = False
    target: Target = None
    share: float = 1.0


def cases_of_the_table() -> list[Case]:
    """What there are targets for."""
    sgd = SGDClassifier(loss="log_loss")
    gaussian, incremental = GaussianNB(), IncrementalGaussianNB()
    return [
        _linear_case("SGD, log loss, 10 features, 2 classes", 10, 2, 15e6),
        _linear_case("SGD, log loss, 54 features, 2 classes", 54, 2, 8e6),
        _linear_case("SGD, log loss, 54 features, 7 classes", 54, 7, 1.5e6),
        Case(
            group="scaled",
            work="StandardScaler and SGD, 10 features, 2 classes",
            estimator=make_stream_pipeline(StandardScaler(), sgd),
            make_rows=scored_rows,
            n_features=10,
            n_classes=2,
            river=river_linear(scaled=True),
            target=6e6,
        ),
        _counts_case("MultinomialNB", MultinomialNB(), 1e6),
        _gaussian_case(gaussian, 10, 2, 4e6),
        _gaussian_case(incremental, 10, 2, 4e6),
        _gaussian_case(gaussian, 54, 7, 700e3),
        _gaussian_case(incremental, 54, 7, 700e3),
        _text_case("MultinomialNB", MultinomialNB(), 600e3),
        replace(_text_case("SGD, log loss", sgd, 35e3), river=river_linear(), share=0.1),
    ]


def further_cases() -> list[Case]:
    """Their relatives."""
    sgd = SGDClassifier(loss="log_loss")
    scaled = cases_of_the_table()[3]
    return [
        Case(
            group="linear",
            work="SGDRegressor, 10 features",
            estimator=SGDRegressor(),
            make_rows=scored_rows,
            n_features=10,
            n_classes=0,
            river=river_linear(0),
        ),
        *(
            replace(
                scaled,
                work=f"{type(scaler).__name__} and SGD, 10 features, 2 classes",
                estimator=make_stream_pipeline(scaler, sgd),
                river=None,
                target=None,
            )
            for scaler in (MinMaxScaler(), MaxAbsScaler())
        ),
        Case(
            group="linear",
            work="SGD, log loss, 10 features in float32, 2 classes",
            estimator=sgd,
            make_rows=single_rows,
            n_features=10,
            n_classes=2,
        ),
        _counts_case("BernoulliNB", BernoulliNB()),
        _counts_case("ComplementNB", ComplementNB()),
        _text_case("BernoulliNB", BernoulliNB()),
        _text_case("ComplementNB", ComplementNB()),
    ]


def _linear_case(work: str, n_features: int, n_classes: int, target: Target) -> Case:
    return Case(
        group="linear",
        work=work,
        estimator=SGDClassifier(loss="log_loss"),
        make_rows=scored_rows,
        n_features=n_features,
        n_classes=n_classes,
        river=river_linear(n_classes),
        moa="functions.SGD" if n_classes == 2 else "functions.SGDMultiClass",
        has_generator=True,
        target=target,
        share=1.0 if n_classes == 2 else 0.25,
    )


def _gaussian_case(model: GaussianNB, n_features: int, n_classes: int, target: Target) -> Case:
    return Case(
        group="bayes",
        work=f"{type(model).__name__}, {n_features} features, {n_classes} classes",
        estimator=model,
        make_rows=gaussian_rows,
        n_features=n_features,
        n_classes=n_classes,
        river=river_naive_bayes("GaussianNB"),
        moa="bayes.NaiveBayes",
        has_generator=True,
        target=target,
        share=1.0 if n_classes == 2 else 0.25,
    )


def _counts_case(name: str, model: Any, target: Target = None) -> Case:
    return Case(
        group="bayes",
        work=f"{name}, 50 features, 3 classes",
        estimator=model,
        make_rows=counted_rows,
        n_features=50,
        n_classes=3,
        river=river_naive_bayes(name),
        moa="bayes.NaiveBayesMultinomial" if name == "MultinomialNB" else None,
        target=target,
    )


def _text_case(name: str, model: Any, target: Target = None) -> Case:
    return Case(
        group="text",
        work=f"{name}, hashed text, 2^18 features, 2 classes",
        estimator=model,
        make_rows=hashed_texts,
        n_features=N_HASHED,
        n_classes=2,
        river=river_naive_bayes(name) if name == "MultinomialNB" else None,
        target=target,
        share=0.25,
    )
