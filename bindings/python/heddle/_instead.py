"""Refusals of objects that are no matrix, array or preconditioner, with the call that makes one."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._errors import SizeError, UnsupportedError, UsageError

_operator = "scipy.sparse.linalg.LinearOperator((n, n), matvec=..., dtype=...)"


def refuse_no_matrix(A: Any) -> None:
    """Raises ``UsageError`` for an object without entries."""
    if isinstance(A, (str, os.PathLike)):
        raise UsageError(f"A is a path: heddle.read({os.fspath(A)!r}) reads a matrix")
    if A is None:
        raise UsageError("A is None, not a matrix of heddle, SciPy or NumPy")
    refuse_tensor(A)
    if hasattr(A, "solve_all"):
        raise UsageError("A is a heddle.Solver: A.solve(b).x is the solution")
    if hasattr(A, "matvec"):
        raise UsageError("A is an operator, but its entries are needed here; heddle.Solver takes it")
    if hasattr(A, "aspreconditioner"):
        raise UsageError("A is a multigrid hierarchy: its matrix is A.levels[0].A")
    if callable(A):
        raise UsageError(f"A is a function: make it an operator, {_operator}")
    if hasattr(A, "solve"):  # SciPy's SuperLU
        raise UsageError(
            "A is a factorization: give the matrix, and the factorization as preconditioner, as "
            "heddle.cg(matrix, b, M=A.solve) or heddle.solve(matrix, b, preconditioner=A.solve)"
        )


def refuse_tensor(A: Any) -> None:
    """Raises ``UsageError`` for matrices of packages for which a module here has solves."""
    whose = type(A).__module__
    if whose.split(".")[0] == "torch":
        module, what = "torch", "a tensor of PyTorch"
    elif whose.startswith("jax.experimental.sparse"):
        module, what = "jax", "a matrix of JAX"
    else:
        return
    raise UsageError(
        f"A is {what}: heddle.{module}.solve(A, b) and heddle.{module}.Solver(A) take it, after "
        f"import heddle.{module}"
    )


def refuse_no_system(shape: tuple[int, int], entry: str) -> None:
    """Raises ``SizeError`` unless the matrix is square."""
    rows, columns = shape
    if rows == columns:
        return
    words = f"methods for A x = b need a square matrix, not one of {rows} x {columns}: "
    words += "heddle.lsmr(A, b) finds the x of least squares"
    for size, of in ((4, "quaternion"), (8, "dual-quaternion")):
        if entry == "real" and rows == size * columns:
            words += (
                f"; a file with {size} times as many rows as columns may hold {of} entries, which "
                f"heddle.read(path, entry={of!r}) reads"
            )
    raise SizeError(words)


def refuse_no_array(array: Any, name: str) -> None:
    """Refuses objects that NumPy would take for one number, or without their mask."""
    if hasattr(array, "tocsr"):
        raise UnsupportedError(f"{name} is a sparse matrix: {name}.toarray() is an array")
    if np.ma.is_masked(array):
        raise UnsupportedError(
            f"{name} is a masked array, and some of its numbers are masked: numpy.ma.filled "
            "puts numbers there"
        )


def refuse_no_object(array: Any, given: np.ndarray, name: str) -> None:
    """Raises ``UsageError`` for an object that is not an array. ``given``: NumPy's array of it,
    which may hold an object that NumPy does not know."""
    if array is None:
        what = "None"
    elif isinstance(array, (str, bytes)):
        what = "a text"
    elif given.ndim == 0 and given.dtype.kind == "O":
        what = f"of the type {type(array).__name__}"
    else:
        return
    raise UsageError(f"{name} is {what}, not an array of numbers")


def refuse_no_numbers(array: Any, given: np.ndarray, name: str) -> None:
    """``given``: NumPy's array of ``array``. Raises ``UnsupportedError`` for numbers that no double
    holds, ``UsageError`` for anything else but numbers."""
    if np.can_cast(given.dtype, np.complex128, "safe"):
        return
    refuse_no_object(array, given, name)
    are_numbers = given.dtype.kind in "fc"
    double = "complex128" if given.dtype.kind == "c" else "float64"
    raise (UnsupportedError if are_numbers else UsageError)(
        f"{name} is of {given.dtype}: convert it, as numpy.asarray({name}, numpy.{double}) does"
    )


def refuse_no_preconditioner(M: Any, numbers: int | None) -> None:
    """``numbers``: the numbers of a vector, if an application maps numbers."""
    if hasattr(M, "aspreconditioner"):
        raise UsageError("M is a multigrid hierarchy: pass M.aspreconditioner()")
    if hasattr(M, "solve_all"):
        raise UsageError(
            "M is a heddle.Solver: pass lambda r: M.solve(r).x, to fgmres with varies=True, as "
            "such a map varies"
        )
    if hasattr(M, "matvec") or callable(M) or hasattr(M, "__matmul__"):
        shape = getattr(M, "shape", None)
        if numbers is not None and shape is not None and tuple(shape) != (numbers, numbers):
            raise SizeError(f"M has the shape {tuple(shape)}, not {(numbers, numbers)}")
        return
    if hasattr(M, "solve"):  # SciPy's SuperLU
        raise UsageError("M is a factorization: pass its function, M.solve")
    raise UsageError(
        f"M is {type(M).__name__!r}: a preconditioner is a text, a function, a LinearOperator or a "
        "matrix that stands for the inverse of A"
    )
