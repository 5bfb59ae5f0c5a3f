"""Laws of every generator that the package exports, found by introspection."""

import hashlib
import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skstream.streams
from skstream.streams import SEA, Agrawal, GaussianMixtureStream, GeneratedStream
from skstream.streams._generators._components import Component, Phase
from tests._examples import examples

N_ROWS = 60
# First 16 digits of the SHA-256 of the rows of a stream of 60 rows: the same on every platform.
GOLDEN = {
    "Agrawal": "dc9c6065d9d07ee8",
    "GaussianMixtureStream": "540f9cd7f4e584fe",
    "LED": "8512ff6269a0e98b",
    "MarkovLabels": "85cf5a65cc12518d",
    "RandomRBF": "d5dff735d8fc9ede",
    "RandomTree": "3624173d5b8c4da3",
    "RotatingHyperplane": "5c3ab9d49e9e095d",
    "SEA": "46774fcb419dc8b6",
    "STAGGER": "c07e4c6c82037226",
    "Sine": "40e57d2efb8d2c34",
    "Waveform": "ef866c68b7206c64",
}

# Parameters of those that need some.
NEEDED = {
    GaussianMixtureStream: {
        "components": [
            Component(
                "A",
                1,
                (0, 0, 0),
                (2.5, 1, 1),
                45,
                phases=[
                    Phase(0, 20, move=(9, 9, 0), scale=2, rotate=60, plane=(1, 2)),
                    Phase(20, 50, orbit=200),
                ],
            ),
            Component("B", 0, (5, 0, 1), (2.5, 1, 2), start=3, phases=[Phase(0, 9, weight=1)]),
        ]
    }
}

KINDS = [
    kind
    for name in skstream.streams.__all__
    if inspect.isclass(kind := getattr(skstream.streams, name))
    and issubclass(kind, GeneratedStream)
    and kind is not GeneratedStream
]
every_generator = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def made(kind, n_rows=N_ROWS, **options):
    return kind(n_rows=n_rows, **NEEDED.get(kind, {}), **options)


def joined(stream):
    chunks = list(stream)
    return np.concatenate([X for X, _, _ in chunks]), np.concatenate([y for _, y, _ in chunks])


def same(one, other) -> bool:
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, other, strict=True))


class FromTheFirstRowOn(SEA):
    """Broken: the numbers of a block begin with those of row 0."""

    def block(self, start, stop):
        return super().block(0, stop - start)


def cuts_change_nothing(kind, chunk_size, start, stop) -> bool:
    whole = made(kind, chunk_size=N_ROWS)
    X, y = joined(whole)
    pieces = made(kind, chunk_size=chunk_size)
    return same(joined(pieces), (X, y)) and same(
        pieces.rows(start, stop), (X[start:stop], y[start:stop])
    )


@every_generator
@examples(15)
@given(chunk_size=st.integers(1, N_ROWS), rows=st.tuples(*[st.integers(0, N_ROWS)] * 2))
def test_cuts_change_no_row(kind, chunk_size, rows):
    assert cuts_change_nothing(kind, chunk_size, *sorted(rows))


def test_numbers_that_hang_on_the_cut_are_caught():
    assert not cuts_change_nothing(FromTheFirstRowOn, 7, 3, 9)


@every_generator
def test_rows_hang_on_the_seed_alone(kind):
    rows = made(kind).rows(0, N_ROWS)
    stream = made(kind, np.int64(N_ROWS), random_state=np.int64(0))
    assert type(stream.n_rows) is type(stream.random_state) is int  # as folders compare them
    assert same(pickle.loads(pickle.dumps(stream)).rows(0, N_ROWS), rows)
    assert not same(made(kind, random_state=1).rows(0, N_ROWS), rows)
    assert set(np.unique(rows[1])) <= set(stream.classes)
    assert len(stream.feature_names) == rows[0].shape[1]


@pytest.mark.parametrize("kind", [SEA, Agrawal], ids=["SEA", "Agrawal"])
def test_long_blocks_are_made_in_pieces(kind):
    rows = kind(30_000).rows(5, 20_000)
    assert same([part[9_995:10_010] for part in rows], kind(30_000).rows(10_000, 10_015))
    assert len(rows[0]) == len(rows[1]) == 19_995


@every_generator
def test_golden_values(kind):
    X, y = made(kind).rows(0, N_ROWS)
    # The last digits of a logarithm hang on the platform.
    text = repr((np.round(X, 9).tolist(), y.tolist()))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == GOLDEN[kind.__name__]


@every_generator
@pytest.mark.parametrize("bad", [{"n_rows": 0}, {"random_state": None}, {"chunk_size": 0}])
def test_bad_input(kind, bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be an integer"):
        made(kind, **bad)
    with pytest.raises(ValueError, match=r"0 <= start <= stop <= 60. Got start=3, stop=61"):
        made(kind).rows(3, 61)
