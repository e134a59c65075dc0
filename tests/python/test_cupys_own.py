"""CuPy's own tests of its solvers, run on a GPU with heddle's functions in their place. CuPy's wheels
are without its tests: HEDDLE_CUPY_TESTS names tests/cupyx_tests/scipy_tests/sparse_tests/test_linalg.py
of its source package. Those that cannot pass are listed here and in docs/reference/python.md, with the reason;
each of them must fail."""

import importlib.util
import os
import pathlib
import re
import sys

import pytest

import heddle

cupy = pytest.importorskip("cupy")
linalg = pytest.importorskip("cupyx.scipy.sparse.linalg")
path = os.environ.get("HEDDLE_CUPY_TESTS")
if not path:
    pytest.skip("HEDDLE_CUPY_TESTS names no file", allow_module_level=True)
if not pathlib.Path(path).is_file():
    raise FileNotFoundError(f"HEDDLE_CUPY_TESTS={path}")

names = "bicgstab", "cg", "gmres", "lsmr", "minres"
classes = "TestBicgstab", "TestCg", "TestGmres", "TestGmresInfo", "TestLsmr", "TestMinres"
# Matches the cases in which CuPy does not skip the other two.
plain = r"\[.*M=None, (atol=None, b_ndim=., (restart=None, )?|format.*)use_linear_operator=False, x0=None"
fail = {
    f"Test(Cg|Bicgstab|Gmres)::test_callback{plain}": "x is not at hand while a GPU iterates",
    f"Test(Cg|Bicgstab|Gmres)::test_invalid{plain}":
        "an A of integers becomes double; atol is a number",
    r"TestLsmr::test_(sparse|dense).*damp=[12].*x0='ones'":
        "SciPy damps the distance from the guess",
    rf"TestMinres::test_(sparse|dense|callback{plain})": "their A is not symmetric, which minres refuses",
    f"TestMinres::test_invalid{plain}": "a guess in double for A in single is a TypeError",
}  # fmt: skip

_spec = importlib.util.spec_from_file_location("cupys_tests", path)
_module = importlib.util.module_from_spec(_spec)
sys.modules["cupys_tests"] = _module  # CuPy puts a class for each case into it
_spec.loader.exec_module(_module)
for _name, _kind in vars(_module).items():
    if _name.partition("_")[0] in classes:
        globals()[_name] = _kind


@pytest.fixture(autouse=True)
def ours(request, monkeypatch):
    for name in names:
        monkeypatch.setattr(linalg, name, getattr(heddle, name))
    if re.search(r"damp=0.*n=30.*x0='ones'", request.node.nodeid):
        return  # CuPy skips it
    for pattern, reason in fail.items():
        if re.search(pattern, request.node.nodeid):
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
