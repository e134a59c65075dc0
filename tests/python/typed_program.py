"""A user's program: mypy sees the types that the installed module promises (scripts/test-python)."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import heddle

A = heddle.generate("poisson", 100)
b = np.ones(A.shape[0])
assert_type(A.shape, tuple[int, int])
assert_type(A.entry, str)
assert_type(A.dtype, np.dtype[Any])
assert_type(A.data, NDArray[Any])
assert_type(A.indices, NDArray[np.int32])
assert_type(A @ b, NDArray[Any])
assert_type(A.H @ b, NDArray[Any])
assert_type(2 * A - A.T, heddle.Matrix)
assert_type(A.edited(add=([1.0], ([0], [0]))), heddle.Matrix)

result = heddle.solve(A, b, rtol=1e-8)
assert_type(result, heddle.Result)
assert_type(result.x, NDArray[Any])
assert_type(result.converged, bool)
assert_type(result.iterations, int)
assert_type(result.status, str)
assert_type(result.history, NDArray[np.float64])

assert_type(heddle.cg(A, b, rtol=1e-8), tuple[NDArray[Any], int])
assert_type(heddle.lsmr(A, b)[0], NDArray[Any])
solver = heddle.Solver(A, "cg", "multigrid", plan="CSR")
assert_type(solver.solve(b, np.empty_like(b), x0=b), heddle.Result)
assert_type(solver.solve_all([b, b]), list[heddle.Result])
M = heddle.preconditioner(A, "jacobi")
assert_type(M, heddle.Preconditioner)
assert_type(heddle.show_config("dicts"), dict[str, Any])
profile = heddle.tune(A, "cg", seconds=0.01)
assert_type(profile.plan, str | None)
error: ValueError = heddle.UsageError("an error that programs catch as its base class")
