"""Solves as functions of PyTorch, with gradients to the right-hand side and to the entries of A.

``import heddle.torch`` needs PyTorch; ``import heddle`` does not import it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _solvers
from ._arrays import _entry_shapes, _row_shapes
from ._errors import SizeError, UnsupportedError, UsageError
from ._in_scipy import rows_of
from ._matrix import Adjoint, Matrix
from ._mirror import roundings
from ._result import Result
from ._right_hand_sides import NotConvergedError, as_given, good, one_after_another
from ._settings import Taken

__all__ = ["NotConvergedError", "Solver", "solve"]


def solve(
    A: Tensor | Matrix,
    b: Tensor,
    *,
    values: Tensor | None = None,
    method: str = "auto",
    preconditioner: Any = "auto",
    x0: Tensor | None = None,
    **settings: Any,
) -> Tensor:
    """The x with A x = b, a tensor of b's shape where b lies. A backward solves with the adjoint of
    A once for all gradients; they are as accurate as ``rtol`` says.

    Parameters
    ----------
    A
        A square tensor: ``sparse_csr``; ``sparse_coo``; ``sparse_bsr``, whose blocks of 2, 3, 4 and
        6 real or 3 complex numbers become entries; or dense. Its gradient has the layout and the
        places of A; that of a dense A has all places. Or a ``heddle.Matrix``, which keeps
        ``values``.
    b
        Shape ``(n,)``, or ``(n, k)`` with a right-hand side in each column, n being the numbers of
        a vector. For compound entries also ``(N, r)``, a row for each row of A, or ``(N, k, r)``.
    values
        For a ``heddle.Matrix``: entries, shape ``(nnz, ...)`` in the order of ``A.data``, which get
        a gradient. Without them A's own are constants.
    x0
        The guess, of b's shape. It has no gradient.
    method, preconditioner, settings
        As for ``heddle.Solver``, ``coordinates`` and ``candidates`` of multigrid included, also as
        tensors. ``device`` is that of b.

    All tensors lie on one device and have one dtype, of single or double precision. Raises
    ``NotConvergedError`` in place of an x or a gradient beyond ``rtol``, except for one that is as
    good as its precision allows (``"accuracy limit"``); ``UsageError``, ``SizeError`` or
    ``UnsupportedError`` for arguments that do not fit. There are no second derivatives.
    """
    if isinstance(b, Tensor) and b.is_cuda:
        settings.setdefault("device", str(b.device))
    if not isinstance(A, Matrix):
        if values is not None:
            raise UsageError("values are for a heddle.Matrix: a tensor has its own")
        values, A = _values_and_matrix(A)
    elif values is not None:
        _check_values(values, A)
        A.update_values(_plain(values))  # before a method is chosen for them
    return Solver(A, method, preconditioner, **settings)._solve(b, values, x0, is_set=True)


class Solver:
    """A solver that is kept, for new right-hand sides and new values of A; parameters are those of
    ``solve``. Only the first solve, and the first backward, finds out about the pattern of A. On a
    GPU, new values stay there.

    A backward of an earlier solve with other values gives these back to A first."""

    def __init__(
        self,
        A: Tensor | Matrix,
        method: str = "auto",
        preconditioner: Any = "auto",
        **settings: Any,
    ) -> None:
        _taken.check_names(settings)
        if not isinstance(A, Matrix):
            if isinstance(A, Tensor) and A.is_cuda:
                settings.setdefault("device", str(A.device))
            _, A = _values_and_matrix(A.detach() if isinstance(A, Tensor) else A)
        for name in ("coordinates", "candidates", "null_space"):
            if isinstance(settings.get(name), Tensor):
                settings[name] = _on_host(settings[name])
        self.A = A
        self._arguments = method, preconditioner, settings
        self._own = _solvers.Solver(A, method, preconditioner, **settings)
        self._rows = (A.shape[0], *_row_shapes[A.entry])
        #: The ``heddle.Result``, without x, of each right-hand side of the last solve that
        #: converged, a backward's included.
        self.results: list[Result] = []
        self._mirror: _Mirror | None = None
        # Held from new values to the end of their solve.
        self._lock = threading.RLock()

    def solve(self, b: Tensor, values: Tensor | None = None, *, x0: Tensor | None = None) -> Tensor:
        """The x with A x = b, as ``heddle.torch.solve`` returns it.

        ``values``: new entries of A, shape ``(nnz, ...)``, in the order of the ``values()`` of the
        tensor, or of ``data`` of the ``heddle.Matrix``, that the solver was made of; for a dense
        tensor its nonzeros, row by row. They get a gradient, and A keeps them. Without them A's
        present ones are constants."""
        return self._solve(b, values, x0, is_set=values is None)

    def _solve(self, b: Tensor, values: Tensor | None, x0: Tensor | None, is_set: bool) -> Tensor:
        rows = self._as_rows(b, "b")
        if values is not None:
            _check_values(values, self.A)
            _check_same_device(values, "A", b)
        guess = None
        if x0 is not None:
            guess = self._as_rows(x0, "x0")
            _check_same_device(x0, "x0", b)
            if x0.shape != b.shape:
                raise SizeError(f"x0 has the shape {tuple(x0.shape)}, but b {tuple(b.shape)}")
        x = _Solve.apply(self, values, rows, guess, is_set)
        return as_given(x, tuple(b.shape), self._rows)

    def _as_rows(self, b: Tensor, name: str) -> Tensor:
        _check(b, name, self.A)
        return one_after_another(b, name, self._rows)

    def _run(self, own: _solvers.Solver, b: Tensor, x0: Tensor | None, words: str) -> Tensor:
        b = _plain(b)
        x: Any = torch.empty_like(b)
        if len(b):
            results = own.solve_all(b, x, x0=None if x0 is None else _plain(x0))
            if any(result.status not in good for result in results):
                raise NotConvergedError(words, results)
            for result in results:
                del result.x  # its graph keeps this solver
            self.results = results
        return x

    def _forward(
        self, values: Tensor | None, b: Tensor, x0: Tensor | None, is_set: bool
    ) -> tuple[Tensor, int]:
        """x, and the generation of A's values that it belongs to."""
        with self._lock:
            if values is not None and not is_set:
                self.A.update_values(_plain(values))
            return self._run(self._own, b, x0, "the solve"), self.A._generation

    def _backward(self, values: Tensor | None, generation: int, gradient: Tensor) -> Tensor:
        """The gradient to b: A^-H times that to x."""
        with self._lock:
            if self.A._generation != generation:
                if values is None:
                    raise UsageError(
                        "A has new values since this solve: pass those of a solve as values"
                    )
                self.A.update_values(_plain(values))
            if values is None:
                values = torch.as_tensor(np.array(self.A.data), device=gradient.device)
            own = self._own
            mirror = self._mirrored(gradient.device)
            if not mirror.is_hermitian(_plain(values)):
                own = mirror.solver(_plain(values), self._arguments)
            return self._run(own, gradient, None, "the adjoint solve of a backward")

    def _of_values(self, of_b: Tensor, x: Tensor) -> Tensor:
        """The gradient to the entries, at their places."""
        mirror = self._mirrored(x.device)
        total = x.new_zeros((self.A.nnz, *_entry_shapes[self.A.entry]))
        for one, solution in zip(of_b, x):
            total -= _outer(one[mirror.row], solution[mirror.column], self.A.entry)
        return total

    def _mirrored(self, device: torch.device) -> _Mirror:
        if self._mirror is None or self._mirror.row.device != device:
            self._mirror = _Mirror(self.A, device)
        return self._mirror


