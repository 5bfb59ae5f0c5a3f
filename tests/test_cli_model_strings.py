import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron
from sklearn.pipeline import make_pipeline

from skstream.cli._from_text import ModelStringError, make_model, parse_model_string
from tests._examples import examples

KNOWN = {
    "sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')",
    "scaler": "sklearn.preprocessing:StandardScaler",
    "pipeline": make_pipeline,
    "scaled-sgd": "pipeline('scaler', 'sgd')",
}

literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@examples(25)
@given(parameters=st.dictionaries(st.sampled_from("abcdef"), literals, max_size=3))
def test_any_literal_parameter_arrives_unchanged(parameters: dict[str, object]) -> None:
    written = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    parts = parse_model_string(f"some.module:Class({written})")
    assert (parts.target, parts.models) == ("some.module:Class", ())
    assert parts.parameters == parameters


def test_short_name_and_module() -> None:
    assert make_model("sgd", KNOWN).loss == "log_loss"
    assert make_model(" sgd() ", KNOWN).loss == "log_loss"
    model = make_model("sklearn.linear_model:Perceptron(alpha=0.5, penalty='l2')", KNOWN)
    assert isinstance(model, Perceptron)
    assert (model.alpha, model.penalty) == (0.5, "l2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        ("sgd(", "cannot be read"),
        ("sgd)", "cannot be read"),
        ("sgd(alpha=1", "cannot be read"),
        ("sgd(alpha=1)(beta=2)", "cannot be read"),
        ("sgd(alpha=)", "cannot be read"),
        ("sgd(alpha=1) # note", "cannot be read"),
        ("sgd; import os", "cannot be read"),
        ("sgd(alpha=1)\nsgd(alpha=2)", "cannot be read"),
        ("a:b:c", "cannot be read"),
        ("sgd(alpha=1, alpha=2)", "gives a parameter twice"),
        ("sgd(**{'alpha': 1})", "unpacks"),
        ("sgd(*'a')", "positional argument"),
        ("sgd(0.1)", r"positional argument 0\.1"),
        # CPython's parser reports the depth of its stack in several ways.
        (f"sgd(alpha={'-' * 20_000}1)", "cannot be read .they are nested too deeply"),
        (f"sgd({'(' * 20_000}{')' * 20_000})", r"'sgd\(\(+'\.\.\. cannot be read"),
        ("sgd(alpha=1 + 1j * x)", "not a literal"),
        ("sgd(alpha=open('x'))", "not a literal"),
        ("sgd(alpha=[x for x in (1,)])", "not a literal"),
        ("sgd(alpha=(lambda: 1)())", "not a literal"),
        ("sgd(alpha=f'{1}')", "not a literal"),
        ("sdg", "Did you mean 'sgd'.*short names are pipeline, scaled-sgd, scaler, sgd"),
        ("sklearn.linear_model.SGDClassifier", "Did you mean 'sklearn.linear_model:SGDClassifier'"),
        ("sgd(alhpa=1)", "'alhpa'.*SGDClassifier takes loss, penalty, alpha"),
        ("pipeline('scaler', 'unknown')", "'unknown' is not known"),
        ("no_such_module:Model", "cannot be imported: No module named 'no_such_module'"),
        (
            "sklearn.linear_model:SGDClasifier",
            "linear_model has no .* Did you mean 'SGDClassifier'",
        ),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ModelStringError, match=f"(?s){message}"):
        make_model(text, KNOWN)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(0)", "ended the program, with the exit status 0. Naming a module"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_module_that_fails_is_named(code, why, tmp_path, monkeypatch):
    (tmp_path / "failing_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelStringError, match=f"The module failing_module of .* {why}"):
        make_model("failing_module:Model", KNOWN)


@pytest.mark.parametrize("target", ["os:remove", "subprocess:Popen", "builtins:print"])
def test_only_estimator_classes_are_called(target, tmp_path, capfd):
    victim = os.path.join(tmp_path, "victim")
    np.savetxt(victim, [1.0])
    with pytest.raises(ModelStringError, match="not an estimator class"):
        make_model(f"{target}(path={victim!r})", KNOWN)
    assert os.path.exists(victim)
    assert capfd.readouterr().out == ""
