"""What the examples evaluate can be verified from its file."""

import runpy
import sys

import pytest

from skstream import load
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.evaluation import verify
from tests.test_examples import ELSEWHERE, EXAMPLES, OPTIONS

#: Results of each example that are verified: it is evaluated again.
MOST = 1


@pytest.mark.parametrize(
    "example",
    [path for path in EXAMPLES if path.stem not in ELSEWHERE],
    ids=lambda path: path.stem,
)
def test_results_of_examples_are_verified_from_their_files(example, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="examples draw pictures")
    pytest.importorskip("pyarrow", reason="examples read Parquet files")
    found = []
    evaluate = StreamEvaluator._evaluate

    def verified(self, models, stream, classes):
        result = evaluate(self, models, stream, classes)
        if len(found) < MOST:
            path = result.save(tmp_path / f"{len(found)}.npz")
            with monkeypatch.context() as patch:
                patch.setattr(StreamEvaluator, "_evaluate", evaluate)
                found.append(verify(load(path), models, stream, evaluator=self))
        return result

    monkeypatch.setattr(StreamEvaluator, "_evaluate", verified)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example), *OPTIONS.get(example.stem, [])])
    runpy.run_path(str(example), run_name="__main__")
    assert found
    assert all(one.identical for one in found), found
