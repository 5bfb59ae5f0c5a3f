"""One table gives the same labels, groups and scores from every container and format of files."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream import PredictionLog, score_predictions, score_slices
from skstream.streams import ARFFStream, CSVStream, ParquetStream, as_stream
from skstream.utils._labels import is_missing, joined_classes
from tests._examples import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

Table = dict[str, list[Any]]
#: Whole numbers of which floats make one, and texts that stand for missing numbers.
WHOLE = [2**60, 2**60 + 1, -(2**53) - 1, 7]
TEXTS = ["EU", "NA", "N/A", "null", "nan", "a, b", "50%"]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Features, labels, answers that are labels, and groups; labels and groups may be missing."""
    n = draw(st.integers(2, 8))

    def column(values: list[Any], gaps: bool) -> list[Any]:
        some = st.sampled_from(values) | st.none() if gaps else st.sampled_from(values)
        return draw(st.lists(some, min_size=n, max_size=n))

    y = column(draw(st.sampled_from([WHOLE, TEXTS])), gaps=True)
    # Texts that all stand for missing numbers are no texts at first sight.
    y[0] = 2**60 if any(isinstance(one, int) for one in y) else "EU"
    groups = column(draw(st.sampled_from([WHOLE, TEXTS])), gaps=True)
    x = column([0.5, -1.25, 3.0], gaps=True)
    return {
        "x": x,
        "y": y,
        "said": column([one for one in y if one is not None], False),
        "g": groups,
    }


def write(folder: Path, table: Table) -> dict[str, str]:
    """Write a table as files of all formats; return their paths."""
    paths = {end: str(folder / f"rows.{end}") for end in ("csv", "parquet", "arff")}
    rows = list(zip(*table.values(), strict=True))
    with open(paths["csv"], "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([table, *rows])
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(table), paths["parquet"])
    lines = ["@relation rows"]
    for name, values in table.items():
        texts = sorted({one for one in values if isinstance(one, str)})
        kind = f"{{{','.join(map(repr, texts))}}}" if texts else "numeric"
        lines.append(f"@attribute {name} {kind} % which is {name}")
    lines.append("@data")
    lines += [",".join("?" if one is None else repr(one) for one in row) for row in rows]
    Path(paths["arff"]).write_text("\n".join(lines) + "\n")
    return paths


def containers(table: Table) -> dict[str, Any]:
    arrow = pa.table(table)
    masked = {
        name: np.ma.array([0 if one is None else one for one in values], mask=pd.isna(values))
        for name, values in table.items()
        if not any(isinstance(one, str) for one in values)
    }
    return {
        "objects": pd.DataFrame(
            {name: pd.Series(one, dtype=object) for name, one in table.items()}
        ),
        "nullable": pd.DataFrame(table | {k: pd.array(table[k]) for k in ("y", "said", "g")}),
        "of Arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "categories": pd.DataFrame({k: pd.Categorical(pd.array(one)) for k, one in table.items()}),
        "polars": pl.DataFrame(table),
        "table": arrow,
        "batch": arrow.to_batches()[0],
        "dict": table,
        "dict of Arrow": {name: arrow[name] for name in table},
        "masked": table | masked,
        "batches": lambda: iter(arrow.to_batches(max_chunksize=2)),
    }


def plain(values: Any) -> list[Any]:
    return [None if is_missing(one) else one for one in values]


@examples(25)
@given(table=tables())
def test_the_same_answers_through_every_door(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    paths = write(tmp_path_factory.getbasetemp(), table)
    y, said = table["y"], table["said"]
    known = [a == b for a, b in zip(y, said, strict=True) if a is not None]
    accuracy = sum(known) / len(known)
    result = score_predictions(y, said, metrics="accuracy")
    assert result.scores["model"]["accuracy"] == accuracy
    for door, source in {**containers(table), **paths}.items():
        log = PredictionLog(source, target="y", predictions="said")
        result = log.score("accuracy")
        assert (door, result.scores["said"]["accuracy"]) == (door, accuracy)
        assert (door, result.n_unlabelled) == (door, len(y) - len(known))
        assert (door, plain(log.column("g"))) == (door, table["g"])
    classes = sorted({one for one in y if one is not None})
    opened = [as_stream(source, target="y") for source in containers(table).values()]
    streams = {"csv": CSVStream, "parquet": ParquetStream, "arff": ARFFStream}
    opened += [streams[end](paths[end], "y", columns=["x"], chunk_size=2) for end in paths]
    for stream in opened:
        labels = [plain(part) for part in stream.labels()]
        assert [one for part in labels for one in part] == y
        if stream.classes is not None:
            assert stream.classes.tolist() == classes


def test_unsigned_numbers_and_decimals_are_labels(tmp_path: Path) -> None:
    values = [2**63 + 1, 2**63 + 2, None]
    said = [2**63 + 2, 2**63 + 1, 2**63 + 1]
    for kind in (pa.uint64(), pa.decimal128(20, 0)):
        table = pa.table({"y": pa.array(values, kind), "said": pa.array(said, kind)})
        paths = [tmp_path / "rows.csv", tmp_path / "rows.parquet"]
        pytest.importorskip("pyarrow.csv").write_csv(table, paths[0])
        pytest.importorskip("pyarrow.parquet").write_table(table, paths[1])
        for path in paths:
            result = PredictionLog(path, target="y", predictions="said").score("accuracy")
            assert (result.scores["said"]["accuracy"], result.n_unlabelled) == (0, 1)


@pytest.mark.parametrize("kind", ["list", "masked", "nullable", "polars", "Arrow", "mixed"])
def test_groups_of_large_numbers_stay_apart(kind: str) -> None:
    ids = [2**60, 2**60 + 1, None] * 3
    made: dict[str, Any] = {
        "list": ids,
        "masked": np.ma.array([one or 0 for one in ids], mask=[one is None for one in ids]),
        "nullable": pd.Series(ids, dtype="Int64"),
        "polars": pl.Series(ids),
        "Arrow": pa.array(ids),
        "mixed": [np.nan if one is None else one for one in ids],
    }
    result = score_predictions([1, 0, 1] * 3, [1, 1, 1] * 3, metrics="accuracy")
    found = score_slices(result, made[kind]).results
    accuracy = {name: one.scores["model"]["accuracy"] for name, one in found.items()}
    assert accuracy == {str(2**60): 1, str(2**60 + 1): 0, "missing": 1}


def test_labels_of_arrow_batches_are_one_kind() -> None:
    kept = [([2**60, None], [2**60, 7]), ([7, None], [7, 7])]
    columns = [{"y": pa.array(y, pa.int64()), "said": pa.array(said)} for y, said in kept]
    log = PredictionLog(
        lambda: map(pa.RecordBatch.from_pydict, columns), target="y", predictions="said"
    )
    result = log.score("accuracy")
    assert result.classes.tolist() == [7, 2**60]
    assert result.scores["said"]["accuracy"] == 1


def test_classes_of_integers_of_two_types_stay_whole() -> None:
    parts = [np.array([2**60, 2**60 + 1]), np.array([2**63 + 1], np.uint64), np.array([1.0])]
    assert joined_classes(parts).tolist() == [1, 2**60, 2**60 + 1, 2**63 + 1]
    result = score_predictions(np.array([2**60, 5]), [2.0**60, 5.0], metrics="accuracy")
    assert result.scores["model"]["accuracy"] == 1
    other = score_predictions(np.array([2**60 + 1, 5]), [2.0**60, 5.0], metrics="accuracy")
    assert other.scores["model"]["accuracy"] == 0.5
