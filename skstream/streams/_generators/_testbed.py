"""The nine streams of Cervantes et al., which test one ability each."""

from dataclasses import replace
from numbers import Integral

from skstream.streams._generators._components import Component, Phase
from skstream.streams._generators._mixture import GaussianMixtureStream
from skstream.utils._choices import check_choice, check_number
from skstream.utils._seeds import derive_seed

Pair = tuple[float, float]
_SPREAD = (2.5, 1.0)


def _side_by_side(*phases: Phase) -> list[Component]:
    """Two Gaussians that move together."""
    return [
        Component("A", 1, (0, 0), _SPREAD, 45, phases=phases),
        Component("B", 1, (5, 0), _SPREAD, -45, phases=phases),
    ]


def _at_three_places(left: Pair, right: Pair, start: int, end: int) -> list[Component]:
    """Class A at two places whose weights change, each from one to another, and class B."""
    places = zip((-2, 2), (45, -45), (left, right), strict=True)
    return [
        *(
            Component(
                "A", before, (x, 0), _SPREAD, degrees, phases=[Phase(start, end, weight=after)]
            )
            for x, degrees, (before, after) in places
        ),
        Component("B", 0.5, (0, 3.5), (1, 1)),
    ]


_WHOLE = (0, 9999)
_ROUND = [Phase(*_WHOLE, orbit=360)]
_ALONG_FIVE_AXES = [Phase(*_WHOLE, move=[6.3] * 5)]
TESTBED: dict[str, list[Component]] = {
    "NSGT": _side_by_side(Phase(*_WHOLE, move=(10, 10))),
    "NSGT-F": _side_by_side(Phase(*_WHOLE, move=(30, 30))),
    "NSGR": [
        Component("A", 1, (10, 0), (2, 5), 45, phases=_ROUND),
        Component("B", 1, (-10, 0), (2, 5), 45, phases=_ROUND),
    ],
    "NSLC": [
        Component("A", 1, (-2, 2), _SPREAD, 45, phases=[Phase(*_WHOLE, move=(0, -4))]),
        Component("B", 1, (2, -2), _SPREAD, -45, phases=[Phase(*_WHOLE, move=(0, 4))]),
    ],
    "NSGT-I": _side_by_side(
        Phase(0, 4999, move=(10, 10)),
        Phase(5000, 5000, move=(-10, -10)),
        Phase(5001, 10000, move=(10, 10)),
    ),
    "NSPC": _at_three_places((0.05, 0.45), (0.45, 0.05), 500, 9499),
    "NSPC-A": _at_three_places((0, 0.5), (0.5, 0), 5000, 5000),
    "NSGT-5D": [
        Component("A", 1, [0] * 5, [1] * 5, phases=_ALONG_FIVE_AXES),
        Component("B", 1, [3.15, 0, 0, 0, 0], [1] * 5, phases=_ALONG_FIVE_AXES),
    ],
    "NSCX": [
        Component(
            "A",
            0.65,
            (0, 0),
            _SPREAD,
            30,
            phases=[
                Phase(0, 4999, move=(5, 5), rotate=90, scale=2),
                Phase(5000, 9999, move=(5, 5), weight=1),
            ],
        ),
        Component("A", 0.35, (0, -4), (0.6, 2)),
        Component(
            "B",
            0,
            (-2, 3),
            (1.5, 0.5),
            phases=[
                Phase(0, 499, weight=0.2),
                Phase(500, 1999, move=(3, -4), rotate=30, weight=0.5),
                Phase(2000, 4499, move=(4, -1), rotate=30, weight=0.8),
                Phase(4500, 9999, move=(6, 5), rotate=30, weight=1),
            ],
        ),
    ],
}


def load_testbed(
    name: str, *, random_state: int = 0, speed: float = 1.0, n_rows: int | None = 10_001
) -> GaussianMixtureStream:
    """Make one of nine streams with known Bayes error, each of which tests one ability.

    Parameters
    ----------
    name : str
        One of the names below.
    random_state : int, default=0
        Seed. The same name and seed give the same rows; streams of different names draw different
        numbers, including their labels.
    speed : float, default=1.0
        How fast the stream changes: with 2 it has changed by row 5,000 as much as otherwise by row
        10,000, and then stays constant.
    n_rows : int or None, default=10_001
        Number of rows; None for an endless stream. Rows after the change are drawn from the final
        state; ``speed=10_001 / n_rows`` spreads the change over all of them.

    Returns
    -------
    GaussianMixtureStream
        Two classes, "A" and "B"; five features for "NSGT-5D", two for the others.

    Raises
    ------
    ValueError
        If there is no stream of this name.

    Notes
    -----
    ======== ====================================================================== ===========
    name     what changes                                                           Bayes error
    ======== ====================================================================== ===========
    NSGT     both classes move together until each is where the other one was       2.94 %
    NSGT-F   the same, three times as far                                           2.94 %
    NSGR     both classes circle around the origin, once                            0.00 %
    NSLC     the classes pass each other: a change that differs by place            4.03 %
    NSGT-I   NSGT at twice the speed, twice: what was learnt once is useful again   2.94 %
    NSPC     class A moves from one place to another by its priors alone            5.86 %
    NSPC-A   the same at once, at row 5,000: a place that was never seen before     5.41 %
    NSGT-5D  NSGT in five dimensions                                                5.76 %
    NSCX     a third component appears and passes between the others                4.15 %
    ======== ====================================================================== ===========

    The paper's table of parameters has three errors. Its standard deviations are variances: with
    these the Bayes errors are those that it reports. The centers of NSLC are not given, and the
    path of B in NSCX contradicts the text; both were chosen to reproduce the errors of all models
    that the paper reports.

    References
    ----------
    Cervantes, A., Gagné, C., Isasi, P. and Parizeau, M. Evaluating and characterizing incremental
    learning from non-stationary data. Section 4 and Table 4.

    Examples
    --------
    >>> from skstream.streams import load_testbed
    >>> stream = load_testbed("NSPC-A")
    >>> stream
    GaussianMixtureStream(10,001 rows)
    >>> stream.drifts
    (Drift(start=5000, end=5000),)
    >>> round(stream.bayes_error(), 3)
    0.054
    """
    check_choice(name, "name", list(TESTBED))
    speed = check_number(speed, "speed", above=0)
    components = [_at_speed(component, speed) for component in TESTBED[name]]
    seed = random_state
    if isinstance(seed, Integral):  # the stream refuses others
        seed = derive_seed(int(seed), "testbed", name)
    return GaussianMixtureStream(components, n_rows, random_state=seed)


def _at_speed(component: Component, speed: float) -> Component:
    phases = [
        replace(phase, start=round(phase.start / speed), end=round(phase.end / speed))
        for phase in component.phases
    ]
    return replace(component, phases=phases)
