"""Which life of a jitted function runs."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream.utils import _numba
from skstream.utils._numba import LOADING, Jitted, jit, numba_enabled


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


def test_compiled_functions_call_compiled_helpers(numba: Any) -> None:
    assert sum_of_doubles(np.arange(4.0)) == 12.0
    assert isinstance(sum_of_doubles.compiled, numba.core.registry.CPUDispatcher)
    assert sum_of_doubles.compiled is sum_of_doubles.compiled
    assert sum_of_doubles.compiled.py_func.__globals__["doubled"] is doubled.compiled
    assert sum_of_doubles.__name__ == "sum_of_doubles"


def test_nothing_is_fused(numba: Any) -> None:
    @jit
    def product_and_sum(a: float, b: float, c: float) -> float:
        return a * b + c

    a = 1.0 + 2.0**-30
    assert product_and_sum.compiled(a, a, -1.0 - 2.0**-29) == 0.0  # fused: 2^-60


def test_division_by_zero_is_infinite(numba: Any) -> None:
    @jit
    def inverse(x: float) -> float:
        return 1.0 / x

    assert inverse.compiled(0.0) == np.inf


def test_machine_code_that_cannot_be_kept_is_made_anew(monkeypatch, numba):
    original: Callable[..., object] = numba.njit

    def without_cache(*args: object, cache: bool = False, **kwargs: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return original(*args, **kwargs)

    monkeypatch.setattr(numba, "njit", without_cache)
    assert Jitted(doubled.plain)(3.0) == 6.0


def test_kept_code_has_another_name_once_a_helper_of_another_file_changes(tmp_path, numba):
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


def test_the_time_to_load_code_is_counted_once_for_each_type(numba: Any) -> None:
    begin = LOADING.seconds
    assert tripled(1.0) == 3.0
    floats = LOADING.seconds
    assert tripled(2.0) == 6.0
    assert LOADING.seconds == floats > begin
    assert tripled(2) == 6
    assert LOADING.seconds > floats


# -- compiled where it pays


@pytest.fixture
def spares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compiling pay only for enough work, as for users; the test suite always compiles."""
    monkeypatch.delenv(_numba.ALWAYS_COMPILE)


def long_to_compile(monkeypatch: pytest.MonkeyPatch) -> Any:
    function = Jitted(sum_of_doubles.plain)
    function.seconds = 1.0
    monkeypatch.setattr(Jitted, "_is_at_hand", False)
    return function


def test_a_loop_is_compiled_once_the_work_is_worth_it(spares, monkeypatch):
    function = long_to_compile(monkeypatch)
    for seconds, pays in ((0.25, False), (0.5, False), (0.25, True), (0.0, True)):
        function.announce(seconds)
        assert function.pays is pays


@pytest.mark.parametrize(("seconds", "pays"), [(0.5, False), (1.0, True), (np.inf, True)])
def test_expected_work_counts_once(seconds, pays, spares, monkeypatch):
    function = long_to_compile(monkeypatch)
    for _ in range(3):
        function.expect(seconds)
    function.announce(0.25)
    assert function.pays is pays


def test_spared_calls_are_counted_and_give_the_same(spares, monkeypatch):
    monkeypatch.setattr(_numba, "_is_installed", lambda: True)
    function, before = long_to_compile(monkeypatch), LOADING.n_spared
    assert function(np.arange(4.0)) == 12.0
    assert not function.is_compiled and LOADING.n_spared == before + 1
    monkeypatch.setenv(_numba.ALWAYS_COMPILE, "1")
    assert function.pays


def test_machine_code_in_files_is_at_hand(tmp_path: Path, spares: None, numba: Any) -> None:
    file = tmp_path / "own_loop.py"

    def loaded(text: str) -> Any:
        file.write_text(text)
        names = importlib.util.spec_from_file_location("own_loop", file)
        assert names is not None and names.loader is not None
        module = importlib.util.module_from_spec(names)
        names.loader.exec_module(module)
        module.twice.seconds = 1.0
        return module.twice

    text = "from skstream.utils._numba import jit\n\n\n@jit\ndef twice(x):\n    return x + x\n"
    first = loaded(text)
    assert not first.pays
    first.expect(1.0)
    assert first(2.0) == 4.0
    second = loaded(text)  # as in the next process
    assert second.pays and not second.compiled.overloads
    assert not loaded(text + "\n\nMORE = 1\n").pays


def test_a_numba_without_a_known_cache_compiles(spares: None, numba: Any) -> None:
    function = Jitted(sum_of_doubles.plain)
    function.seconds = 1.0
    vars(function)["compiled"] = object()
    assert function.pays