_taken = Taken("heddle.torch.Solver", *_solvers.uses_of_solver)
_taken.shown(Solver, _solvers.Solver)
_taken.shown(solve, _solvers.Solver)


class _Solve(torch.autograd.Function):
    """x of ``(k, N, ...)`` for entries and b."""

    @staticmethod
    def forward(ctx: Any, solver: Solver, values: Any, b: Tensor, x0: Any, is_set: bool) -> Tensor:
        x, ctx.generation = solver._forward(values, b, x0, is_set)
        ctx.solver = solver
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        values, x = ctx.saved_tensors
        with torch.no_grad():
            of_b = ctx.solver._backward(values, ctx.generation, gradient)
            of_values = None
            if ctx.needs_input_grad[1]:
                of_values = ctx.solver._of_values(of_b, x)
        if torch.is_grad_enabled():  # create_graph=True
            of_b, of_values = _Once.apply(of_b, of_values, gradient, values, x)
        return None, of_values, of_b, None, None


class _Once(torch.autograd.Function):
    """Gradients that depend on the other arguments in a way that is not followed."""

    @staticmethod
    def forward(ctx: Any, of_b: Tensor, of_values: Any, *_: Any) -> Any:
        return of_b.clone(), None if of_values is None else of_values.clone()

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise UnsupportedError("heddle.torch.solve has no second derivatives")


