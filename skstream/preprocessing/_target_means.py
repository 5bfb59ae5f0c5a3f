"""Sums of the targets of each category, at each moment of a block."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.preprocessing._categories import UNKNOWN, MixedTypes, Numbering, encode
from skstream.utils._running_sums import Floats, Groups, Integers, running_sums
from skstream.utils._values import Factorized

EVERY_CATEGORY = Numbering(limit=None)


class Memory(NamedTuple):
    """What has been learnt. Sums stand behind the sum of the weights: 1 + n_targets of them.

    Attributes
    ----------
    codes : list of dict
        For each column the places of its categories.
    sums : list of ndarray of shape (n_categories, 1 + n_targets)
        For each column the sums of each category.
    total : ndarray of shape (1 + n_targets,)
        Sums of all rows.
    """

    codes: list[dict[Any, int]]
    sums: list[Floats]
    total: Floats


class Seen(NamedTuple):
    """Sums that some rows find, each at its moment.

    Attributes
    ----------
    sums : ndarray of shape (n_rows, n_columns, 1 + n_targets)
        Of the category of each column.
    total : ndarray of shape (n_rows, 1 + n_targets)
        Of all rows before.
    """

    sums: Floats
    total: Floats


def nothing_learnt(n_columns: int, n_targets: int) -> Memory:
    """Memory before the first row."""
    return Memory(
        [{} for _ in range(n_columns)],
        [np.zeros((0, 1 + n_targets)) for _ in range(n_columns)],
        np.zeros(1 + n_targets),
    )


def learn(
    memory: Memory,
    columns: Sequence[Factorized],
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
    steps: Floats,
) -> tuple[Memory, Seen, Seen]:
    """Learn rows one after the other; tell what each finds before it is learnt, or asked.

    Parameters
    ----------
    memory : Memory
        What has been learnt before; not changed.
    columns : sequence of Factorized
        Values of the rows.
    learnt, asked : ndarray of shape (n_learns,), (n_asks,)
        Which rows are learnt, and which are asked.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each ask; it does not decrease.
    steps : ndarray of shape (n_learns, 1 + n_targets)
        Weight of each row learnt, and its targets times the weight.

    Returns
    -------
    after : Memory
        What is known after all rows.
    of_learnt, of_asked : Seen
        What they find.
    """
    n_learns, n_sums = steps.shape
    learns = np.arange(n_learns) + np.searchsorted(stamp, np.arange(n_learns), side="right")
    asks = np.arange(len(stamp)) + stamp
    values = np.zeros((n_sums, n_learns + len(stamp)))  # an ask adds 0, which changes no sum
    values[:, learns] = steps.T
    found = np.empty((n_learns + len(stamp), len(columns), n_sums))
    codes, sums = [], []
    for place, (column, known, before) in enumerate(
        zip(columns, memory.codes, memory.sums, strict=True)
    ):
        try:
            encoded = encode(known, column, learnt, asked, stamp, EVERY_CATEGORY)
        except MixedTypes as error:
            error.column = place
            raise
        table = np.zeros((1 + len(encoded.known), n_sums))  # the first row: unknown ones
        table[1 : 1 + len(before)] = before
        at = np.empty(len(found), dtype=np.int64)
        at[learns], at[asks] = encoded.learnt, encoded.asked
        groups = Groups(at - UNKNOWN)
        for number in range(n_sums):
            found[:, place, number], table[groups.columns, number] = groups.running(
                table[groups.columns, number], values[number]
            )
        codes.append(encoded.known)
        sums.append(table[1:])
    totals = running_sums(memory.total, steps)
    after = Memory(codes, sums, totals[-1].copy())
    return after, Seen(found[learns], totals[:-1]), Seen(found[asks], totals[stamp])


def encoded(seen: Seen, smooth: float, start: float) -> NDArray[np.float64]:
    """Smoothed means of rows, of shape (n_rows, n_columns * n_targets)."""
    weight, sums = seen.total[:, :1], seen.total[:, 1:]
    prior = np.full(sums.shape, start)
    np.divide(sums, weight, out=prior, where=weight > 0.0)
    prior = prior[:, np.newaxis, :]
    weight = seen.sums[..., :1] + smooth
    means = np.repeat(prior, seen.sums.shape[1], axis=1)
    np.divide(seen.sums[..., 1:] + smooth * prior, weight, out=means, where=weight > 0.0)
    return means.reshape(len(means), means.shape[1] * means.shape[2])
