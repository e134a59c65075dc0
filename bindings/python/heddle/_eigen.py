"""The smallest eigenpairs of Hermitian matrices."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle
from ._arrays import _row_shapes, forms, numbers
from ._errors import NotConvergedError, SizeError, UnsupportedError, UsageError
from ._functions import is_operator
from ._in_scipy import in_entries_of
from ._instead import refuse_no_system
from ._matrix import Matrix
from ._planned import operator_for
from ._preconditioners import preconditioner_of, use_arrays
from ._settings import Taken
from ._solvers import Callback

_taken = Taken("heddle.eigsh", "storage", "eigen", "multigrid",
               but=("count", "tolerance", "max_iterations"))  # fmt: skip


@_taken.shown
def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    *,
    which: str = "SA",
    v0: ArrayLike | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    preconditioner: Any = "auto",
    coordinates: ArrayLike | None = None, candidates: ArrayLike | str | None = None,
    callback: Callback | None = None,
    **settings: Any,
) -> Any:  # fmt: skip
    """The k smallest eigenvalues of A x = x lambda, or A x = M x lambda, and their vectors, by LOBPCG,
    for a Hermitian A and a Hermitian positive definite M. Over quaternions an eigenvalue counts
    once, though it appears four times in the real matrix.

    Parameters
    ----------
    A, M
        A ``Matrix``, an object that makes one or, as A, a ``LinearOperator``.
    k
        The number of pairs, 1 to 16.
    which
        ``"SA"`` or ``"smallest"``: the algebraically smallest. For the largest negate A.
    v0
        A guess, of the shape of a vector, or up to k of them, the columns of an array ``(n, k, ...)``;
        the other ones are random.
    maxiter, tol
        Of iterations, 1000 by default; the limit on |A x - M x lambda| / ((|A| + |lambda| |M|) |x|),
        1e-8 by default, in single precision 1e-5.
    preconditioner
        As for ``Solver``, for A: Hermitian and positive definite. ``coordinates`` and
        ``candidates`` are multigrid's.
    callback
        ``callback(iteration, largest relative residual)``, before each iteration.
    {settings}

    Returns ``(w, v)``: the eigenvalues, shape ``(k,)``, in ascending order, and the M-orthonormal
    vectors as columns, ``(n, k)`` or, of quaternions, ``(n, k, 4)``; w alone without
    ``return_eigenvectors``. Raises ``NotConvergedError``, which has both, if a limit ended the
    iterations or the matrices do not suit it; and ``UnsupportedError`` for entries without adjoint.

    >>> import numpy as np
    >>> import heddle
    >>> w, v = heddle.eigsh(np.diag([3.0, 1.0, 2.0, 5.0]), k=2)
    >>> w.round(6)
    array([1., 2.])
    """
    if which not in ("SA", "smallest"):
        raise UsageError(f"which={which!r}: only 'SA', the smallest, is found; eigsh(-A) finds -w")
    if isinstance(candidates, str):
        settings["candidates"], candidates = candidates, None
    texts = _taken.texts(settings)
    by_use = _taken.by_use(texts)
    operator, base, entry, dtype, _ = operator_for(A, "cg", by_use.get("storage", {}), None)
    refuse_no_system((operator.rows, operator.columns), entry)
    mass = None if M is None else _mass_of(M, operator, base)
    if preconditioner is None:
        preconditioner = "none"
    if not isinstance(preconditioner, str) or preconditioner == "none":
        arrays = {"coordinates": coordinates, "candidates": candidates}
        given = [name for name, array in arrays.items() if array is not None]
        for name in (*by_use.get("multigrid", ()), *given):
            raise UsageError(f"{name} is for the preconditioner multigrid")
    of_multigrid = _heddle.Settings(by_use.get("multigrid", {}))
    use_arrays(of_multigrid, operator.rows, entry, dtype, coordinates, candidates)
    inverse = preconditioner_of(operator, entry, dtype, preconditioner, True, of_multigrid)
    x = _guesses(v0, index(k), (operator.rows, *_row_shapes[entry]), dtype)
    of_eigen = by_use.get("eigen", {})
    if tol != 0:
        of_eigen["tolerance"] = repr(float(tol))
    if maxiter is not None:
        of_eigen["max_iterations"] = str(index(maxiter))
    outcome, detail, iterations, w, *_ = _heddle.eigen_solve(
        operator, mass, inverse, _heddle.Settings(of_eigen), x, callback)  # fmt: skip
    values, vectors = np.array(w), np.ascontiguousarray(np.moveaxis(x, 0, 1))
    if outcome not in ("converged", "accuracy limit"):
        words = f"eigsh ended after {iterations} iterations: {outcome}"
        error = NotConvergedError(f"{words}; {detail}" if detail else words)
        error.eigenvalues, error.eigenvectors = values, vectors
        raise error
    return (values, vectors) if return_eigenvectors else values


def _mass_of(M: Any, operator: _heddle.Operator, A: Any) -> _heddle.Operator:
    """M in the entry and type of A, if that is a matrix."""
    if is_operator(M):
        raise UnsupportedError("M is an operator, but its entries are needed here")
    mass = in_entries_of(A, M) if isinstance(A, Matrix) else M
    mass = mass if isinstance(mass, Matrix) else Matrix(mass)
    if isinstance(A, Matrix) and mass.dtype != A.dtype:
        mass = mass._with(numbers(mass.data, A.dtype, "M"))
    return _heddle.mass_operator(mass._own, operator)


def _guesses(given: Any, k: int, shape: tuple[int, ...], dtype: np.dtype) -> NDArray[Any]:
    """k vectors one after the other, zeros where there is no guess."""
    x = np.zeros((max(k, 0), *shape), dtype)
    if given is None:
        return x
    v0 = numbers(given, dtype, "v0")
    if v0.shape in forms(shape):
        v0 = v0.reshape(shape[0], 1, *shape[1:])
    if v0.shape[:1] + v0.shape[2:] != shape or not v0.shape[1] <= k:
        raise SizeError(f"v0 has the shape {v0.shape}, not {shape} or up to {k} such columns")
    x[: v0.shape[1]] = np.moveaxis(v0, 1, 0)
    return x
