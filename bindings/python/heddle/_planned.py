"""The operator of a solver: of a matrix, as a plan stores it, of an adjoint, or of a function."""

from __future__ import annotations

import os
from typing import Any

from . import _heddle
from ._errors import UsageError
from ._functions import is_operator, operator_of
from ._matrix import Adjoint, Matrix
from ._settings import text_or_none
from ._tune import Profile


def is_matrix(A: Any) -> bool:
    return isinstance(A, Matrix) or not (isinstance(A, Adjoint) or is_operator(A))


def operator_for(
    A: Any,
    method: str,
    device: str,
    threads: int,
    plan: str | None,
    storage: str,
    node: int,
    dense: int | str | None,
    launch: str | None,
    profile: Profile | str | os.PathLike[str] | None,
) -> tuple[Any, Any, str, Any, int | None]:
    """The operator, what it was made of, entry and dtype; and of a tree, which keeps them, the
    generation of its entries."""
    if not is_matrix(A):
        of_adjoint = isinstance(A, Adjoint)
        of_storage = storage != "sliced" or node != 0 or dense is not None or launch is not None
        if plan is not None or profile is not None or of_storage:
            raise UsageError(
                "an adjoint has the plan of its matrix"
                if of_adjoint
                else "a plan stores a matrix, and this operator has none"
            )
        if method == "auto":
            what = "an adjoint does not show" if of_adjoint else "this operator has not"
            raise UsageError(
                f"method='auto' looks at entries, which {what}: name method='cg', for Hermitian "
                "positive definite ones, or method='gmres', for all others"
            )
        if of_adjoint:
            return A.operator(device, threads), A, A.H.entry, A.H.dtype, None
        operator, entry, dtype = operator_of(A, device)
        return operator, A, entry, dtype, None
    matrix = A if isinstance(A, Matrix) else Matrix(A)
    if profile is not None:
        if storage == "hisparse":
            raise UsageError("a profile is of sliced storage, not of storage='hisparse'")
        if plan is not None:
            raise UsageError("a plan and a profile to choose one from")
        if not isinstance(profile, Profile):
            profile = Profile.read(profile)
        of = "cg" if method == "auto" else method
        plan = profile.plan_for(matrix, method=of, device=device, threads=threads)
    if storage == "sliced" and node == 0 and dense is None and launch is None:
        operator, generation = matrix.operator(device, threads, 0, plan), None
    else:
        generation = matrix._generation
        operator = _heddle.Operator.of_matrix(
            matrix._own, device, threads, 0, plan, storage, node, text_or_none(dense), launch)  # fmt: skip
    return operator, matrix, matrix.entry, matrix.dtype, generation
