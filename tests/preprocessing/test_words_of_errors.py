"""Python's own errors about arguments name the transformer that was called."""

import pytest

from skstream.preprocessing import (
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
)


@pytest.mark.parametrize(
    "kind",
    [DatetimeFeatures, LagFeatures, RollingFeatures, StreamOneHotEncoder, StreamOrdinalEncoder],
)
def test_arguments_that_it_does_not_take(kind: type) -> None:
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.partial_fit\(\) got an unexpected"):
        kind().partial_fit([[1.0]], sample_weight=[1.0])  # type: ignore[attr-defined]


def test_of_a_subclass() -> None:
    class Mine(LagFeatures):
        pass

    with pytest.raises(TypeError, match=r"Mine\.partial_fit\(\)"):
        Mine().partial_fit([[1.0]], sample_weight=[1.0])
    assert Mine(lags=[1]).partial_fit([[1.0]]).transform([[2.0]]).tolist() == [[1.0]]
