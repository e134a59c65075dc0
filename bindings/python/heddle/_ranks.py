"""Ranks: threads of the process that share a matrix's rows, each maybe with a GPU of its own."""

from __future__ import annotations

from operator import index
from typing import Any

from numpy.typing import NDArray

from . import _heddle
from ._errors import UnsupportedError, UsageError
from ._functions import is_operator
from ._gpu import one_name
from ._matrix import Adjoint, Matrix
from ._preconditioners import multigrid_told


def refuse_for_ranks(*, storage: str, **given: Any) -> None:
    """Raises ``UnsupportedError`` for what ranks do not take."""
    if storage != "sliced":
        raise UnsupportedError(f"ranks share matrices in sliced storage, not in {storage!r}")
    for name, value in given.items():
        if value is not None:
            raise UnsupportedError(f"{name} is not for ranks")


def ranks_worth_it(A: Any, device: str, partition: str) -> tuple[int | None, str]:
    """Of the devices that are named, all GPUs of one host or none, as many as ``heddle solve --ranks
    auto`` takes, and their names; no ranks where one device is predicted to be as good."""
    if not isinstance(A, Matrix):
        raise UnsupportedError("ranks share a matrix, not an adjoint or an operator")
    devices = list(dict.fromkeys(one_name(name) for name in device.split(",")))
    if "cpu" in devices and len(devices) > 1:
        raise UsageError(f"device={device!r}: ranks are all on GPUs, or all on the CPU")
    counts = range(2, len(devices) + 1) if devices[0] != "cpu" else ()
    if not counts:
        return None, devices[0]
    best = A._own.best_ranks(devices[0], partition, list(counts))
    return (None, devices[0]) if best == 1 else (best, ",".join(devices[:best]))


class OnRanks:
    """In an operator's place: a matrix whose rows ranks share, anew for each solve."""

    plan = ""

    def __init__(
        self, A: Any, ranks: int, device: str, threads: int, plan: str | None, partition: str,
        exchange: str, boundary: str,
    ) -> None:  # fmt: skip
        if isinstance(A, Adjoint) or is_operator(A):
            raise UnsupportedError("ranks share a matrix, not an adjoint or an operator")
        self.matrix = A if isinstance(A, Matrix) else Matrix(A)
        self.rows = self.matrix.shape[0]
        devices = [one_name(name) for name in device.split(",")]
        if len(devices) not in (1, index(ranks)):
            raise UsageError(
                f"device={device!r} names {len(devices)} devices for {ranks} ranks: one for each, "
                "or one for all"
            )
        self._choice = index(ranks), devices, threads, plan, partition, exchange, boundary

    @property
    def gpu(self) -> int:
        raise UsageError("ranks take arrays in the host's memory")

    def solver(
        self, method: str, preconditioner: Any, shift: float, options: _heddle.SolverOptions,
        null_space: NDArray[Any] | None, **told: Any,
    ) -> _heddle.RankSolver:  # fmt: skip
        """``null_space``: several vectors, one after the other. ``told``: what multigrid is."""
        if not isinstance(preconditioner, str):
            raise UnsupportedError("ranks take preconditioners by their text")
        multigrid = None
        if any(value is not None for value in told.values()):
            matrix = self.matrix
            multigrid = _heddle.MultigridOptions(
                *multigrid_told(self.rows, matrix.entry, matrix.dtype, **told))  # fmt: skip
        return _heddle.RankSolver.make(
            self.matrix._own, *self._choice, method, preconditioner, shift, options, multigrid,
            null_space)  # fmt: skip
