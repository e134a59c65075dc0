"""Heddle's solvers for lineax, and operators of sparse matrices.

``import heddle.lineax`` needs JAX and lineax; ``import heddle`` imports neither."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
from jax import Array
from jax.experimental.sparse import BCOO, BCSR
from lineax.internal import (
    pack_structures, ravel_vector, transpose_packed_structures, unravel_solution)  # fmt: skip

from . import _heddle
from . import jax as heddle_jax
from ._errors import UsageError
from ._instead import refuse_no_system
from ._jax_pattern import Pattern, pattern_of
from ._jax_primitive import apply_inverse, iterations_of, outcome_of
from ._matrix import Matrix
from ._right_hand_sides import good

__all__ = ["Solver", "SparseOperator"]


class _Places:
    """The places of an operator, and the solvers that were made for them."""

    def __init__(self, pattern: Pattern, matrix: Matrix | None = None) -> None:
        self.pattern, self._matrix = pattern, matrix
        self._solvers: dict[Any, heddle_jax.Solver] = {}

    def solver(self, dtype: Any, method: str, preconditioner: Any, settings: Any) -> Any:
        key = dtype, method, preconditioner, settings
        if key not in self._solvers:
            matrix = self._matrix
            if matrix is None:  # values are not known before the first solve
                is_diagonal = self.pattern.row == self.pattern.column
                matrix = self.pattern.matrix(is_diagonal.astype(dtype))
            self._solvers[key] = heddle_jax.Solver(matrix, method, preconditioner, **dict(settings))
        return self._solvers[key]


@functools.lru_cache(maxsize=16)
def _dense(size: int) -> _Places:
    return _Places(Pattern(size, *np.indices((size, size)).reshape(2, -1)))


class SparseOperator(lx.AbstractLinearOperator):
    """A square sparse matrix. ``SparseOperator.of(A)`` makes it outside of the functions that JAX
    traces, as its places must be known; ``operator.with_data(data)`` has other values inside."""

    values: Array
    places: _Places = eqx.field(static=True)
    is_transposed: bool = eqx.field(static=True)
    tags: frozenset[object] = eqx.field(static=True)

    @classmethod
    def of(cls, A: BCSR | BCOO, tags: object | frozenset[object] = ()) -> SparseOperator:
        """``tags`` are lineax's."""
        pattern = pattern_of(A)
        tags = lx.MatrixLinearOperator(jnp.zeros((2, 2)), tags).tags
        return cls(pattern.entries(A.data), _Places(pattern, pattern.matrix(A.data)), False, tags)

    def with_data(self, data: Array) -> SparseOperator:
        """The operator of other values, in the order of ``A.data``."""
        return replace(self, values=self.places.pattern.entries(data))

    @property
    def _row_and_column(self) -> tuple[Any, Any]:
        pattern = self.places.pattern
        both = pattern.row, pattern.column
        return both[::-1] if self.is_transposed else both

    def mv(self, vector: Array) -> Array:
        row, column = self._row_and_column
        return jnp.zeros_like(vector).at[row].add(self.values * vector[column])

    def as_matrix(self) -> Array:
        size = self.places.pattern.size
        return jnp.zeros((size, size), self.values.dtype).at[self._row_and_column].add(self.values)

    def transpose(self) -> SparseOperator:
        tags = lx.transpose_tags(self.tags)
        return replace(self, is_transposed=not self.is_transposed, tags=tags)

    def in_structure(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((self.places.pattern.size,), self.values.dtype)

    out_structure = in_structure


def _tagged(check: Any) -> Any:
    def of_dense(operator: SparseOperator) -> bool:
        dense = jnp.zeros((2, 2), operator.values.dtype)
        return check(lx.MatrixLinearOperator(dense, operator.tags))

    return of_dense


for _check in (
    lx.has_unit_diagonal, lx.is_diagonal, lx.is_lower_triangular, lx.is_negative_semidefinite,
    lx.is_positive_semidefinite, lx.is_symmetric, lx.is_tridiagonal, lx.is_upper_triangular,
):  # fmt: skip
    _check.register(SparseOperator)(_tagged(_check))
for _part in lx.diagonal, lx.tridiagonal:
    _part.register(SparseOperator)(
        lambda operator, part=_part: part(lx.MatrixLinearOperator(operator.as_matrix()))
    )
for _same in lx.linearise, lx.materialise:
    _same.register(SparseOperator)(lambda operator: operator)
lx.conj.register(SparseOperator)(
    lambda operator: replace(operator, values=operator.values.conj())
)


class _State(eqx.Module):
    """A system: A, or its conjugate, its transpose, or both."""

    values: Array
    solver: Any = eqx.field(static=True)
    is_transposed: bool = eqx.field(static=True)
    is_conjugated: bool = eqx.field(static=True)
    structures: Any


class Solver(lx.AbstractLinearSolver[_State]):
    """Solves ``lineax.linear_solve(operator, vector, solver)`` by Heddle.

    The places of a ``SparseOperator`` are its own; every other operator is asked for its dense
    matrix. ``method``, ``preconditioner`` and ``settings`` are those of ``heddle.Solver``;
    ``"auto"`` means ``"cg"`` for a dense matrix that is tagged as positive semidefinite, and
    ``"gmres"`` for all other dense ones, as their numbers may be traced. ``options["y0"]`` is a
    guess. ``stats["num_steps"]`` are the iterations."""

    method: str = eqx.field(static=True)
    preconditioner: Any = eqx.field(static=True)
    settings: tuple[tuple[str, Any], ...] = eqx.field(static=True)

    def __init__(self, method: str = "auto", preconditioner: Any = "auto", **settings: Any) -> None:
        self.method, self.preconditioner = method, preconditioner
        self.settings = tuple(sorted(settings.items()))
        try:
            hash(self.settings)
        except TypeError:
            raise UsageError(
                "lineax compares settings, so none may be an array or a list: heddle.jax.Solver "
                "takes them"
            ) from None

    def init(self, operator: lx.AbstractLinearOperator, options: dict[str, Any]) -> _State:
        refuse_no_system((operator.out_size(), operator.in_size()), "real")
        method, is_transposed = self.method, False
        if isinstance(operator, SparseOperator):
            places, values = operator.places, operator.values
            is_transposed = operator.is_transposed
        else:
            places, values = _dense(operator.in_size()), operator.as_matrix().reshape(-1)
            if method == "auto":
                method = "cg" if lx.is_positive_semidefinite(operator) else "gmres"
        solver = places.solver(values.dtype.name, method, self.preconditioner, self.settings)
        return _State(values, solver, is_transposed, False, pack_structures(operator))

    def compute(self, state: _State, vector: Any, options: dict[str, Any]) -> Any:
        # A^-T b is the conjugate of A^-* conj(b).
        is_conjugate = state.is_conjugated != state.is_transposed
        b: Any
        b, x0 = (
            None if one is None else ravel_vector(one, structures)[None]
            for one, structures in (
                (vector, state.structures),
                (options.get("y0"), transpose_packed_structures(state.structures)),
            )
        )
        if is_conjugate:
            b, x0 = b.conj(), None if x0 is None else x0.conj()
        x, report = apply_inverse(
            state.solver, state.values, b, x0, adjoint=state.is_transposed, raises=False
        )
        x = unravel_solution((x.conj() if is_conjugate else x)[0], state.structures)
        stats = {"num_steps": iterations_of(report)[0], "max_steps": None}
        return x, _result(outcome_of(report)[0]), stats

    def transpose(self, state: _State, options: dict[str, Any]) -> tuple[_State, dict[str, Any]]:
        structures = transpose_packed_structures(state.structures)
        is_transposed = not state.is_transposed
        return replace(state, structures=structures, is_transposed=is_transposed), {}

    def conj(self, state: _State, options: dict[str, Any]) -> tuple[_State, dict[str, Any]]:
        return replace(state, is_conjugated=not state.is_conjugated), {}

    def assume_full_rank(self) -> bool:
        return True


_ends = {
    **dict.fromkeys(good, "successful"), "iteration limit": "max_steps_reached",
    "time limit": "max_steps_reached", "stagnated": "stagnation"}  # fmt: skip


def _result(outcome: Array) -> lx.RESULTS:
    result = lx.RESULTS.breakdown
    for name, end in _ends.items():
        is_this = outcome == _heddle.outcomes.index(name)
        result = lx.RESULTS.where(is_this, getattr(lx.RESULTS, end), result)
    return result
