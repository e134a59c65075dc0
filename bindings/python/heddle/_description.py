"""What a matrix and its products are like."""

from __future__ import annotations

import json
from collections.abc import Iterable
from operator import index
from typing import Any

from . import _heddle
from ._gpu import one_name
from ._settings import text_or_none


class Described:
    """Of ``Matrix``, which has the arrays."""

    _own: _heddle.Matrix
    _stored: _heddle.Matrix
    operator: Any

    def info(self) -> dict[str, Any]:
        """Features of the matrix: lengths of rows, bandwidth, symmetry.

        >>> import heddle
        >>> heddle.generate("poisson", 1000).info()["symmetric_pattern"]
        True
        """
        return self._own.info()

    def describe(
        self, *, device: str = "cpu", threads: int = 0, node: int = 0, cache: int = 0,
        bandwidth: float = 3000.0, link: float = 50.0, scaling: str | None = None,
        rates: str | None = None, partition: str | None = None, ranks: Iterable[int] = (),
        unknowns: int = 0, multigrid: bool = False, dense: int | str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """All that ``heddle info --json`` tells of the matrix, docs/reference/command-line.md has its keys:
        features, the solve that suits it and ``advice``, such as to give numbers that come in
        threes as blocks; the memory of layouts and of a tree, exact copies, and the bytes a flop
        of a product.

        Parameters
        ----------
        node, dense
            Rows of a node of hierarchical storage, 0: 128; and which leaves are dense, as for
            ``Solver``.
        cache, bandwidth, link
            What the model of a product assumes: bytes of x that a cache keeps (0: the device's
            last), GB/s of a device and its memory, and to the host.
        scaling, rates, partition, ranks, unknowns
            The network (``"nvlink"``, ``"ndr"``, ..., docs/guide/distributed.md) for which products and
            iterations on ``ranks`` are predicted; the rest as the options of that page;
            ``rates="device"`` are those of the GPU ``device``.
        multigrid
            Whether to try multigrid and Jacobi, which takes solves, and advise one.

        >>> import heddle
        >>> A = heddle.generate("dirac", 1000)
        >>> A.describe()["code_balance"]["flops"]      # of a quaternion times a quaternion
        32
        >>> [point["ranks"] for point in A.describe(scaling="nvlink", ranks=[1, 2])["scaling"]["points"]]
        [1, 2]
        """
        return json.loads(self._own.describe(
            one_name(device), index(threads), index(node), index(cache), float(bandwidth),
            float(link), scaling, rates, partition, [index(count) for count in ranks],
            index(unknowns), bool(multigrid), text_or_none(dense)))  # fmt: skip

    def measure(
        self, plan: str | None = None, *, device: str = "cpu", threads: int = 0,
        storage: str = "sliced", node: int = 0, adjoint: bool = False, repetitions: int = 25,
        cold: bool = False, triad: bool = True, dense: int | str | None = None,
        launch: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Measures A x, or A* x, with a random x, as ``heddle spmv`` does: nothing else should run
        on the device.

        ``plan``, ``device``, ``threads``, ``storage``, ``node``, ``dense`` and ``launch`` are as
        for ``Solver``. Tells the quartiles of ``seconds``, with ``cold`` also those of products
        that find nothing in the caches; ``moved_bytes``, which the storage reads and writes;
        ``bandwidth``, these bytes a second; with ``triad`` also ``triad_bandwidth``, that of
        STREAM's triad, on a GPU of a copy, beside it, which takes 1.5 GB and a while.
        """
        if storage == "sliced" and node == 0 and dense is None and launch is None:
            operator = self.operator(device, index(threads), 0, plan)
        else:
            operator = _heddle.Operator.of_matrix(
                self._own, one_name(device), index(threads), 0, plan, storage, index(node),
                text_or_none(dense), launch)  # fmt: skip
        if adjoint:
            operator = operator.adjoint()
        told = operator.measure(index(repetitions), cold, triad)
        names = "lower_quartile", "median", "upper_quartile"
        measured: dict[str, Any] = {"seconds": dict(zip(names, told[:3]))}
        if cold:
            measured["cold_seconds"] = dict(zip(names, told[3:6]))
        measured["moved_bytes"], measured["bandwidth"] = told[6], told[6] / told[1]
        if triad:
            measured["triad_bandwidth"] = told[7]
        return measured

    def memory(
        self, plan: str | None = None, *, device: str = "cpu", storage: str = "sliced",
        node: int = 0, dense: int | str | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Bytes of the matrix that a product reads, and all that a solver keeps of it, in the
        storage of a plan, or of a tree with ``storage="hisparse"``; told without storing it.

        >>> import numpy as np
        >>> import heddle
        >>> heddle.Matrix(np.eye(4)).memory("CSR")   # 4 entries, 260 columns for reads ahead, 5 offsets
        (1112, 1112)
        """
        return self._stored.memory(one_name(device), plan, storage, node, text_or_none(dense))
