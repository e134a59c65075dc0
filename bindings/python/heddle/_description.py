"""Properties of a matrix and its products."""

from __future__ import annotations

import json
from operator import index
from typing import Any

from . import _heddle
from ._assembled import Assembled
from ._settings import Taken

_described = Taken(
    "Matrix.describe", "storage", "description", but=("plan", "storage", "launch"))  # fmt: skip
_measured = Taken("Matrix.measure", "storage")
_kept = Taken("Matrix.memory", "storage")


class Described(Assembled):
    """The part of ``Matrix`` that describes it."""

    _stored_as: Any  # of ``Matrix``

    def info(self) -> dict[str, Any]:
        """Features of the matrix: lengths of rows, bandwidth, symmetry.

        >>> import heddle
        >>> heddle.generate("poisson", 1000).info()["symmetric_pattern"]
        True
        """
        return self._own.info()

    @_described.shown
    def describe(self, **settings: Any) -> dict[str, Any]:
        """All that ``heddle info --json`` reports on the matrix; docs/reference/command-line.md
        has its keys: features, the solve that suits it and ``advice``, such as to pass numbers that
        come in threes as blocks; the memory of layouts and of a tree, exact copies, and the bytes
        per flop of a product.

        Parameters
        ----------
        {settings}

        >>> import heddle
        >>> A = heddle.generate("dirac", 1000)
        >>> A.describe()["code_balance"]["flops"]      # of a quaternion times a quaternion
        32
        >>> [point["ranks"] for point in A.describe(scaling="nvlink", ranks=[1, 2])["scaling"]["points"]]
        [1, 2]
        """
        return json.loads(self._own.describe(_heddle.Settings(_described.texts(settings))))

    @_measured.shown
    def measure(
        self, plan: str | None = None, *, adjoint: bool = False, repetitions: int = 25,
        cold: bool = False, triad: bool = True, **settings: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Measures A x, or A* x, with a random x, as ``heddle spmv`` does: nothing else should run
        on the device.

        The settings are those of storage, as for ``Solver``. Returns the quartiles of ``seconds``,
        with ``cold`` also those of products that find nothing in the caches; ``moved_bytes``, which
        the storage reads and writes; ``bandwidth``, these bytes per second; with ``triad`` also
        ``triad_bandwidth``, that of STREAM's triad (on a GPU, of a copy), measured along with the
        products, which takes 1.5 GB and a while.
        """
        operator = self._stored_as(_measured.texts({"plan": plan, **settings}))
        if adjoint:
            operator = operator.adjoint()
        numbers = operator.measure(index(repetitions), cold, triad)
        names = "lower_quartile", "median", "upper_quartile"
        measured: dict[str, Any] = {"seconds": dict(zip(names, numbers[:3]))}
        if cold:
            measured["cold_seconds"] = dict(zip(names, numbers[3:6]))
        measured["moved_bytes"], measured["bandwidth"] = numbers[6], numbers[6] / numbers[1]
        if triad:
            measured["triad_bandwidth"] = numbers[7]
        return measured

    @_kept.shown
    def memory(self, plan: str | None = None, **settings: Any) -> tuple[int, int]:
        """Bytes of the matrix that a product reads, and all bytes that a solver keeps of it, in the
        storage of a plan, or of a tree with ``storage="hisparse"``; computed without storing it.

        >>> import numpy as np
        >>> import heddle
        >>> heddle.Matrix(np.eye(4)).memory("CSR")   # 4 entries, 260 columns for reads ahead, 5 offsets
        (1112, 1112)
        """
        texts = _kept.texts({"plan": plan, **settings})
        return self._stored.memory(_heddle.Settings(texts))
