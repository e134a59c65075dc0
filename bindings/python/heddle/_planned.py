"""The operator of a solver: of a matrix stored by a plan, of an adjoint, or of a function."""

from __future__ import annotations

import os
from typing import Any

from . import _heddle
from ._errors import UsageError
from ._functions import is_operator, operator_of
from ._matrix import Adjoint, Matrix
from ._tune import Profile


def is_matrix(A: Any) -> bool:
    return isinstance(A, Matrix) or not (isinstance(A, Adjoint) or is_operator(A))


def operator_for(
    A: Any, method: str, stored: dict[str, str], profile: Profile | str | os.PathLike[str] | None
) -> tuple[Any, Any, str, Any, int | None]:
    """Returns the operator, the object it was made from, its entry and dtype and, for a tree, which
    keeps its entries, their generation. ``stored``: settings of storage."""
    if not is_matrix(A):
        of_adjoint = isinstance(A, Adjoint)
        if profile is not None or stored.keys() - {"device", "threads"}:
            raise UsageError(
                "an adjoint uses the plan of its matrix"
                if of_adjoint
                else "a plan is for a stored matrix, and this operator has none"
            )
        if method == "auto":
            what = "an adjoint does not show" if of_adjoint else "this operator does not have"
            raise UsageError(
                f"method='auto' looks at entries, which {what}: name method='cg', for Hermitian "
                "positive definite ones, or method='gmres', for all others"
            )
        if of_adjoint:
            return A._stored_as(stored), A, A.H.entry, A.H.dtype, None
        operator, entry, dtype = operator_of(A, stored)
        return operator, A, entry, dtype, None
    matrix = A if isinstance(A, Matrix) else Matrix(A)
    if profile is not None:
        if "storage" in stored:
            raise UsageError("a profile is for sliced storage, not for storage='hisparse'")
        if "plan" in stored:
            raise UsageError("a plan and a profile to choose one from")
        if not isinstance(profile, Profile):
            profile = Profile.read(profile)
        device, threads = stored.get("device", "cpu"), int(stored.get("threads", 0))
        of = "cg" if method == "auto" else method
        plan = profile.plan_for(matrix, method=of, device=device, threads=threads)
        stored = {**stored, "plan": plan}
    generation = matrix._generation if "storage" in stored else None
    operator = matrix._stored_as(stored)
    return operator, matrix, matrix.entry, matrix.dtype, generation
