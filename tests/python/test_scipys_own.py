"""SciPy's own tests of its solvers, run with heddle's functions in their place. Those that cannot
pass are listed here and in docs/reference/python.md, with the reason; each of them must fail."""

import importlib.util
import inspect
import pathlib
import re

import pytest
import scipy.sparse.linalg._isolve as own

import heddle

names = "bicgstab", "cg", "gmres", "minres"
fail = {
    "test_callback_x_monotonic": "a standstill ends the solve before the limit does",
    "test_callback": "M preconditions from the right: the callback gets the residual of the system itself",
    "test_defective_precond_breakdown": "a singular M ends the solve, and the guess is the best x",
    "test_precond_inverse": "two products test whether A is Hermitian, and one is of b - A x",
    "test_singular": "minres refuses a matrix that is not symmetric",
}

# SciPy's functions are expected to fail these.
passed_by_ours = ("test_maxiter_worsening",)


def _tests_of(name):
    """The functions and classes of a module of SciPy's tests, over our functions alone."""
    found = importlib.util.find_spec(f"scipy.sparse.linalg._isolve.tests.{name}")
    if found is None:
        pytest.skip("SciPy is here without its tests", allow_module_level=True)
    solvers = "_SOLVERS = [" + ", ".join(names) + "]"
    source = re.sub(
        r"_SOLVERS = \[.*?\]", solvers, pathlib.Path(found.origin).read_text(), flags=re.DOTALL
    )
    space = {"__name__": __name__, "__file__": found.origin}
    before = {key: getattr(own, key) for key in names}
    try:
        for key in names:
            setattr(own, key, getattr(heddle, key))
        exec(compile(source, found.origin, "exec"), space)
    finally:
        for key, function in before.items():
            setattr(own, key, function)
    for kept in ("test_show", "TestQMR"):  # tests of other solvers
        space.pop(kept, None)
    return {k: v for k, v in space.items() if k.startswith(("test_", "Test")) or k in fixtures}


def _mark(tests):
    for name, test in tests.items():
        if inspect.isclass(test):
            _mark({k: v for k, v in vars(test).items() if k.startswith("test_")})
        elif name in fail:
            pytest.mark.xfail(reason=fail[name], strict=True)(test)
        elif name in passed_by_ours:
            test.pytestmark = [mark for mark in test.pytestmark if mark.name != "xfail"]


fixtures = "case", "solver"
for _module in ("test_iterative", "test_minres"):
    _tests = _tests_of(_module)
    _mark(_tests)
    globals().update(_tests)
