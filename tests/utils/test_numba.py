"""Which life of a jitted function runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skstream.utils import _numba
from skstream.utils._numba import Jitted, jit, numba_enabled, seconds_of_loading


@jit
def doubled(x: float) -> float:
    return x + x


@jit
def sum_of_doubles(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += doubled(x[i])
    return total


@pytest.fixture(autouse=True)
def nothing_disables_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _numba.DISABLING_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", _numba.DISABLING_VARIABLES)
def test_either_variable_disables(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numba, "_is_installed", lambda: True)
    assert numba_enabled()
    monkeypatch.setenv(variable, "1")
    assert not numba_enabled()
    monkeypatch.setenv(variable, "0")
    assert numba_enabled()


def test_absent_numba_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numba, "_is_installed", lambda: False)
    assert not numba_enabled()
    assert sum_of_doubles(np.arange(4.0)) == 12.0


def test_disabled_numba_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = []

    def noted(function: object, form: str) -> object:
        forms.append(form)
        return original(function, form)

    original = _numba._calling_helpers
    monkeypatch.setattr(_numba, "_calling_helpers", noted)
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
    assert Jitted(sum_of_doubles.plain)(np.arange(4.0)) == 12.0
    assert forms and set(forms) == {"uncompiled"}


def test_compiled_functions_call_compiled_helpers() -> None:
    numba = pytest.importorskip("numba")
    assert sum_of_doubles(np.arange(4.0)) == 12.0
    assert isinstance(sum_of_doubles.compiled, numba.core.registry.CPUDispatcher)
    assert sum_of_doubles.compiled is sum_of_doubles.compiled
    assert sum_of_doubles.compiled.py_func.__globals__["doubled"] is doubled.compiled
    assert sum_of_doubles.__name__ == "sum_of_doubles"


def test_nothing_is_fused() -> None:
    pytest.importorskip("numba")

    @jit
    def product_and_sum(a: float, b: float, c: float) -> float:
        return a * b + c

    a = 1.0 + 2.0**-30
    assert product_and_sum.compiled(a, a, -1.0 - 2.0**-29) == 0.0  # fused: 2^-60


def test_division_by_zero_is_infinite() -> None:
    pytest.importorskip("numba")

    @jit
    def inverse(x: float) -> float:
        return 1.0 / x

    assert inverse.compiled(0.0) == np.inf


def test_machine_code_that_cannot_be_kept_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    original: Callable[..., object] = numba.njit

    def without_cache(*args: object, cache: bool = False, **kwargs: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return original(*args, **kwargs)

    monkeypatch.setattr(numba, "njit", without_cache)
    assert Jitted(doubled.plain)(3.0) == 6.0


def test_kept_code_has_another_name_once_a_helper_of_another_file_changes(tmp_path) -> None:
    pytest.importorskip("numba")
    names = set()
    for source in ("x + x", "2.0 * x", "x + x"):
        helper = tmp_path / "helper.py"
        helper.write_text(f"def doubled(x):\n    return {source}\n")
        there: dict[str, Any] = {"__name__": __name__}
        exec(compile(helper.read_text(), str(helper), "exec"), there)
        namespace: dict[str, Any] = {"__name__": __name__, "doubled": jit(there["doubled"])}
        exec(compile("def twice(x):\n    return doubled(x)", __file__, "exec"), namespace)
        compiled: Any = jit(namespace["twice"]).compiled
        names.add(compiled.py_func.__qualname__)
        assert compiled(2.0) == 4.0
    assert len(names) == 2
    assert sum_of_doubles.compiled.py_func.__qualname__ == "sum_of_doubles"  # type: ignore[attr-defined]


@jit
def tripled(x: float) -> float:
    return 3 * x


def test_the_time_to_load_code_is_counted_once_for_each_type() -> None:
    pytest.importorskip("numba")
    begin = seconds_of_loading()
    assert tripled(1.0) == 3.0
    floats = seconds_of_loading()
    assert tripled(2.0) == 6.0
    assert seconds_of_loading() == floats > begin
    assert tripled(2) == 6
    assert seconds_of_loading() > floats


def test_somebody_at_a_terminal_is_told_that_a_loop_is_compiled(monkeypatch, capsys) -> None:
    """Else a first evaluation would look frozen; who redirects the errors is not."""
    pytest.importorskip("numba")

    @jit
    def thrice(x: float) -> float:
        return 3.0 * x

    class AtOnce:
        def __init__(self, seconds: float, say: Callable[[], None]):
            assert seconds == 3.0
            self.start = say

        def cancel(self) -> None:
            pass

    monkeypatch.setattr(_numba, "Timer", AtOnce)
    for at_terminal in (False, True):
        monkeypatch.setattr(_numba, "_at_a_terminal", lambda shown=at_terminal: shown)
        vars(thrice).pop("compiled", None)
        assert thrice(1.0) == 3.0
        said = capsys.readouterr().err
        assert ("compiling tests.utils.test_numba.thrice, once" in said) == at_terminal
    assert thrice(2.0) == 6.0
    assert capsys.readouterr().err == ""