class _Mirror:
    """A pattern next to its transpose, and the solver of the adjoint system."""

    def __init__(self, A: Matrix, device: torch.device) -> None:
        self.row = torch.as_tensor(rows_of(A), device=device)
        self.column = torch.as_tensor(A.indices.astype(np.int64), device=device)
        self.entry, self.shape = A.entry, A.shape
        keys = self.row * A.shape[0] + self.column
        mirrored = self.column * A.shape[0] + self.row
        self.order, self.transposed = torch.argsort(keys), torch.argsort(mirrored)
        self.is_symmetric = torch.equal(keys[self.order], mirrored[self.transposed])
        self._kept: _solvers.Solver | None = None

    def is_hermitian(self, values: Tensor) -> bool:
        """True if A = A^H up to rounding."""
        if not self.is_symmetric or self.entry == "dual-quaternion" or values.numel() == 0:
            return self.is_symmetric and values.numel() == 0
        size = values.abs().reshape(len(values), -1).amax(1)
        largest = size.new_zeros(self.shape[0]).scatter_reduce_(0, self.row, size, "amax")
        scale = torch.minimum(largest[self.row], largest[self.column])[self.order]
        apart = (values[self.order] - _adjoint(values, self.entry)[self.transposed]).abs()
        limit = roundings * torch.finfo(values.dtype).eps * scale
        return bool((apart.reshape(len(values), -1).amax(1) <= limit).all())

    def solver(self, values: Tensor, arguments: tuple[str, Any, dict[str, Any]]) -> _solvers.Solver:
        """The solver of A^H with these values of A."""
        method, preconditioner, settings = arguments
        if not (preconditioner is None or isinstance(preconditioner, str)):
            raise UnsupportedError(
                "a backward solves with A^H, which is not A: its preconditioner must be a text"
            )
        adjoint = _plain(_adjoint(values, self.entry)[self.transposed])
        if self._kept is not None and self._kept._generation is None:
            self._kept.A.update_values(adjoint)
        else:  # the first time, and for a tree, which takes no new values
            row = self.column[self.transposed]
            counts = torch.bincount(row, minlength=self.shape[0]).cpu().numpy()
            places = self.row[self.transposed].cpu().numpy(), np.append(0, np.cumsum(counts))
            matrix = Matrix((adjoint.cpu().numpy(), *places), self.shape)
            self._kept = _solvers.Solver(matrix, method, preconditioner, **settings)
        return self._kept


