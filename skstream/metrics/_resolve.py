"""From what a user names to measures."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from skstream.metrics._class_means import (
    arithmetic_accuracy_score,
    cmd_score,
    geometric_accuracy_score,
    harmonic_accuracy_score,
)
from skstream.metrics._columns import Array
from skstream.metrics._kappas import (
    kappa_m_score,
    kappa_plus_score,
    kappa_score,
    kappa_temporal_score,
)
from skstream.metrics._registry import (
    CLASSIFICATION,
    DEFAULT_CLASSIFICATION,
    DEFAULT_REGRESSION,
    MAJORITIES,
    OF_CLASS,
    REGRESSION,
    Measure,
    check_classes,
    class_measure,
)
from skstream.metrics._regression import persistent_skill_score
from skstream.utils._labels import as_labels

#: Our functions, which need no tape because there is a running form of them.
_FUNCTIONS: dict[Callable[..., Any], str] = {
    kappa_score: "kappa",
    kappa_m_score: "kappa_m",
    kappa_temporal_score: "kappa_temporal",
    kappa_plus_score: "kappa_plus",
    arithmetic_accuracy_score: "arithmetic_accuracy",
    geometric_accuracy_score: "geometric_accuracy",
    harmonic_accuracy_score: "harmonic_accuracy",
    cmd_score: "cmd",
    persistent_skill_score: "persistent_skill",
}


def resolve_metrics(metrics: Any, *, classes: ArrayLike | None) -> dict[str, Measure]:
    """Measures by name, from whatever names them.

    Parameters
    ----------
    metrics : None, str, callable, Measure, list or dict
        A name such as ``"kappa"`` or, for one class, ``"f1:UP"``; a function
        ``f(y_true, y_pred)`` in the style of scikit-learn; a ``functools.partial`` of one; a
        list of these, or a dict that gives them names. Functions of `skstream.metrics` and
        partials of them run as fast as the names. None: accuracy, kappa, kappa_m,
        kappa_temporal and kappa_plus; in regression mae, rmse and r2.
    classes : array-like of shape (n_classes,), or None
        Sorted labels; None for regression.

    Returns
    -------
    dict of str to Measure
        In the given order.

    Raises
    ------
    ValueError
        If a name is unknown (the known are listed) or given twice, if cmd is wanted of more
        than two classes, or if a partial sets what an evaluation finds by itself.
    TypeError
        If something else was given.

    Examples
    --------
    >>> from functools import partial
    >>> from skstream.metrics import kappa_m_score, resolve_metrics
    >>> list(resolve_metrics(None, classes=["DOWN", "UP"]))
    ['accuracy', 'kappa', 'kappa_m', 'kappa_temporal', 'kappa_plus']
    >>> finished_table = partial(kappa_m_score, majority="hindsight")
    >>> list(resolve_metrics({"table": finished_table, "up": "f1:UP"}, classes=["DOWN", "UP"]))
    ['table', 'up']
    """
    labels = None if classes is None else as_labels(classes)
    if metrics is None:
        metrics = list(DEFAULT_REGRESSION if labels is None else DEFAULT_CLASSIFICATION)
    if isinstance(metrics, Mapping):
        named = {str(name): _resolve(item, labels) for name, item in metrics.items()}
    else:
        alone = isinstance(metrics, (str, Measure)) or callable(metrics)
        items = [metrics] if alone else _listed(metrics)
        measures = [_resolve(item, labels) for item in items]
        named = {measure.name: measure for measure in measures}
        if len(named) < len(measures):
            names = [measure.name for measure in measures]
            raise ValueError(
                f"A measure was given twice: {names}. Give them names of their own: a dict."
            )
    if not named:
        raise ValueError("No measure was given; pass None for the standard ones.")
    return named


def _listed(metrics: Any) -> list[Any]:
    if isinstance(metrics, Iterable):
        return list(metrics)
    raise TypeError(
        "metrics must be None, a name, a function, or a list or dict of them. "
        f"Got {metrics!r} of type {type(metrics).__name__} instead."
    )


def _resolve(item: Any, classes: Array | None) -> Measure:
    if isinstance(item, Measure):
        return item
    if isinstance(item, str):
        return _by_name(item, classes)
    if isinstance(item, partial) and item.func in _FUNCTIONS:
        return _partial_of_ours(item, classes)
    if not callable(item):
        raise TypeError(
            "A measure must be a name or a function f(y_true, y_pred). "
            f"Got {item!r} of type {type(item).__name__} instead."
        )
    if item in _FUNCTIONS:
        return _by_name(_FUNCTIONS[item], classes)
    return Measure(item)


def _by_name(name: str, classes: Array | None) -> Measure:
    known = REGRESSION if classes is None else CLASSIFICATION
    if name in known:
        return known[name] if classes is None else check_classes(known[name], len(classes))
    kind, colon, label = name.partition(":")
    if classes is not None and colon and kind in OF_CLASS:
        return _by_label(name, kind, label, classes)
    raise ValueError(_unknown(name, list(known), classes))


def _by_label(name: str, kind: str, label: str, classes: Array) -> Measure:
    labels = [str(known) for known in classes.tolist()]
    if label not in labels:
        shown = ", ".join(repr(known) for known in labels[:20])
        more = f", ... ({len(labels)} classes)" if len(labels) > 20 else ""
        raise ValueError(f"Measure {name!r} names no class. The classes are {shown}{more}.")
    return class_measure(kind, label, labels.index(label))


def _unknown(name: str, known: list[str], classes: Array | None) -> str:
    per_class = [] if classes is None else [f"{kind}:{classes[-1]}" for kind in OF_CLASS]
    other = CLASSIFICATION if classes is None else REGRESSION
    near = difflib.get_close_matches(name, known + per_class, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if name in other:
        kind = "classification" if classes is None else "regression"
        hint = f" It is a measure of {kind}."
    of_class = f", and for every class {', '.join(per_class)}" if per_class else ""
    return f"Unknown measure {name!r}.{hint} Known are {', '.join(known)}{of_class}."


def _partial_of_ours(item: "partial[Any]", classes: Array | None) -> Measure:
    name = _FUNCTIONS[item.func]
    options = dict(item.keywords)
    choice = options.pop("majority", "past") if name == "kappa_m" else "past"
    if item.args or options:
        raise ValueError(
            f"A partial of {item.func.__name__} as a measure may set 'majority' alone, where the "
            f"function has it. Got {item.args or ''}{options or ''}. Weights and what precedes "
            "the first row are known to the evaluation; pass a plain function to set them."
        )
    if choice not in MAJORITIES:
        raise ValueError(
            f"The 'majority' parameter of kappa_m_score must be a str among {set(MAJORITIES)}. "
            f"Got {choice!r} instead."
        )
    measure = _by_name(name, classes)
    return MAJORITIES[choice] if name == "kappa_m" else measure