def _values_and_matrix(A: Any) -> tuple[Tensor, Matrix]:
    """The entries of a tensor, which autograd follows to it, and the matrix of them."""
    if isinstance(A, Adjoint) or not isinstance(A, Tensor):
        raise UsageError(f"A is of the type {type(A).__name__}, not a tensor or a heddle.Matrix")
    if A.ndim != 2:
        raise UsageError(f"A has {A.ndim} dimensions: a matrix has two, and batches are not taken")
    _check_device(A, "A")
    if _name_of(A.dtype) not in ("float32", "float64", "complex64", "complex128"):
        raise UnsupportedError(
            f"A is of {_name_of(A.dtype)}: float32, float64, complex64 and complex128 are solved"
        )
    rows, columns = A.shape
    if A.layout in (torch.sparse_csr, torch.sparse_bsr):
        offsets, column, values = A.crow_indices(), A.col_indices(), A.values()
        if A.layout is torch.sparse_bsr:
            rows, columns = rows // values.shape[1], columns // values.shape[2]
        matrix = (_on_host(values), _on_host(column), _on_host(offsets))
    elif A.layout in (torch.sparse_coo, torch.strided):
        if A.layout is torch.strided:
            # Each zero of a dense A that needs a gradient has one.
            row, column = torch.nonzero(torch.ones_like(A) if A.requires_grad else A).T
            values = A[row, column]
        else:
            A = A.coalesce()
            (row, column), values = A.indices(), A.values()
        counts = np.bincount(_on_host(row), minlength=rows)
        matrix = (_on_host(values), _on_host(column), np.append(0, np.cumsum(counts)))
    else:
        raise UnsupportedError(f"A is of the layout {A.layout}: A.to_sparse_csr() has one")
    return values, Matrix(matrix, (rows, columns))


def _check(given: Any, name: str, A: Matrix) -> None:
    if not isinstance(given, Tensor):
        raise UsageError(f"{name} is of the type {type(given).__name__}, not a tensor")
    if given.layout is not torch.strided:
        raise UnsupportedError(f"{name} is of the layout {given.layout}, not dense")
    _check_device(given, name)
    if _name_of(given.dtype) != A.dtype.name:
        raise UnsupportedError(
            f"{name} is of {_name_of(given.dtype)}, but A of {A.dtype}: convert one of them"
        )


def _check_values(values: Any, A: Matrix) -> None:
    _check(values, "values", A)
    shape = A.nnz, *_entry_shapes[A.entry]
    if tuple(values.shape) != shape:
        raise SizeError(f"values has the shape {tuple(values.shape)}, not {shape}")


def _check_device(given: Tensor, name: str) -> None:
    if given.device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"{name} is on the device {given.device}, not on a CPU or a GPU")


def _check_same_device(given: Tensor, name: str, b: Tensor) -> None:
    if given.device != b.device:
        raise UsageError(f"{name} is on the device {given.device}, but b on {b.device}")


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _plain(given: Tensor) -> Tensor:
    """Without a graph, and as it lies in memory."""
    return given.detach().resolve_conj().resolve_neg().contiguous()


def _on_host(given: Tensor) -> np.ndarray:
    return _plain(given).cpu().numpy()


def _adjoint(values: Tensor, entry: str) -> Tensor:
    """The adjoint of each entry."""
    if entry == "quaternion":
        return values * values.new_tensor([1, -1, -1, -1])
    if entry == "dual-quaternion":
        raise UnsupportedError("dual quaternions have no adjoint, and so no gradients")
    return (values.mT if values.ndim == 3 else values).conj().resolve_conj()


def _outer(left: Tensor, right: Tensor, entry: str) -> Tensor:
    """left right^H for each row, as an entry: with y = a x and a gradient g to y, the one to a is
    g x^H, for quaternions their product with the conjugate."""
    if entry == "quaternion":
        (w, p), (v, q) = ((one[:, :1], one[:, 1:]) for one in (left, right))
        of_w = w * v + (p * q).sum(1, keepdim=True)
        return torch.cat([of_w, v * p - w * q - torch.linalg.cross(p, q)], 1)
    if left.ndim == 2:
        return left[:, :, None] * right[:, None, :].conj()
    return left * right.conj()
